"""Write events of the append-only history with the change; send them live after commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.inserting import insert
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
    """Write one event about the object `of` (type, id) and send it live after commit."""
    written = event(type, of=of, actor=actor, now=now, session_key=session_key, data=data)
    insert([written])
    send(written)
    return written


def event(
    type: str,  # noqa: A002  the contract's word
    *,
    of: tuple[str, UUID | str],
    actor: Actor,
    now: datetime,
    session_key: str = "",
    data: Mapping[str, Any] | None = None,
) -> Event:
    """Return an event, for callers that insert it with other rows and then `send` it."""
    return Event(
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


def send(written: Event) -> None:
    """Send a written event live once the transaction has committed."""
    publish(
        written.workspace_id,
        written.type,
        {"object": written.object_id, "actor": written.actor_label, **written.data},
        seq=written.seq,
        at=written.at,
    )


def record_each(
    type: str,  # noqa: A002  the contract's word
    rows: Iterable[tuple[UUID, Mapping[str, Any]]],
    *,
    of: str,
    actor: Actor,
    now: datetime,
) -> None:
    """Write one event per row (id of an object of the type `of`, data) at once, and send each."""
    written = [
        event(type, of=(of, object_id), actor=actor, now=now, data=data) for object_id, data in rows
    ]
    insert(written)
    for one in written:
        send(one)


def record_unsent(
    type: str,  # noqa: A002  the contract's word
    rows: Iterable[tuple[UUID, Mapping[str, Any]]],
    *,
    of: str,
    actor: Actor,
    now: datetime,
) -> None:
    """Write one event per row (id of an object of the type `of`, data) without sending them live.

    For sweeps over thousands of rows, which send one event for the whole sweep.
    """
    insert(
        event(type, of=(of, object_id), actor=actor, now=now, data=data) for object_id, data in rows
    )
