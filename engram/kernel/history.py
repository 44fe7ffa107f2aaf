"""Write events of the append-only history with the change; send them live after commit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.binary import pack_texts, prepared_cursor
from engram.kernel.inserting import announce, insert, with_companion
from engram.kernel.live import publish
from engram.kernel.models import Event
from engram.kernel.tenancy import current_workspace_id

_WRITE_EACH: Final = f"""
    INSERT INTO {Event._meta.db_table} (
        workspace_id, type, object_type, object_id, actor_kind, actor_id, actor_label, session_key,
        data, at
    )
    SELECT %(workspace)s, %(type)s, %(object_type)s, given.object_id, %(kind)s, %(actor)s,
        %(label)s, '', given.data::jsonb, %(at)s
    FROM unnest(%(objects)s::text[], %(data)s::text[]) WITH ORDINALITY AS given (object_id, data, n)
    ORDER BY given.n
"""  # noqa: S608  names only


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
        _live(written.object_id, written.actor_label, written.data),
        seq=written.seq,
        at=written.at,
    )


def _live(object_id: str, label: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an event sends live: its object, who acted, and its data."""
    return {"object": object_id, "actor": label, **data}


def record_each(
    type: str,  # noqa: A002  the contract's word
    rows: Iterable[tuple[UUID, Mapping[str, Any]]],
    *,
    of: str,
    actor: Actor,
    now: datetime,
) -> None:
    """Write one event per row (id of an object of the type `of`, data) at once, and send each."""
    told = list(rows)
    written = _write_each(type, told, of=of, actor=actor, now=now)
    workspace_id = current_workspace_id()
    for seq, (object_id, data) in zip(written, told, strict=True):
        publish(workspace_id, type, _live(str(object_id), actor.label, data), seq=seq, at=now)


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
    _write_each(type, list(rows), of=of, actor=actor, now=now)


def _write_each(
    type: str,  # noqa: A002  the contract's word
    rows: Sequence[tuple[UUID, Mapping[str, Any]]],
    *,
    of: str,
    actor: Actor,
    now: datetime,
) -> list[int]:
    """Write one event per row by one prepared statement; return their numbers in order."""
    if not rows:
        return []
    shared: dict[str, Any] = {
        "workspace": current_workspace_id(), "type": type, "object_type": of, "at": now,
        "kind": actor.kind, "actor": actor.id, "label": actor.label,
    }  # fmt: skip
    objects = pack_texts([str(object_id) for object_id, _ in rows])
    data = pack_texts([json.dumps(dict(data)) for _, data in rows])
    with prepared_cursor() as cursor:
        cursor.execute(
            with_companion(Event, _WRITE_EACH), shared | {"objects": objects, "data": data}
        )
        keys = cursor.fetchall()
    announce(Event, keys)
    return [seq for seq, _ in keys]
