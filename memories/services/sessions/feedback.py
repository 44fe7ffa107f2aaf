"""Store an agent's feedback on a memory in a session, from -1 (it misled) to 1 (it helped)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import SessionCandidate
from memories.services.causes import SESSION_JUDGED
from memories.services.sessions.access import own_session


@retry_on_collision
def give_feedback(
    workspace: Workspace,
    session_key: str,
    memory_id: UUID,
    value: float,
    *,
    actor: Actor,
    now: datetime,
) -> SessionCandidate:
    """Store feedback on a memory of the session's records; later feedback replaces earlier.

    Accepted until the session is judged: after that nothing would read it.
    """
    with in_workspace(workspace):
        session = own_session(session_key, actor)
        if session.judged_at is not None:
            raise StaleError(
                "This session is judged; its records change no more.", cause=SESSION_JUDGED
            )
        row = session.candidates.select_for_update().filter(memory=memory_id).first()
        if row is None:
            raise MissingError("This session has no record of such a memory.")
        row.feedback, row.feedback_at = value, now
        row.save(update_fields=["feedback", "feedback_at"])
        session.active_at = now
        session.save(update_fields=["active_at"])
        return row
