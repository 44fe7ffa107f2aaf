"""Name a card and its two sides by what differs: "9:30 or 10:00", for headings and answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from django.utils import timezone
from django.utils.formats import date_format

from conflicts.core.contrast import contrast_of, head_of
from conflicts.core.questions import quote, quote_apart
from conflicts.models import Conflict, ConflictMember, Decision
from conflicts.models.card import ConflictKind
from conflicts.models.decision import Verdict
from memories.models import Memory

QUOTED_CHARS: Final = 110  # of the statement in a heading
DECIDED: Final = "conflict.resolved"  # the type of the event of a decision
BRIEF_CHARS: Final = 60  # of one in a short message
SIDE_CHARS: Final = 48  # of one that names a side, as on an answer's button
ASKED: Final = ("Does “", "Does …")  # how questions made of two statements begin
WITHHELD: Final = "A memory of this conflict was forgotten; its question is no longer shown."


class Side(NamedTuple):
    """The newest statement of a side, its value ("" where none stands out), and it in few words.

    `rival_at` is when the newest statement of the other side was observed.
    """

    memory: Memory
    value: str
    excerpt: str
    rival_at: datetime

    @property
    def words(self) -> str:
        """Return the value, or the statement in a few words."""
        return self.value or self.excerpt

    @property
    def whole(self) -> str:
        """Return the statement where `words` are only a part of it, else ""."""
        is_whole = bool(self.value) or "…" not in self.excerpt
        return "" if is_whole else self.memory.content

    @property
    def dated(self) -> str:
        """Return what it says with the day of its statement: "10:00 (22 Oct)".

        Where the other side is of the same day, with the time of day as well, and where that is the
        same, without either: what tells nothing apart only looks as if it did.
        """
        for when in (day_of, moment_of):
            own = when(self.memory.observed_at)
            if own != when(self.rival_at):
                return f"{self.words} ({own})"
        return self.words


@dataclass(frozen=True, slots=True)
class CardNames:
    """A card's short heading, and its sides; None where no readable statement is left."""

    heading: str
    yes: Side | None = None
    other: Side | None = None
    is_stale: bool = False  # of a statement that builds on something that is gone

    @property
    def has_values(self) -> bool:
        """Return whether both sides are named by their values."""
        return bool(self.yes and self.yes.value and self.other and self.other.value)


def day_of(moment: datetime) -> str:
    """Return a day in the reader's zone, with the year if it is another than this one."""
    local, now = timezone.localtime(moment), timezone.localtime()
    return date_format(local, "j M" if local.year == now.year else "j M Y")


def moment_of(moment: datetime) -> str:
    """Return a day with the time in the reader's zone, to the minute: "22 Oct, 14:05"."""
    return f"{day_of(moment)}, {date_format(timezone.localtime(moment), 'H:i')}"


def name_card(
    card: Conflict, members: Sequence[tuple[Memory, bool]], *, is_withheld: bool
) -> CardNames:
    """Return the names of a card; `members` are its memories, oldest first, and if they say yes."""
    if is_withheld:
        return CardNames(WITHHELD)
    yes = next((memory for memory, says_yes in reversed(members) if says_yes), None)
    other = next((memory for memory, says_yes in reversed(members) if not says_yes), None)
    if yes is None or other is None:
        return CardNames(_shorten(card, yes, ""))
    older, newer = [memory for memory, _ in members if memory in (yes, other)]
    found = None if card.kind == ConflictKind.STALE else contrast_of(older.content, newer.content)
    value_of = {older: found.older_name, newer: found.newer_name} if found else {}
    head = head_of(older.content, newer.content) if found else ""
    yes_said, other_said = quote_apart(yes.content, other.content, SIDE_CHARS)
    return CardNames(
        _shorten(card, yes, head),
        Side(yes, value_of.get(yes, ""), yes_said, other.observed_at),
        Side(other, value_of.get(other, ""), other_said, yes.observed_at),
        is_stale=card.kind == ConflictKind.STALE,
    )


