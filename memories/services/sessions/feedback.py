"""Store an agent's feedback on a memory in a session, from -1 (it misled) to 1 (it helped)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Greatest

from engram.kernel.actors import Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, ReportItem, ReportKind, SessionCandidate
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

    Accepted until the session is judged: after that nothing would read it. The memory counts the
    sessions that said it was of use, by feedback, else by their report.
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
        _count_use(row, value)
        row.feedback, row.feedback_at = value, now
        row.save(update_fields=["feedback", "feedback_at"])
        session.active_at = now
        session.save(update_fields=["active_at"])
        return row


def _count_use(row: SessionCandidate, value: float) -> None:
    """Count a session's word that a memory was of use, once, or take it back."""
    if row.feedback is not None:
        was_of_use = row.feedback > 0
    else:
        of_session = ReportItem.objects.filter(session=row.session_id, memory=row.memory_id)
        was_of_use = of_session.filter(kind=ReportKind.USED, value__gt=0).exists()
    change = (value > 0) - was_of_use
    if change:
        counted = Greatest(F("used_count") + change, 0)
        Memory.objects.filter(pk=row.memory_id).update(used_count=counted)
