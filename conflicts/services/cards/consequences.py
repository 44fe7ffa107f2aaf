"""Compute what a verdict would do to a card's members, for previews and for the verdict itself."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations
from uuid import UUID

from conflicts.core.comparisons import Comparisons
from conflicts.core.rules.registry import BY_ANSWERS
from conflicts.core.subjects import note_of, select_answering
from conflicts.models import Conflict, ConflictMember
from conflicts.models.decision import Verdict
from conflicts.services.causes import KEEP_NEEDED
from engram.kernel.refusals import InvalidError
from memories.models import Memory


@dataclass(frozen=True, slots=True)
class CardQuestion:
    """The live members of a card and their sides.

    `live` are the memories of its members that agents recall, by time; `aside` those of them about
    another subject than the question, which no verdict changes. `is_by_rules` is whether only the
    rules found the card: then only contradictions by rules count. `known` compares claims.
    """

    live: tuple[Memory, ...]
    says_yes: frozenset[UUID]
    aside: frozenset[UUID] = frozenset()
    is_by_rules: bool = True
    known: Comparisons = field(default_factory=Comparisons, compare=False, repr=False)

    @property
    def members(self) -> tuple[Memory, ...]:
        """Return the live members that answer the question."""
        return tuple(memory for memory in self.live if memory.id not in self.aside)


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a verdict does to the live members of a card; those `aside` are never changed."""

    kept: tuple[Memory, ...]
    superseded: tuple[Memory, ...] = ()
    retired: tuple[Memory, ...] = ()
    aside: tuple[Memory, ...] = field(default=())

    @property
    def successor(self) -> Memory | None:
        """Return the newest kept memory, which supersedes the others."""
        return max(self.kept, key=lambda m: (m.observed_at, m.created_at, m.id), default=None)


def question_of(
    card: Conflict,
    members: Iterable[ConflictMember],
    live: Collection[Memory],
    known: Comparisons | None = None,
) -> CardQuestion:
    """Return the live members and sides of a card, given its members and their live memories.

    A caller that holds locks passes look-ups as `known`; without it claims are compared at once.
    Members of a card that rests on answers have one subject by them, unless one was reworded.
    """
    known = known or Comparisons()
    by_id = {memory.id: memory for memory in live}
    present = [m for m in members if m.memory_id in by_id]
    says_yes = frozenset(m.memory_id for m in present if m.says_yes)
    ordered = [by_id[m.memory_id] for m in present]
    for_yes = [m for m in ordered if m.id in says_yes]
    is_answered = card.rule in BY_ANSWERS and not any(m.is_reworded for m in present)
    on_subject = (
        ordered
        if is_answered
        else select_answering(ordered, note_of, for_yes, is_other=known.are_of_other_subjects)
    )
    return CardQuestion(
        live=tuple(ordered),
        says_yes=says_yes,
        aside=frozenset(m.id for m in ordered if m not in on_subject),
        is_by_rules=card.detected_by == ["rules"],
        known=known,
    )


def compare_members(question: CardQuestion) -> None:
    """Look up all comparisons that the consequences of the verdicts need."""
    for verdict in Verdict:
        with suppress(InvalidError):
            consequences(question, verdict, [])


def listing_of(card: Conflict, question: CardQuestion) -> str:
    """Return a fingerprint of the consequences of all verdicts."""
    parts = [f"{card.version}", f"{question.is_by_rules}"]
    for memory in question.live:
        marks = (memory.id in question.says_yes, memory.id in question.aside)
        parts.append(f"{memory.id} {memory.revision} {marks}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def consequences(question: CardQuestion, verdict: str, keep: Sequence[UUID]) -> Consequences:
    """Return what a verdict would do; raise `InvalidError` when `keep` is needed or wrong."""
    named = set(keep)
    live = question.members
    aside = tuple(memory for memory in question.live if memory.id in question.aside)
    if named and verdict not in {Verdict.KEEP, Verdict.NO}:
        raise InvalidError("keep", "Memories to keep go with the verdicts keep and no.")
    if off_subject := named & question.aside:
        raise InvalidError(
            "keep",
            f"{min(off_subject)} speaks of another thing than the question; it stays anyway.",
        )
    if unknown := named - {memory.id for memory in live}:
        raise InvalidError("keep", f"{min(unknown)} is not a live memory of this conflict.")
    if verdict in {Verdict.BOTH_VALID, Verdict.DISMISS}:
        return Consequences(kept=live, aside=aside)
    if verdict == Verdict.NONE_VALID:
        return Consequences(kept=(), retired=live, aside=aside)
    if verdict == Verdict.NO:
        return _answer_no(question, live, named, aside)
    survivors = question.says_yes if verdict == Verdict.YES else named
    kept = tuple(m for m in live if m.id in survivors)
    if not kept:
        raise InvalidError("keep", "Name the memories that are true.", cause=KEEP_NEEDED)
    return Consequences(kept, tuple(m for m in live if m not in kept), aside=aside)


def why_unclear(question: CardQuestion, rest: Sequence[Memory]) -> str:
    """Return why `keep` is needed for the memories that a no leaves; empty when it is not."""
    if len({memory.content_hash for memory in rest}) < 2:
        return ""
    if not question.known.may_compare([memory.content for memory in rest]):
        return "The other sides are too long to compare"
    return "More than one value would remain" if _disagree(rest, question) else ""


def _answer_no(
    question: CardQuestion, live: Sequence[Memory], named: set[UUID], aside: tuple[Memory, ...]
) -> Consequences:
    """Retire the memories for yes; keep the named ones of the others, or all if they agree."""
    retired = tuple(m for m in live if m.id in question.says_yes)
    rest = [m for m in live if m.id not in question.says_yes]
    if not retired:
        raise InvalidError("verdict", "No memory that says so is active any more.")
    if named & question.says_yes:
        raise InvalidError("keep", "A no retires this memory; it cannot be kept as well.")
    if not named and (why := why_unclear(question, rest)):
        raise InvalidError("keep", f"{why}: name the memories that are true.", cause=KEEP_NEEDED)
    kept = tuple(m for m in rest if not named or m.id in named)
    return Consequences(kept, tuple(m for m in rest if m not in kept), retired, aside)


def _disagree(memories: Sequence[Memory], question: CardQuestion) -> bool:
    """Return whether two of the memories could not both be true."""
    # All pairs are looked up, so that the missing ones are compared together.
    found = [
        question.known.relation(one.content, other.content) == "contradicts"
        if question.is_by_rules
        else not question.known.says_the_same(one.content, other.content)
        for one, other in combinations(memories, 2)
    ]
    return any(found)
