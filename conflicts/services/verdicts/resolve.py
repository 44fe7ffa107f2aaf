"""Apply a person's verdict to a card: changes memories in one transaction that can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from conflicts.core.comparisons import LookUps
from conflicts.models import Conflict, ConflictMember, Decision
from conflicts.models.card import ConflictStatus
from conflicts.models.decision import Verdict
from conflicts.services.cards.consequences import (
    CardQuestion,
    consequences,
    listing_of,
    question_of,
)
from conflicts.services.cards.locks import lock_with_members, with_comparisons
from conflicts.services.cards.unlisted import read_unlisted_again
from conflicts.services.causes import ALREADY_DECIDED, STALE_LISTING, STALE_VERSION
from conflicts.services.due import note_written
from conflicts.services.muting.propose import review_precision
from engram.kernel.actors import Actor
from engram.kernel.credentials import refuse_credentials
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, StaleError
from memories.core.content import content_hash
from memories.models import Memory, Provenance
from memories.services.causes import FORGOTTEN_BEFORE
from memories.services.commit import commit
from memories.services.commit.draft import Draft
from memories.services.index.statement_hashes import lock_statements
from memories.services.lifecycle.states import LIFECYCLE_FIELDS, hide

# Verdicts that confirm memories: agents cannot change or forget these without a review any more.
UPHOLDING = frozenset({Verdict.YES, Verdict.NO, Verdict.KEEP, Verdict.BOTH_VALID})


def resolve(
    workspace: Workspace,
    conflict_id: UUID,
    *,
    verdict: str,
    actor: Actor,
    now: datetime,
    keep: Sequence[UUID] = (),
    answer: str = "",
    note: str = "",
    version: int | None = None,
    listing: str = "",
) -> Decision:
    """Apply a verdict; raise `StaleError` when the card was decided or changed meanwhile.

    With a `listing`, the verdict is refused unless its consequences are still those listed.
    """
    refuse_credentials({"answer": answer, "note": note})
    answer = answer.strip()
    if answer and verdict != Verdict.NONE_VALID:
        raise InvalidError("answer", "An answer goes with the verdict none_valid.")
    prepared = commit.prepare(
        [Draft(content=answer, provenance=Provenance.USER_STATED)] * bool(answer),
        workspace.embedding_model,
    )
    return with_comparisons(
        workspace,
        lambda known: _decide(
            workspace, conflict_id, prepared, known, verdict=verdict, keep=keep,
            answer=answer, note=note, version=version, listing=listing, actor=actor, now=now,
        ),
    )  # fmt: skip


def _decide(
    workspace: Workspace,
    conflict_id: UUID,
    prepared: commit.Prepared,
    known: LookUps,
    *,
    verdict: str,
    keep: Sequence[UUID],
    answer: str,
    note: str,
    version: int | None,
    listing: str,
    actor: Actor,
    now: datetime,
) -> Decision:
    """Apply a verdict within the caller's transaction; claims are only looked up."""
    if answer:
        lock_statements([content_hash(answer)])
    conflict, members, locked = lock_with_members(conflict_id)
    _check_open(conflict, version)
    recalled = [memory for memory in locked.values() if memory.state(now) == "active"]
    question = question_of(conflict, members, recalled, known)
    _check_listing(conflict, question, listing)
    plan = consequences(question, verdict, keep)
    known.demand_known()
    live = question.members
    _stamp_revisions(members, locked)
    is_dismissal = verdict == Verdict.DISMISS
    conflict.status = ConflictStatus.DISMISSED if is_dismissal else ConflictStatus.RESOLVED
    conflict.snoozed_until = None
    conflict.version += 1
    conflict.updated_at = now
    conflict.save(update_fields=["status", "snoozed_until", "version", "updated_at"])
    before = {memory.id: _lifecycle(memory) for memory in live}
    because = {"conflict": str(conflict.id), "verdict": verdict}
    answered, is_answer_new = _commit_answer(workspace, prepared, live, actor=actor, now=now)
    hide(
        plan.superseded, "superseded_at", actor=actor, now=now,
        successor=plan.successor, because=because,
    )  # fmt: skip
    retired = [memory for memory in plan.retired if memory != answered]
    if answered:
        hide(
            retired, "superseded_at", actor=actor, now=now,
            successor=answered, because=because,
        )  # fmt: skip
    hide(retired, "retired_at", actor=actor, now=now, because=because)
    decision = Decision.objects.create(
        conflict=conflict,
        verdict=verdict,
        kept=[str(memory.id) for memory in plan.kept],
        note=note,
        answer=answered,
        is_answer_new=is_answer_new,
        effects=[_effect(memory, before[memory.id]) for memory in live],
        aside=[str(memory.id) for memory in plan.aside],
        decided_by=actor.label,
        decided_by_kind=actor.kind,
        decided_at=now,
    )
    # Members that the question was not about may be a conflict of their own.
    if plan.aside and workspace.config.detection_enabled:
        note_written(Memory, memory_ids=[memory.id for memory in plan.aside], now=now)
    # What the card only counted is asked about next, unless the claims do not exclude each other.
    if verdict not in {Verdict.DISMISS, Verdict.BOTH_VALID}:
        read_unlisted_again(conflict, now=now)
    if verdict in UPHOLDING:
        for memory in plan.kept:
            data = {"conflict": str(conflict.id)}
            record("memory.upheld", of=("memory", memory.id), actor=actor, now=now, data=data)
    record(
        "conflict.resolved",
        of=("conflict", conflict.id),
        actor=actor,
        now=now,
        data={"verdict": verdict, "status": conflict.status},
    )
    review_precision(workspace, conflict, now=now)
    return decision


