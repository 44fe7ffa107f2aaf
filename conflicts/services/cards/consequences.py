"""What a verdict would do to the members of a card: said before, and checked when it is given."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations
from uuid import UUID

from conflicts.core.comparisons import Comparisons
from conflicts.core.subjects import note_of, select_answering
from conflicts.models import Conflict, ConflictMember
from conflicts.models.decision import Verdict
from conflicts.services.causes import KEEP_NEEDED
from engram.kernel.refusals import InvalidError
from memories.models import Memory


@dataclass(frozen=True, slots=True)
class CardQuestion:
    """What a card asks about now.

    `live` are its members that agents recall, in the order of the story; `aside` those of them that
    speak of another thing than the question, which no verdict changes. `is_by_rules` tells that
    nobody but the rules found the card: only what they find then differs. `known` compares claims.
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
    """What a verdict does to the live members of a card; `aside` stay, whatever is decided."""

    kept: tuple[Memory, ...]
    superseded: tuple[Memory, ...] = ()
    retired: tuple[Memory, ...] = ()
    aside: tuple[Memory, ...] = field(default=())

    @property
    def successor(self) -> Memory | None:
        """Return the newest survivor, which supersedes the others."""
        return max(self.kept, key=lambda m: (m.observed_at, m.created_at, m.id), default=None)


def question_of(
    card: Conflict,
    members: Iterable[ConflictMember],
    live: Collection[Memory],
    known: Comparisons | None = None,
) -> CardQuestion:
    """Return what a card asks about, given its members and which of their memories live.

    Who holds locks hands in look-ups as `known`; without them claims are compared at once.
    """
    known = known or Comparisons()
    by_id = {memory.id: memory for memory in live}
    present = [m for m in members if m.memory_id in by_id]
    says_yes = frozenset(m.memory_id for m in present if m.says_yes)
    ordered = [by_id[m.memory_id] for m in present]
    for_yes = [m for m in ordered if m.id in says_yes]
    asked = select_answering(ordered, note_of, for_yes, is_other=known.are_of_other_subjects)
    return CardQuestion(
        live=tuple(ordered),
        says_yes=says_yes,
        aside=frozenset(m.id for m in ordered if m not in asked),
        is_by_rules=card.detected_by == ["rules"],
        known=known,
    )


def compare_members(asked: CardQuestion) -> None:
    """Ask all that a listing of the verdicts needs to know, so that it is compared before."""
    for verdict in Verdict:
        with suppress(InvalidError):
            consequences(asked, verdict, [])


def listing_of(card: Conflict, asked: CardQuestion) -> str:
    """Return a fingerprint of what every verdict would do now: it changes when any of that does."""
    parts = [f"{card.version}", f"{asked.is_by_rules}"]
    for memory in asked.live:
        marks = (memory.id in asked.says_yes, memory.id in asked.aside)
        parts.append(f"{memory.id} {memory.revision} {marks}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def consequences(asked: CardQuestion, verdict: str, keep: Sequence[UUID]) -> Consequences:
    """Say what a verdict would do; raise `InvalidError` when it is unclear."""
    named = set(keep)
    live = asked.members
    aside = tuple(memory for memory in asked.live if memory.id in asked.aside)
    if named and verdict not in {Verdict.KEEP, Verdict.NO}:
        raise InvalidError("keep", "Memories to keep go with the verdicts keep and no.")
    if beside := named & asked.aside:
        raise InvalidError(
            "keep", f"{min(beside)} speaks of another thing than the question; it stays anyway."
        )
    if unknown := named - {memory.id for memory in live}:
        raise InvalidError("keep", f"{min(unknown)} is not a live memory of this conflict.")
    if verdict in {Verdict.BOTH_VALID, Verdict.DISMISS}:
        return Consequences(kept=live, aside=aside)
    if verdict == Verdict.NONE_VALID:
        return Consequences(kept=(), retired=live, aside=aside)
    if verdict == Verdict.NO:
        return _answer_no(asked, live, named, aside)
    survivors = asked.says_yes if verdict == Verdict.YES else named
    kept = tuple(m for m in live if m.id in survivors)
    if not kept:
        raise InvalidError("keep", "Name the memories that are true.", cause=KEEP_NEEDED)
    return Consequences(kept, tuple(m for m in live if m not in kept), aside=aside)


def why_unclear(asked: CardQuestion, rest: Sequence[Memory]) -> str:
    """Say why the memories that a no leaves must be named; empty when one value remains."""
    if len({memory.content_hash for memory in rest}) < 2:
        return ""
    if not asked.known.may_compare([memory.content for memory in rest]):
        return "The other sides are too long to compare"
    return "More than one value would remain" if _disagree(rest, asked) else ""


def _answer_no(
    asked: CardQuestion, live: Sequence[Memory], named: set[UUID], aside: tuple[Memory, ...]
) -> Consequences:
    """Retire what says yes; of the rest what is named stays, or all where one value remains."""
    retired = tuple(m for m in live if m.id in asked.says_yes)
    rest = [m for m in live if m.id not in asked.says_yes]
    if not retired:
        raise InvalidError("verdict", "No memory that says so is active any more.")
    if named & asked.says_yes:
        raise InvalidError("keep", "A no retires this memory; it cannot be kept as well.")
    if not named and (why := why_unclear(asked, rest)):
        raise InvalidError("keep", f"{why}: name the memories that are true.", cause=KEEP_NEEDED)
    kept = tuple(m for m in rest if not named or m.id in named)
    return Consequences(kept, tuple(m for m in rest if m not in kept), retired, aside)


def _disagree(memories: Sequence[Memory], asked: CardQuestion) -> bool:
    """Tell whether two of the memories could not both be true."""
    # All pairs are asked, so that what is not known yet is compared at once.
    found = [
        asked.known.relation(one.content, other.content) == "contradicts"
        if asked.is_by_rules
        else not asked.known.says_the_same(one.content, other.content)
        for one, other in combinations(memories, 2)
    ]
    return any(found)
