"""Find and lock the session of a session key, and refuse callers that did not start it."""

from __future__ import annotations

from typing import Any

from engram.kernel.actors import Actor
from engram.kernel.binary import prepared_cursor
from engram.kernel.plain_sql import columns_of, from_row
from engram.kernel.refusals import ForbiddenError, MissingError, StaleError
from engram.kernel.tenancy import current_workspace_id
from memories.models import Session
from memories.services.causes import SESSION_ENDED, SESSION_OF_ANOTHER

NO_SUCH_SESSION = "There is no such session."
NOT_YOURS = "Another key started this session; only that key speaks for it."

_OF_KEY = """
    SELECT {columns} FROM memories_session
    WHERE workspace_id = %s AND session_key = %s {locking}
"""


def open_session(session_key: str, actor: Actor) -> Session:
    """Lock and return a session of the caller that has not ended."""
    session = own_session(session_key, actor)
    if session.ended_at is not None:
        raise StaleError("This session has ended.", cause=SESSION_ENDED)
    return session


def own_session(session_key: str, actor: Actor) -> Session:
    """Lock and return a session that the caller started; others may only read it."""
    session = lock_session(session_key)
    _refuse_other_callers(session.caller, actor)
    return session


def lock_session(session_key: str) -> Session:
    """Lock and return a session."""
    columns = columns_of(Session, Session._meta.db_table)
    return from_row(Session, _read(session_key, columns, "FOR NO KEY UPDATE"))


def demand_own_session(session_key: str, actor: Actor) -> None:
    """Refuse a session that another caller started, or that does not exist; lock nothing."""
    [caller] = _read(session_key, "caller")
    _refuse_other_callers(caller, actor)


def _read(session_key: str, columns: str, locking: str = "") -> tuple[Any, ...]:
    with prepared_cursor() as cursor:
        cursor.execute(
            _OF_KEY.format(columns=columns, locking=locking), [current_workspace_id(), session_key]
        )
        found: tuple[Any, ...] | None = cursor.fetchone()
    if found is None:
        raise MissingError(NO_SUCH_SESSION)
    return found


def _refuse_other_callers(caller: str, actor: Actor) -> None:
    if caller != actor.caller:
        raise ForbiddenError(NOT_YOURS, cause=SESSION_OF_ANOTHER)