def _stamp_revisions(members: Sequence[ConflictMember], memories: dict[UUID, Memory]) -> None:
    """Store which revisions the verdict is about."""
    for member in members:
        member.revision = memories[member.memory_id].revision
    ConflictMember.objects.bulk_update(members, ["revision"])


def _check_open(conflict: Conflict, version: int | None) -> None:
    if conflict.status not in {ConflictStatus.OPEN, ConflictStatus.SNOOZED}:
        raise StaleError("This conflict is decided already.", cause=ALREADY_DECIDED)
    if version is not None and version != conflict.version:
        raise StaleError(
            f"This conflict has changed since version {version}; it is at {conflict.version} now.",
            cause=STALE_VERSION,
        )


def _check_listing(conflict: Conflict, question: CardQuestion, listing: str) -> None:
    """Refuse a verdict whose consequences differ from those that the caller was shown."""
    if listing and listing != listing_of(conflict, question):
        raise StaleError(
            "What this verdict would change is not what was listed any more; read the conflict "
            "again.",
            cause=STALE_LISTING,
        )


def _commit_answer(
    workspace: Workspace,
    prepared: commit.Prepared,
    live: Sequence[Memory],
    *,
    actor: Actor,
    now: datetime,
) -> tuple[Memory | None, bool]:
    """Commit the person's answer in the scope of the newest member; return it and if it is new."""
    if not prepared.drafts:
        return None, False
    newest = max(live, key=lambda m: m.observed_at, default=None)
    placed = prepared.for_place(
        scope=newest.scope if newest else "", project=newest.project if newest else ""
    )
    result = commit.write(workspace, placed, actor=actor, now=now, is_gated=False)[0]
    if result.memory is None:
        raise InvalidError(
            "answer", "Exactly this was forgotten before; restore it first.", cause=FORGOTTEN_BEFORE
        )
    return result.memory, result.outcome in {"created", "kept_apart"}


def _lifecycle(memory: Memory) -> dict[str, Any]:
    """Return the lifecycle fields as JSON values."""
    values = {name: getattr(memory, name) for name in LIFECYCLE_FIELDS}
    return {
        name: value.isoformat() if isinstance(value, datetime) else value and str(value)
        for name, value in values.items()
    }


def _effect(memory: Memory, before: dict[str, Any]) -> dict[str, Any]:
    """Return a memory's lifecycle before and after, for undo to verify and restore."""
    return {
        "memory": str(memory.id),
        "content_hash": memory.content_hash,
        "before": before,
        "after": _lifecycle(memory),
    }
