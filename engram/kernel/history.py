"""The append-only history: one row in the transaction of what it tells, live after commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.live import publish
from engram.kernel.models import Event


def record(
    type: str,  # noqa: A002  the contract's word
    *,
    of: tuple[str, UUID | str],
    actor: Actor,
    now: datetime,
    session_key: str = "",
    data: Mapping[str, Any] | None = None,
) -> Event:
    """Write one event about the object `of` (its type and id) and send it live after commit."""
    event = Event.objects.create(
        type=type,
        object_type=of[0],
        object_id=str(of[1]),
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_label=actor.label,
        session_key=session_key,
        data=dict(data or {}),
        at=now,
    )
    publish(
        event.workspace_id,
        type,
        {"object": event.object_id, "actor": actor.label, **event.data},
        seq=event.seq,
        at=now,
    )
    return event


def record_unsent(
    type: str,  # noqa: A002  the contract's word
    rows: Iterable[tuple[UUID, Mapping[str, Any]]],
    *,
    of: str,
    actor: Actor,
    now: datetime,
) -> None:
    """Write one event a row (id of an object of the type `of`, data) and send none of them live.

    For sweeps that touch thousands of rows: watchers are told by the sweep's own event.
    """
    Event.objects.bulk_create(
        Event(
            type=type,
            object_type=of,
            object_id=str(object_id),
            actor_kind=actor.kind,
            actor_id=actor.id,
            actor_label=actor.label,
            data=dict(data),
            at=now,
        )
        for object_id, data in rows
    )
