"""A person's verdict: it changes memories in one transaction, with history, undoable exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Any
from uuid import UUID

from conflicts.core.identity import says_the_same
from conflicts.models import Conflict, ConflictMember, Decision
from conflicts.models.card import ConflictStatus
from conflicts.models.decision import Verdict
from conflicts.services.causes import ALREADY_DECIDED, KEEP_NEEDED, STALE_VERSION
from conflicts.services.lookup import locked_with_members
from engram.kernel.actors import Actor
from engram.kernel.credentials import refuse_credentials
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.claims import compare
from memories.core.content import content_hash
from memories.models import Memory, Provenance
from memories.services import commit
from memories.services.causes import FORGOTTEN_BEFORE
from memories.services.draft import Draft
from memories.services.lifecycle import LIFECYCLE_FIELDS, hide
from memories.services.statements import lock_statements

# Verdicts that say which memories are true: agents do not overrule these alone any more.
UPHOLDING = frozenset({Verdict.YES, Verdict.NO, Verdict.KEEP})


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a verdict does to the live members of a card."""

    kept: tuple[Memory, ...]
    superseded: tuple[Memory, ...] = ()
    retired: tuple[Memory, ...] = ()

    @property
    def successor(self) -> Memory | None:
        """Return the newest survivor, which supersedes the others."""
        return max(self.kept, key=lambda m: (m.observed_at, m.created_at, m.id), default=None)


def consequences(
    live: Sequence[Memory],
    says_yes: set[UUID],
    verdict: str,
    keep: Sequence[UUID],
    *,
    is_by_rules: bool = True,
) -> Consequences:
    """Say what a verdict would do to the live members; raise `InvalidError` when it is unclear.

    `is_by_rules` tells that nobody but the rules found the card: only what they find then differs.
    """
    named = set(keep)
    if named and verdict not in {Verdict.KEEP, Verdict.NO}:
        raise InvalidError("keep", "Memories to keep go with the verdicts keep and no.")
    if unknown := named - {memory.id for memory in live}:
        raise InvalidError("keep", f"{min(unknown)} is not a live memory of this conflict.")
    if verdict in {Verdict.BOTH_VALID, Verdict.DISMISS}:
        return Consequences(kept=tuple(live))
    if verdict == Verdict.NONE_VALID:
        return Consequences(kept=(), retired=tuple(live))
    if verdict == Verdict.NO:
        retired = tuple(m for m in live if m.id in says_yes)
        rest = [m for m in live if m.id not in says_yes]
        if not retired:
            raise InvalidError("verdict", "No memory that says so is active any more.")
        if named & says_yes:
            raise InvalidError("keep", "A no retires this memory; it cannot be kept as well.")
        if not named and _disagree(rest, is_by_rules=is_by_rules):
            raise InvalidError(
                "keep",
                "More than one value would remain: name the memories that are true.",
                cause=KEEP_NEEDED,
            )
        kept = tuple(m for m in rest if not named or m.id in named)
        return Consequences(kept, tuple(m for m in rest if m not in kept), retired)
    survivors = says_yes if verdict == Verdict.YES else named
    kept = tuple(m for m in live if m.id in survivors)
    if not kept:
        raise InvalidError("keep", "Name the memories that are true.", cause=KEEP_NEEDED)
    return Consequences(kept, tuple(m for m in live if m not in kept))


def _disagree(memories: Sequence[Memory], *, is_by_rules: bool) -> bool:
    """Tell whether two of the memories could not both be true."""
    return any(
        compare(one.content, other.content).relation == "contradicts"
        if is_by_rules
        else not says_the_same(one.content, other.content)
        for one, other in combinations(memories, 2)
    )


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
) -> Decision:
    """Carry out a verdict; raise `StaleError` when the card was decided or changed meanwhile."""
    refuse_credentials({"answer": answer, "note": note})
    answer = answer.strip()
    if answer and verdict != Verdict.NONE_VALID:
        raise InvalidError("answer", "An answer goes with the verdict none_valid.")
    prepared = commit.prepare(
        [Draft(content=answer, provenance=Provenance.USER_STATED)] * bool(answer),
        workspace.embedding_model,
    )
    with in_workspace(workspace):
        if answer:
            lock_statements([content_hash(answer)])
        conflict, members, locked = locked_with_members(conflict_id)
        _check_open(conflict, version)
        live = [locked[m.memory_id] for m in members if locked[m.memory_id].state(now) == "active"]
        plan = consequences(
            live, {m.memory_id for m in members if m.says_yes}, verdict, keep,
            is_by_rules=conflict.detected_by == ["rules"],
        )  # fmt: skip
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
            decided_by=actor.label,
            decided_by_kind=actor.kind,
            decided_at=now,
        )
        if verdict in UPHOLDING:
            for memory in plan.kept:
                told = {"conflict": str(conflict.id)}
                record("memory.upheld", of=("memory", memory.id), actor=actor, now=now, data=told)
        record(
            "conflict.resolved",
            of=("conflict", conflict.id),
            actor=actor,
            now=now,
            data={"verdict": verdict, "status": conflict.status},
        )
        return decision


def _stamp_revisions(members: Sequence[ConflictMember], memories: dict[UUID, Memory]) -> None:
    """Remember which wordings the verdict is about."""
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


def _commit_answer(
    workspace: Workspace,
    prepared: commit.Prepared,
    live: Sequence[Memory],
    *,
    actor: Actor,
    now: datetime,
) -> tuple[Memory | None, bool]:
    """Commit the person's own answer where the newest member stands; tell whether it is new."""
    if not prepared.drafts:
        return None, False
    newest = max(live, key=lambda m: m.observed_at, default=None)
    placed = prepared.moved_to(
        scope=newest.scope if newest else "", project=newest.project if newest else ""
    )
    result = commit.write(workspace, placed, actor=actor, now=now, is_gated=False)[0]
    if result.memory is None:
        raise InvalidError(
            "answer", "Exactly this was forgotten before; restore it first.", cause=FORGOTTEN_BEFORE
        )
    return result.memory, result.outcome in {"created", "kept_apart"}


def _lifecycle(memory: Memory) -> dict[str, Any]:
    """Return the lifecycle fields as JSON can hold them."""
    values = {name: getattr(memory, name) for name in LIFECYCLE_FIELDS}
    return {
        name: value.isoformat() if isinstance(value, datetime) else value and str(value)
        for name, value in values.items()
    }


def _effect(memory: Memory, before: dict[str, Any]) -> dict[str, Any]:
    """Say what was and what is, so that undo can check the one and put back the other."""
    return {
        "memory": str(memory.id),
        "content_hash": memory.content_hash,
        "before": before,
        "after": _lifecycle(memory),
    }
