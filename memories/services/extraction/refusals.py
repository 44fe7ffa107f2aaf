"""Decide about refused statements: keep one as a memory, leave it out, or take that back."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.causes import NOTHING_TO_UNDO
from engram.kernel.history import record
from engram.kernel.models import Job, Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import before_writing, in_workspace
from memories.models import (
    ExtractedQuote,
    Extraction,
    ExtractionRefusal,
    Memory,
    Observation,
    RefusalDecision,
)
from memories.services.causes import REFUSAL_DECIDED
from memories.services.commit import commit
from memories.services.commit.draft import Draft
from memories.services.extraction.results import TAKEN_BACK
from memories.services.extraction.write import TAG, said_at
from memories.services.lifecycle.states import hide
from memories.services.locks import lock, share_lock

NONE = "There is no such refusal."
DECIDED = "Somebody has decided about it."
NEW = frozenset({"created", "kept_apart", "suggested", "revived"})


def count_refused(job_id: UUID) -> int:
    """Return how many statements a job has refused, those too of which no text is stored."""
    result = Job.objects.filter(pk=job_id).values_list("result", flat=True).first()
    return sum((result or {}).get("reasons", {}).values())


def keep(
    workspace: Workspace, refusal_id: UUID, *, actor: Actor, now: datetime
) -> ExtractionRefusal:
    """Commit a refused statement as the person's decision.

    Where exactly this was forgotten, that memory is brought back. Raise `StaleError` when it was
    decided before.
    """
    with before_writing(workspace):
        refusal = _undecided(ExtractionRefusal.objects.filter(pk=refusal_id).first())
        extraction = Extraction.objects.filter(pk=refusal.job_id).first()
        observed_at = said_at(extraction, refusal.created_at)
    draft = Draft(
        content=refusal.fact,
        scope=refusal.scope,
        project=refusal.project,
        provenance=refusal.provenance,
        confidence=refusal.confidence,
        tags=(TAG,),
        agent=refusal.agent,
        session_key=refusal.session_key,
        source=f"session {refusal.session_key}" if refusal.session_key else "transcript",
        observed_at=observed_at,
        is_revival=True,
    )
    prepared = commit.prepare([draft], workspace.embedding_model)
    with in_workspace(workspace):
        # The memories first: who erases one locks it before the rows that quote it.
        [done] = commit.write(workspace, prepared, actor=actor, now=now, asks=False)
        refusal = _lock(refusal_id)
        assert done.memory is not None  # noqa: S101  a revival is never suppressed
        share_lock([done.memory.id])
        ExtractedQuote.objects.create(
            memory=done.memory,
            job_id=refusal.job_id,
            session_key=refusal.session_key,
            text=refusal.text,
        )
        refusal.memory, refusal.is_new_memory = done.memory, done.outcome in NEW
        return _decide(refusal, RefusalDecision.KEPT, actor=actor, now=now)


def leave_out(
    workspace: Workspace, refusal_id: UUID, *, actor: Actor, now: datetime
) -> ExtractionRefusal:
    """Agree with a refusal: nobody is asked about it any more."""
    with in_workspace(workspace):
        return _decide(_lock(refusal_id), RefusalDecision.LEFT_OUT, actor=actor, now=now)


def take_back(
    workspace: Workspace, refusal_id: UUID, *, actor: Actor, now: datetime
) -> ExtractionRefusal:
    """Take a decision back; a memory that keeping it has created or revived is forgotten.

    It stays if it was changed or said again since.
    """
    with in_workspace(workspace):
        found = ExtractionRefusal.objects.filter(pk=refusal_id).first()
        locked = lock([found.memory_id]) if found and found.memory_id else []
        refusal = ExtractionRefusal.objects.select_for_update().filter(pk=refusal_id).first()
        if refusal is None:
            raise MissingError(NONE)
        if refusal.decision == RefusalDecision.UNDECIDED:
            raise StaleError("It is not decided.", cause=NOTHING_TO_UNDO)
        for memory in locked:
            if memory.forgotten_at is None:
                _take_quote_back(memory, refusal)
        created = [m for m in locked if refusal.is_new_memory and m.id == refusal.memory_id]
        hide(
            [m for m in created if _is_unchanged(m, refusal)],
            "forgotten_at",
            actor=actor,
            now=now,
            because={TAKEN_BACK: str(refusal.id)},
        )
        refusal.memory, refusal.is_new_memory = None, False
        return _decide(refusal, RefusalDecision.UNDECIDED, actor=actor, now=now)


def _take_quote_back(memory: Memory, refusal: ExtractionRefusal) -> None:
    """Delete the quote that keeping has written, so that the question shows its words again.

    The quote of a memory that a person forgot stays: its words are not shown.
    """
    quotes = ExtractedQuote.objects.filter(memory=memory, job=refusal.job_id, text=refusal.text)
    newest = quotes.order_by("-id").values("pk")[:1]
    ExtractedQuote.objects.filter(pk__in=newest).delete()


def _is_unchanged(memory: Memory, refusal: ExtractionRefusal) -> bool:
    """Return whether nobody has changed a memory, or said it again, since it was kept."""
    # The first of them is the decision's own.
    since = Observation.objects.filter(memory=memory, created_at__gte=refusal.decided_at)
    is_same = memory.forgotten_at is None and memory.content == refusal.fact
    return is_same and since.count() <= 1


def _lock(refusal_id: UUID) -> ExtractionRefusal:
    return _undecided(ExtractionRefusal.objects.select_for_update().filter(pk=refusal_id).first())


def _undecided(refusal: ExtractionRefusal | None) -> ExtractionRefusal:
    if refusal is None:
        raise MissingError(NONE)
    if refusal.decision != RefusalDecision.UNDECIDED:
        raise StaleError(DECIDED, cause=REFUSAL_DECIDED)
    return refusal


def _decide(
    refusal: ExtractionRefusal, decision: RefusalDecision, *, actor: Actor, now: datetime
) -> ExtractionRefusal:
    is_open = decision == RefusalDecision.UNDECIDED
    refusal.decision = decision
    refusal.decided_at = None if is_open else now
    refusal.decided_by = "" if is_open else actor.label[:150]
    refusal.save(update_fields=["decision", "decided_at", "decided_by", "memory", "is_new_memory"])
    record(
        f"extraction_refusal.{'reopened' if is_open else decision}",
        of=("extraction_refusal", refusal.id),
        actor=actor,
        now=now,
        session_key=refusal.session_key,
        data={"memory": str(refusal.memory_id)} if refusal.memory_id else {},
    )
    return refusal
