"""Build the view of one card for people: statements, differences, decisions, remarks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from uuid import UUID

from django.utils import timezone
from django.utils.formats import date_format

from conflicts.core.arc import Arc, arc_of
from conflicts.core.marking import LIKE_ENOUGH, Said, mark_statements
from conflicts.core.rules.rule import Rule
from conflicts.core.wording import Span, WordDiff, word_diff
from conflicts.models import Conflict, ConflictComment, ConflictMember, Decision
from conflicts.models.card import WAITING, ConflictStatus
from conflicts.services.cards.consequences import listing_of, question_of
from conflicts.services.cards.decided import wordings
from conflicts.services.cards.finders import Finder, finders, rules_of
from conflicts.services.cards.naming import (
    WITHHELD,
    CardNames,
    name_card,
    name_cards,
    say_decision,
)
from conflicts.services.cards.snooze import snoozers
from conflicts.services.cards.unlisted import count_recallable, say_unlisted
from conflicts.services.cards.verdict_previews import VerdictPreview, outcomes
from engram.kernel.models import Event
from memories.models import Memory, State

NOT_SHOWN = "Not shown: a memory of this conflict was forgotten."
HISTORY_ROWS = 50
PAIRS_COMPARED = 6


@dataclass(frozen=True, slots=True)
class ShownStatement:
    """A member by its number in time order; a forgotten one keeps its number, not its text."""

    number: int
    memory: Memory
    state: State
    says_yes: bool
    is_reworded: bool
    spans: tuple[Span, ...]
    is_aside: bool = False  # about another subject than the question

    @property
    def is_live(self) -> bool:
        """Return whether agents still recall it."""
        return self.state == State.ACTIVE

    @property
    def is_withheld(self) -> bool:
        """Return whether its text must not be shown."""
        return self.state == State.FORGOTTEN


@dataclass(frozen=True, slots=True)
class StatementDifference:
    """Two statements by their numbers, and the words in which they differ."""

    one: int
    other: int
    difference: WordDiff


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment on a card, or a placeholder when its text may not be shown."""

    author: str
    text: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class CardView:
    """A card as pages show it."""

    card: Conflict
    question: str
    reasoning: str
    statements: tuple[ShownStatement, ...]
    difference: WordDiff | None
    compared: tuple[int, int] | None
    outcomes: tuple[VerdictPreview, ...]
    decision: Decision | None
    decisions: tuple[Decision, ...] = ()
    said: Mapping[UUID, str] = field(default_factory=dict)  # what each decision did, by its id
    comments: tuple[Remark, ...] = ()
    events: tuple[Event, ...] = field(default=())
    finders: tuple[Finder, ...] = ()
    rules: tuple[Rule, ...] = ()  # the one that opened the card comes first
    further: tuple[StatementDifference, ...] = ()
    arc: Arc | None = None
    listing: str = ""  # fingerprint of the outcomes
    snoozed_by: str = ""  # who snoozed the card, while it is
    unlisted_count: int = 0  # memories that disagree and are not listed
    names: CardNames = field(default_factory=lambda: CardNames(""))
    all_names: CardNames = field(default_factory=lambda: CardNames(""))  # also by former memories

    @property
    def is_waiting(self) -> bool:
        """Return whether a verdict can be given."""
        return self.card.status in WAITING

    @property
    def closed_because(self) -> str:
        """Return why the card was closed without a verdict; empty when it was not."""
        return closing_reason(self.card)

    @property
    def last_seq(self) -> int:
        """Return the number of the newest event that this view includes."""
        return self.events[0].seq if self.events else 0


def show(card: Conflict, *, now: datetime) -> CardView:
    """Return the view of a card of the current workspace."""
    members = list(card.members.select_related("memory", "memory__superseded_by"))
    states = {member.pk: member.memory.state(now) for member in members}
    is_withheld = State.FORGOTTEN in states.values()
    compared, difference = _difference(members, states)
    question = question_of(
        card, members, [m.memory for m in members if states[m.pk] == State.ACTIVE]
    )
    texts = wordings(members)
    marked = _marked(members, states, question.aside)
    statements = tuple(
        _statement(
            number,
            member,
            states[member.pk],
            spans=marked.get(number, ()),
            is_aside=member.memory_id in question.aside,
            is_reworded=texts[member.pk] != member.memory.content,
        )
        for number, member in enumerate(members, start=1)
    )
    numbers = {statement.memory.id: statement.number for statement in statements}
    decisions = tuple(card.decisions.select_related("answer"))
    for decision in decisions:
        decision.note = readable_note(decision.note, is_withheld=is_withheld)  # for this view only
    events = tuple(Event.objects.filter(object_id=str(card.pk))[:HISTORY_ROWS])
    unlisted = count_recallable([card], now)[card.pk]
    is_waiting = card.status in WAITING
    snoozed = [card] if card.status == ConflictStatus.SNOOZED else []
    all_names = name_card(
        card, [(one.memory, one.says_yes) for one in statements], is_withheld=is_withheld
    )
    asked = [(s.memory, s.says_yes) for s in statements if s.is_live and not s.is_aside]
    names = name_card(card, asked, is_withheld=is_withheld) if is_waiting else all_names
    return CardView(
        card=card,
        question=WITHHELD if is_withheld else card.question,
        reasoning="" if is_withheld else say_unlisted(card, card.reasoning, unlisted),
        statements=statements,
        difference=difference if difference and difference.likeness >= LIKE_ENOUGH else None,
        compared=compared,
        outcomes=outcomes(numbers, question, card.suggested_verdict, names),
        names=names,
        all_names=all_names,
        decision=next((d for d in decisions if d.undone_at is None), None),
        decisions=decisions,
        said={one.pk: say_decision(one, all_names, len(members)) for one in decisions},
        comments=remarks(card.comments.all(), is_withheld=is_withheld),
        events=events,
        finders=finders(card, events, is_withheld=is_withheld),
        rules=rules_of(card),
        further=_further(statements, compared),
        arc=arc_of([(s.memory.observed_at, s.says_yes) for s in statements]),
        listing=listing_of(card, question),
        snoozed_by=snoozers(snoozed).get(card.pk, ""),
        unlisted_count=unlisted,
    )