def name_cards(cards: Collection[Conflict]) -> dict[UUID, CardNames]:
    """Return the names of cards by all their memories, by one query."""
    members: dict[UUID, list[tuple[Memory, bool]]] = defaultdict(list)
    hidden: set[UUID] = set()
    rows = ConflictMember.objects.filter(conflict__in=[card.pk for card in cards])
    for member in rows.select_related("memory").order_by("conflict", "position"):
        members[member.conflict_id].append((member.memory, member.says_yes))
        if member.memory.forgotten_at is not None:
            hidden.add(member.conflict_id)
    return {
        card.pk: name_card(card, members[card.pk], is_withheld=card.pk in hidden) for card in cards
    }


def _shorten(card: Conflict, yes: Memory | None, head: str) -> str:
    """Return the heading: a question that somebody wrote, what differs, or the one statement."""
    if not card.question.startswith(ASKED):
        return card.question
    if head:
        return head
    if yes is None:
        return card.question
    still = " still" if card.kind == ConflictKind.STALE else ""
    again = " again" if card.kind == ConflictKind.REVERSAL else ""
    return f"Does {quote(yes.content, QUOTED_CHARS)}{still} hold{again}?"


def say_decision(decision: Decision, names: CardNames, count: int) -> str:
    """Return what a decision did, in a few words; `count` is the number of the card's memories."""
    every = "all" if count > 2 else "both"
    plain = {
        Verdict.DISMISS: "Dismissed: not a conflict.",
        Verdict.BOTH_VALID: f"Kept {every}: {'they are all' if count > 2 else 'both are'} valid.",
        Verdict.NONE_VALID: f"Retired {every}: {_instead(decision) or 'none is valid'}.",
        Verdict.KEEP: f"Kept {len(decision.kept)} of {count}, superseded the others.",
    }
    if said := plain.get(Verdict(decision.verdict)):
        return said
    kept, gone = _sides(decision.verdict, names)
    if kept is None or gone is None:
        return f"Resolved: {decision.get_verdict_display()}."
    did = "superseded" if decision.verdict == Verdict.YES else "retired"  # as its memories say
    if names.has_values:
        return f"Kept {kept.value}, {did} {gone.value}."
    return f"Kept {kept.words}, {did} {'the others' if count > 2 else 'the other'}."


def say_kept(verdict: str, names: CardNames) -> str:
    """Return the side that a yes or no kept, in a few words; "" where no two sides are left."""
    kept, gone = _sides(verdict, names)
    return kept.words if kept and gone and verdict in {Verdict.YES, Verdict.NO} else ""


def name_answer(verdict: str, names: CardNames, *, is_clear: bool = True) -> str:
    """Return the label of a yes or no, which names the side that stays; "" of another verdict.

    `is_clear` is whether a no leaves one side; "" also where no two sides are left.
    """
    kept, gone = _sides(verdict, names)
    if kept is None or gone is None or verdict not in {Verdict.YES, Verdict.NO}:
        return ""
    if names.is_stale:
        is_yes = verdict == Verdict.YES
        return "Still true" if is_yes else f"No longer true since {day_of(kept.memory.observed_at)}"
    if verdict == Verdict.NO and not is_clear:
        return f"Not {gone.words}"
    return f"Keep {kept.dated}"


def _sides(verdict: str, names: CardNames) -> tuple[Side | None, Side | None]:
    """Return the side that holds after a yes or a no, and the other."""
    return (names.yes, names.other) if verdict == Verdict.YES else (names.other, names.yes)


def winner_of(decision: Decision | None, names: CardNames) -> str:
    """Return what holds after a decision, "" where it is not one side of the card."""
    if decision is None:
        return ""
    kept, _ = _sides(decision.verdict, names)
    if kept and decision.verdict in {Verdict.YES, Verdict.NO}:
        return kept.words
    answer = decision.answer
    if answer is None or answer.forgotten_at or answer.retired_at or answer.superseded_at:
        return ""
    return quote(answer.content, BRIEF_CHARS)


def _instead(decision: Decision) -> str:
    """Return what a person answered instead of all statements, "" where nobody did."""
    if decision.answer is None or decision.answer.forgotten_at:
        return ""
    return f"{quote(decision.answer.content, BRIEF_CHARS)} holds"
