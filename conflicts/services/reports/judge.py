"""Record how a caller says that two memories relate, and do what follows from it.

Only `replaces` changes a memory, where the caller might supersede it by a commit as well; about
everything else people decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from conflicts.core.comparisons import Comparisons
from conflicts.core.rules.reported import AGENT_RELATES, PERSON_RELATES
from conflicts.models import Conflict, JudgedRelation, Judgement
from conflicts.models.card import WAITING
from conflicts.services.cards.file import lock_filing
from conflicts.services.cards.locks import with_comparisons
from conflicts.services.reports import judgements
from conflicts.services.reports.records import check_hourly_limit, record_judgement, record_of
from conflicts.services.reports.related import card_of
from conflicts.services.reports.report import file_report, lock_report
from engram.kernel.actors import Actor
from engram.kernel.credentials import refuse_credentials
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from memories.models import Memory, MergeSuggestion, Review, State
from memories.services.causes import NOT_LIVE
from memories.services.gate.suggestions import suggest
from memories.services.lifecycle.replace import replace_by
from memories.services.locks import lock

MERGEABLE = (JudgedRelation.SAME, JudgedRelation.REFINES)
DETAIL = {
    "opened": "A card asks people which of them holds.",
    "joined": "This was added to a card that waits for people.",
    "known": "A card asks people about these already.",
    "decided": "People have decided about these, and neither claims anything else since.",
    "kept": "Kept. Few of your contradictions were confirmed: a card is opened when somebody else "
    "says the same.",
    "capped": "Recorded. A new key may have only so many undecided conflicts, and yours has them: "
    "report it again when people have decided some.",
    "disputed": "A card asks people which of them holds; nothing else is done while it waits.",
    "replaced": "The other memory is superseded by this one.",
    "pending": "A person is asked whether the other memory is superseded by this one.",
    "suggested": "A person is asked whether they are one memory.",
    "apart": "A person keeps these wordings apart; they are not suggested again.",
    "noted": "Noted; you are not asked about these again.",
}


@dataclass(frozen=True, slots=True)
class RecordedRelation:
    """A stored relation and its outcome, a key of `DETAIL`."""

    judgement: Judgement
    outcome: str
    card: Conflict | None = None
    suggestion: MergeSuggestion | None = None
    review: Review | None = None  # what waits for a person, when the outcome is `pending`

    @property
    def detail(self) -> str:
        """Return the outcome as a sentence."""
        return DETAIL[self.outcome]


def judge(
    workspace: Workspace,
    memory_id: UUID,
    *,
    other_id: UUID,
    relation: str,
    reason: str,
    actor: Actor,
    now: datetime,
) -> RecordedRelation:
    """Store how a memory relates to another; open a card, suggest a merge or supersede the other.

    A later answer of the same caller replaces the earlier one; a card that it opened stays. The
    same answer again changes nothing, also where the other memory is superseded by the first.
    """
    refuse_credentials({"reason": reason})

    def keep(known: Comparisons) -> RecordedRelation:
        is_against = relation == JudgedRelation.CONTRADICTS
        if is_against:
            lock_filing()  # always the first lock
        check_hourly_limit(actor, workspace.config, now=now)
        model = workspace.embedding_model
        if is_against:
            memory, other = _pair(
                Memory.objects.filter(pk__in=[memory_id, other_id]), memory_id, other_id, now
            )
            gathered = lock_report([memory, other], known, model=model, now=now)
        else:
            stored = lock([memory_id, other_id])
            is_repeatable = relation == JudgedRelation.REPLACES
            if is_repeatable and (before := _replaced_before(stored, memory_id, actor, now)):
                record_judgement(before.memory, before.other, relation, actor=actor, now=now)
                return RecordedRelation(before, "replaced")
            memory, other = _pair(stored, memory_id, other_id, now)
        own = record_of(actor)
        judgement = judgements.keep(
            memory, other, relation, reason=reason, weight=own.weight, actor=actor, now=now
        )
        record_judgement(memory, other, relation, actor=actor, now=now)
        if is_against:
            rule = PERSON_RELATES if actor.counts_as_person else AGENT_RELATES
            reported = file_report(
                gathered, known, reason=reason, record=own, rule=rule, config=workspace.config,
                actor=actor, now=now,
            )  # fmt: skip
            return RecordedRelation(judgement, reported.outcome, reported.card)
        card = card_of(memory, other)
        is_replaced = relation == JudgedRelation.REPLACES
        is_mergeable = relation in MERGEABLE and _is_one_place(memory, other)
        if not (is_replaced or is_mergeable):
            return RecordedRelation(judgement, "noted", card)
        if card is not None and card.status in WAITING:
            return RecordedRelation(judgement, "disputed", card)
        if is_replaced:
            return _replace(workspace, judgement, memory, other, actor=actor, now=now)
        suggestion = suggest(
            other, memory, relation=relation,
            detected_by="person" if actor.counts_as_person else "agent",
            reasons=[f"{actor.label} says so"], actor=actor, now=now,
        )  # fmt: skip
        return RecordedRelation(judgement, "suggested" if suggestion else "apart", card, suggestion)

    return with_comparisons(workspace, keep)


def _replace(
    workspace: Workspace,
    judgement: Judgement,
    memory: Memory,
    other: Memory,
    *,
    actor: Actor,
    now: datetime,
) -> RecordedRelation:
    """Supersede the other memory, or request a review of it."""
    review = replace_by(workspace, other, memory, actor=actor, now=now)
    outcome = "replaced" if review is None else "pending"
    return RecordedRelation(judgement, outcome, review=review)


def _replaced_before(
    stored: Sequence[Memory], memory_id: UUID, actor: Actor, now: datetime
) -> Judgement | None:
    """Return the caller's answer by which one of these locked memories replaced the other."""
    shown = [memory for memory in stored if memory.forgotten_at is None]
    successor = next((memory for memory in shown if memory.id == memory_id), None)
    replaced = next((memory for memory in shown if memory.superseded_by_id == memory_id), None)
    if successor is None or replaced is None or successor.state(now) != State.ACTIVE:
        return None
    return judgements.own_answer(successor, replaced, JudgedRelation.REPLACES, actor=actor)


def _pair(
    stored: Iterable[Memory], memory_id: UUID, other_id: UUID, now: datetime
) -> tuple[Memory, Memory]:
    """Return both memories; raise unless both are live and of different lineages."""
    found = {m.id: m for m in stored if m.forgotten_at is None}
    memory, other = found.get(memory_id), found.get(other_id)
    if memory is None:
        raise MissingError("There is no such memory.")
    if (state := memory.state(now)) != State.ACTIVE:
        successor = [memory.superseded_by_id] if memory.superseded_by_id else []
        raise StaleError(
            f"This memory is {state}; only live ones are related.", successor, cause=NOT_LIVE
        )
    if memory == other:
        raise InvalidError("other", "A memory is not related to itself.")
    if other is None:
        raise InvalidError("other", "There is no live memory of this id.")
    if (state := other.state(now)) != State.ACTIVE:
        raise InvalidError("other", f"That memory is {state}; only live ones are related.")
    if memory.lineage == other.lineage:
        raise InvalidError("other", "These are versions of one memory.")
    return memory, other


def _is_one_place(memory: Memory, other: Memory) -> bool:
    return (memory.scope, memory.project) == (other.scope, other.project)