def closing_reason(card: Conflict) -> str:
    """Return why a card was closed without a verdict; empty when it was not."""
    if not card.is_lapsed:
        return ""
    return card.get_lapse_reason_display() or "Its memories went away or say something else now."


def remarks(comments: Iterable[ConflictComment], *, is_withheld: bool) -> tuple[Remark, ...]:
    """Return the comments on a card; of a withheld one only authors and times."""
    return tuple(
        Remark(c.author, NOT_SHOWN if is_withheld else c.text, c.created_at) for c in comments
    )


def readable_note(note: str, *, is_withheld: bool) -> str:
    """Return the note of a decision, or a placeholder when it may not be shown."""
    return NOT_SHOWN if note and is_withheld else note


def local_time(moment: datetime) -> str:
    """Format a moment in the reader's time zone."""
    return date_format(timezone.localtime(moment), "D j M, H:i")


def describe_decision(card: Conflict) -> str:
    """Return a sentence about the decision in force on a card, "" without one."""
    decision = card.decisions.select_related("answer").filter(undone_at=None).first()
    if decision is None:
        return ""
    return say_decision(decision, name_cards([card])[card.pk], card.members.count())


def changed_since(card: Conflict, seq: int) -> list[Event]:
    """Return the events of a card after the event `seq`, oldest first."""
    events = Event.objects.filter(object_id=str(card.pk), seq__gt=seq).order_by("seq")
    return list(events[:HISTORY_ROWS])


def newest_seq() -> int:
    """Return the number of the newest event of the workspace."""
    return Event.objects.values_list("seq", flat=True).first() or 0


def _difference(
    members: Sequence[ConflictMember], states: dict[int, State]
) -> tuple[tuple[int, int] | None, WordDiff | None]:
    """Compare the newest statement for yes with the newest other one; numbers count from 1."""
    shown = [
        (number, member)
        for number, member in enumerate(members, start=1)
        if states[member.pk] != State.FORGOTTEN
    ]
    for_yes = [pair for pair in shown if pair[1].says_yes]
    against = [pair for pair in shown if not pair[1].says_yes]
    pair = (for_yes[-1], against[-1]) if for_yes and against else tuple(shown[-2:])
    if len(pair) < 2:
        return None, None
    (one, first), (other, second) = sorted(pair, key=lambda row: row[0])
    return (one, other), word_diff(first.memory.content, second.memory.content)


def _marked(
    members: Sequence[ConflictMember], states: dict[int, State], aside: Collection[UUID]
) -> dict[int, tuple[Span, ...]]:
    """Return the spans of the statements that may be shown, by their numbers.

    Nothing is marked in statements of something else.
    """
    shown = {
        number: member
        for number, member in enumerate(members, start=1)
        if states[member.pk] != State.FORGOTTEN
    }
    asked = {n: member for n, member in shown.items() if member.memory_id not in aside}
    said = [Said(member.memory.content, member.says_yes) for member in asked.values()]
    plain = {n: (Span("same", member.memory.content),) for n, member in shown.items()}
    return plain | dict(zip(asked, mark_statements(said), strict=True))


def _further(
    statements: Sequence[ShownStatement], compared: tuple[int, int] | None
) -> tuple[StatementDifference, ...]:
    """Compare each statement with the next, where their likeness is at least `LIKE_ENOUGH`."""
    found = []
    shown = [statement for statement in statements if not statement.is_withheld]
    for one, other in list(pairwise(shown))[:PAIRS_COMPARED]:
        if (one.number, other.number) == compared:
            continue
        difference = word_diff(one.memory.content, other.memory.content)
        if difference.likeness >= LIKE_ENOUGH:
            found.append(StatementDifference(one.number, other.number, difference))
    return tuple(found)


def _statement(
    number: int,
    member: ConflictMember,
    state: State,
    *,
    spans: tuple[Span, ...],
    is_aside: bool,
    is_reworded: bool,
) -> ShownStatement:
    return ShownStatement(
        number=number,
        memory=member.memory,
        state=state,
        says_yes=member.says_yes,
        is_reworded=is_reworded,
        spans=spans,
        is_aside=is_aside,
    )
