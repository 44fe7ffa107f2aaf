"""End sessions: store the transcript and the agent's report, and send the signal."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.credentials import without_credentials
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Session
from memories.services.causes import OTHER_TRANSCRIPT
from memories.services.locks import lock
from memories.services.sessions.access import demand_own_session, lock_session, own_session
from memories.services.sessions.report import NOTHING, Report, is_new_report, store_report
from memories.signals import session_ended

IDLE_FOR = timedelta(hours=24)
CLOSED_A_TURN = 500
NOTHING_SAID = hashlib.sha256(b"").hexdigest()


@retry_on_collision
def end_session(
    workspace: Workspace,
    session_key: str,
    transcript: str,
    *,
    actor: Actor,
    now: datetime,
    report: Report = NOTHING,
) -> Session:
    """End a session; the same call again changes nothing, another transcript is refused.

    A credential in the transcript is replaced by a marker. Reviewers may end sessions of others,
    for example when the key is lost; a report is taken from the key that started it only.

    A session that was closed as idle, or ended without a transcript, accepts its transcript once,
    as if it had been ended with it; one that ended without a report accepts its report until it is
    judged.

    Raises
    ------
    InvalidError
        When the report names memories that the session was not given or that are hidden by now.
    StaleError
        When it has ended with another transcript or report, or a report comes after the judge.
    """
    with in_workspace(workspace):
        if report:
            demand_own_session(session_key, actor)
        memories = lock(report.memory_ids) if report else []  # locked before sessions
        is_own = report or not actor.is_reviewer
        session = own_session(session_key, actor) if is_own else lock_session(session_key)
        digest = hashlib.sha256(transcript.encode()).hexdigest()
        is_new_end = _is_new_end(session, digest, has_report=bool(report))
        is_reported = is_new_report(session, report)
        if not is_new_end and not is_reported:
            return session
        if is_reported:
            store_report(session, report, memories, actor=actor, now=now)
        if not is_new_end:
            session_ended.send(Session, session=session, now=now)
            return session
        kept, _ = without_credentials(transcript)
        session.transcript, session.transcript_digest = kept, digest
        session.is_abandoned = False
        return _end(session, actor=actor, now=now)


def _is_new_end(session: Session, digest: str, *, has_report: bool) -> bool:
    """Return whether a call ends the session or brings its transcript; refuse another one.

    A report may come alone after the transcript.
    """
    if session.ended_at is None or session.is_abandoned:
        return True
    # Compared by digest, because an erased transcript is empty.
    if session.transcript_digest == digest or (has_report and digest == NOTHING_SAID):
        return False
    if session.transcript_digest != NOTHING_SAID:
        raise StaleError("This session has ended, with another transcript.", cause=OTHER_TRANSCRIPT)
    return True


def idle_sessions(now: datetime) -> QuerySet[Session]:
    """Return the open sessions without activity for 24 hours."""
    # A time more than a day in the future is a wrong clock, not activity.
    before, ahead = now - IDLE_FOR, now + IDLE_FOR
    silent = Q(active_at=None) | Q(active_at__lte=before) | Q(active_at__gt=ahead)
    silent &= Q(started_at__lte=before) | Q(started_at__gt=ahead)
    return Session.objects.filter(silent, ended_at=None)


def close_idle(workspace: Workspace, *, now: datetime) -> int:
    """End sessions without activity for 24 hours, without a transcript; return their number.

    Each in its own transaction, so that none waits for the others.
    """
    with in_workspace(workspace):
        oldest = idle_sessions(now).order_by("started_at").values_list("session_key", flat=True)
        keys = list(oldest[:CLOSED_A_TURN])
    closed = 0
    for session_key in keys:
        with in_workspace(workspace):
            locked = idle_sessions(now).select_for_update(no_key=True)
            session = locked.filter(session_key=session_key).first()
            if session is not None:
                session.is_abandoned = True
                _end(session, actor=SYSTEM, now=now)
                closed += 1
    return closed


def note_judged(session: Session, now: datetime) -> None:
    """Mark a session as judged; called in the judge's transaction."""
    session.judged_at = now
    session.save(update_fields=["judged_at"])


def _end(session: Session, *, actor: Actor, now: datetime) -> Session:
    """Store a session's end, record the event and send the signal; keep an earlier end time."""
    is_late = session.ended_at is not None
    # A clock that was set back must not end a session before its start.
    session.ended_at = session.ended_at or max(now, session.started_at)
    session.save(update_fields=["transcript", "transcript_digest", "ended_at", "is_abandoned"])
    rows = session.candidates
    record(
        "session.transcript_taken" if is_late else "session.ended",
        of=("session", session.id),
        actor=actor,
        now=now,
        session_key=session.session_key,
        data={
            "injected": rows.filter(was_injected=True).count(),
            "matched": rows.filter(fts_hit_count__gt=0).count(),
            "prompts": session.prompt_count,
            "transcript_chars": len(session.transcript),
        },
    )
    session_ended.send(Session, session=session, now=now)
    return session
