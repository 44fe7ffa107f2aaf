"""Apply one action to many cards: first a plan of affected and skipped cards, then the action.

Only waiting cards are changed, each in its own transaction, and only if its version is still the
one that was shown: a card that was decided or changed meanwhile is skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import QuerySet, prefetch_related_objects

from conflicts.core.comparisons import Comparisons
from conflicts.models import Conflict
from conflicts.models.card import WAITING
from conflicts.models.decision import Verdict
from conflicts.services.cards import discuss, snooze
from conflicts.services.cards.consequences import (
    CardQuestion,
    consequences,
    listing_of,
    question_of,
)
from conflicts.services.cards.queue import URGENCY
from conflicts.services.verdicts.resolve import resolve
from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, RefusalError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.comparing import MAX_COMPARED_CHARS

AT_ONCE: Final = 200  # cards in one action; the others need another one
MAX_CHARS: Final = 10 * MAX_COMPARED_CHARS  # of all texts that are compared for one page
# Without `keep`, which names memories of a single card.
VERDICTS: Final = (
    Verdict.YES, Verdict.NO, Verdict.BOTH_VALID, Verdict.NONE_VALID, Verdict.DISMISS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BulkDecide:
    """Give a verdict."""

    verdict: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class BulkSnooze:
    """Snooze until a time."""

    until: datetime


@dataclass(frozen=True, slots=True)
class BulkAssign:
    """Assign to a member, or to nobody."""

    username: str | None


BulkAction = BulkDecide | BulkSnooze | BulkAssign


@dataclass(frozen=True, slots=True)
class SeenCard:
    """The version and listing of a card that the user was shown."""

    version: int
    listing: str = ""


@dataclass(frozen=True, slots=True)
class SkippedCard:
    """A skipped card and the reason."""

    card: Conflict
    reason: str


@dataclass(slots=True)
class BulkPlan:
    """The cards that an action changes, and those that it skips."""

    touched: list[Conflict] = field(default_factory=list)
    passed: list[SkippedCard] = field(default_factory=list)
    left: int = 0  # cards beyond `AT_ONCE`


def choose_cards(cards: QuerySet[Conflict]) -> tuple[list[Conflict], int]:
    """Return at most `AT_ONCE` cards, and the number of the others.

    Waiting cards come first, by urgency and then by age.
    """
    total = cards.count()
    ordered = cards.select_related("assignee").order_by("created_at", "pk")
    waiting = list(ordered.filter(status__in=WAITING)[:AT_ONCE])
    waiting.sort(key=lambda card: URGENCY.get(card.severity, len(URGENCY)))  # type: ignore[call-overload]
    others = ordered.exclude(status__in=WAITING)[: AT_ONCE - len(waiting)]
    taken = [*waiting, *others]
    return taken, total - len(taken)


def plan(cards: Sequence[Conflict], action: BulkAction, *, left: int, now: datetime) -> BulkPlan:
    """Return which cards an action would change or skip, by a constant number of queries."""
    found = BulkPlan(left=left)
    known = Comparisons(allowance=MAX_CHARS)
    prefetch_related_objects(list(cards), "members__memory")
    for card in cards:
        reason = _why_not(card, action, known, now)
        if reason:
            found.passed.append(SkippedCard(card, reason))
        else:
            found.touched.append(card)
    return found


def carry_out(
    workspace: Workspace,
    seen: Mapping[UUID, SeenCard],
    action: BulkAction,
    *,
    actor: Actor,
    now: datetime,
) -> BulkPlan:
    """Apply an action to the cards that are unchanged since they were shown."""

    def do(card: Conflict) -> None:
        if card.version != seen[card.pk].version:
            raise StaleError("It was changed or decided meanwhile.", cause=CHANGED_MEANWHILE)
        _do(workspace, card, action, seen[card.pk], actor=actor, now=now)

    # In one order everywhere: two at once cannot deadlock.
    return change_each(workspace, sorted(seen), do)


def change_each(
    workspace: Workspace, ids: Sequence[UUID], change: Callable[[Conflict], None]
) -> BulkPlan:
    """Change at most `AT_ONCE` cards in the order of `ids`; one that refuses stops no other."""
    done = BulkPlan()
    with in_workspace(workspace):
        found = Conflict.objects.select_related("assignee").in_bulk(ids[:AT_ONCE])
    for pk in ids[:AT_ONCE]:
        card = found.get(pk)
        if card is None:
            continue
        try:
            change(card)
        except RefusalError as error:
            done.passed.append(SkippedCard(card, getattr(error, "message", error.detail)))
        else:
            done.touched.append(card)
    return done


def _do(
    workspace: Workspace,
    card: Conflict,
    action: BulkAction,
    seen: SeenCard,
    *,
    actor: Actor,
    now: datetime,
) -> None:
    if isinstance(action, BulkDecide):
        resolve(
            workspace, card.pk, verdict=action.verdict, note=action.note,
            version=seen.version, listing=seen.listing, actor=actor, now=now,
        )  # fmt: skip
    elif isinstance(action, BulkSnooze):
        snooze.snooze(workspace, card.pk, until=action.until, actor=actor, now=now)
    else:
        discuss.assign(workspace, card.pk, username=action.username, actor=actor, now=now)


def _why_not(card: Conflict, action: BulkAction, known: Comparisons, now: datetime) -> str:
    """Return why an action skips a card; empty when it does not."""
    if card.status not in WAITING:
        return "Closed by itself already." if card.is_lapsed else "Decided already."
    if isinstance(action, BulkSnooze):
        return ""
    if isinstance(action, BulkAssign):
        holder = card.assignee.get_username() if card.assignee else None
        return "It is so already." if holder == action.username else ""
    try:
        consequences(_question(card, now, known), action.verdict, [])
    except InvalidError as error:
        return error.message
    return ""


def _question(card: Conflict, now: datetime, known: Comparisons | None = None) -> CardQuestion:
    members = list(card.members.all())
    live = [m.memory for m in members if m.memory.state(now) == "active"]
    return question_of(card, members, live, known)


def seen_of(card: Conflict, now: datetime) -> SeenCard:
    """Return the version and listing of a card as it is shown now."""
    return SeenCard(card.version, listing_of(card, _question(card, now)))


def count_kept_newer(cards: Iterable[Conflict], verdict: Verdict) -> tuple[int, int]:
    """Return in how many planned cards a yes or no keeps the newest statement, and in how many not.

    Cards whose statements are all on one side are in neither.
    """
    newer = older = 0
    for card in cards:
        members = sorted(card.members.all(), key=lambda member: member.position)
        if len({member.says_yes for member in members}) == 2:
            is_newest = members[-1].says_yes == (verdict == Verdict.YES)
            newer, older = newer + is_newest, older + (not is_newest)
    return newer, older


def counts(
    cards: Iterable[Conflict], *, left: int, now: datetime
) -> list[tuple[Verdict, BulkPlan]]:
    """Return the plan of each verdict."""
    taken = list(cards)
    return [(verdict, plan(taken, BulkDecide(verdict), left=left, now=now)) for verdict in VERDICTS]
