"""One deed for many cards: first what it would do and what it would pass over, then the doing.

Only waiting cards are touched, each in a transaction of its own, and only if it is still as it was
counted: a card that was decided or has grown meanwhile is passed over with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from memories.core.lengths import MAX_COMPARED_CHARS

AT_ONCE: Final = 200  # cards, in one deed; the others wait for the next
MAX_CHARS: Final = 10 * MAX_COMPARED_CHARS  # of all their texts that are compared for one page
# What is decided for many at once names no memories: `keep` is for one card at a time.
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
    """Give to a member, or to nobody."""

    username: str | None


Deed = BulkDecide | BulkSnooze | BulkAssign


@dataclass(frozen=True, slots=True)
class SeenCard:
    """The version of a card that somebody was shown, and what verdicts would have done then."""

    version: int
    listing: str = ""


@dataclass(frozen=True, slots=True)
class SkippedCard:
    """A card that is passed over, and why."""

    card: Conflict
    reason: str


@dataclass(slots=True)
class BulkPlan:
    """What a deed would touch and what it would pass over."""

    touched: list[Conflict] = field(default_factory=list)
    passed: list[SkippedCard] = field(default_factory=list)
    left: int = 0  # cards beyond those that are done at once


def choose_cards(cards: QuerySet[Conflict]) -> tuple[list[Conflict], int]:
    """Return the cards that a deed takes at once, and how many are left.

    The waiting come first, the most urgent and longest-waiting of them before the others.
    """
    total = cards.count()
    ordered = cards.select_related("assignee").order_by("created_at", "pk")
    waiting = list(ordered.filter(status__in=WAITING)[:AT_ONCE])
    waiting.sort(key=lambda card: URGENCY.get(card.severity, len(URGENCY)))  # type: ignore[call-overload]
    others = ordered.exclude(status__in=WAITING)[: AT_ONCE - len(waiting)]
    taken = [*waiting, *others]
    return taken, total - len(taken)


def plan(cards: Sequence[Conflict], deed: Deed, *, left: int, now: datetime) -> BulkPlan:
    """Say which cards a deed would touch; the same number of queries for 1 and for 200."""
    found = BulkPlan(left=left)
    known = Comparisons(allowance=MAX_CHARS)
    prefetch_related_objects(list(cards), "members__memory")
    for card in cards:
        reason = _why_not(card, deed, known, now)
        if reason:
            found.passed.append(SkippedCard(card, reason))
        else:
            found.touched.append(card)
    return found


def carry_out(
    workspace: Workspace,
    seen: Mapping[UUID, SeenCard],
    deed: Deed,
    *,
    actor: Actor,
    now: datetime,
) -> BulkPlan:
    """Do a deed to the cards that were counted, by their versions of then."""
    done = BulkPlan()
    ids = sorted(seen)[:AT_ONCE]  # in one order everywhere: two at once cannot deadlock
    with in_workspace(workspace):
        found = Conflict.objects.in_bulk(ids)
    for pk in ids:
        card = found.get(pk)
        if card is None:
            continue
        try:
            if card.version != seen[pk].version:
                raise StaleError("It was changed or decided meanwhile.", cause=CHANGED_MEANWHILE)
            _do(workspace, card, deed, seen[pk], actor=actor, now=now)
        except RefusalError as error:
            done.passed.append(SkippedCard(card, getattr(error, "message", error.detail)))
        else:
            done.touched.append(card)
    return done


def _do(
    workspace: Workspace, card: Conflict, deed: Deed, seen: SeenCard, *, actor: Actor, now: datetime
) -> None:
    if isinstance(deed, BulkDecide):
        resolve(
            workspace, card.pk, verdict=deed.verdict, note=deed.note,
            version=seen.version, listing=seen.listing, actor=actor, now=now,
        )  # fmt: skip
    elif isinstance(deed, BulkSnooze):
        snooze.snooze(workspace, card.pk, until=deed.until, actor=actor, now=now)
    else:
        discuss.assign(workspace, card.pk, username=deed.username, actor=actor, now=now)


def _why_not(card: Conflict, deed: Deed, known: Comparisons, now: datetime) -> str:
    """Say why a deed passes a card over; empty when it does not."""
    if card.status not in WAITING:
        return "Closed by itself already." if card.is_lapsed else "Decided already."
    if isinstance(deed, BulkSnooze):
        return ""
    if isinstance(deed, BulkAssign):
        holder = card.assignee.get_username() if card.assignee else None
        return "It is so already." if holder == deed.username else ""
    try:
        consequences(_question(card, now, known), deed.verdict, [])
    except InvalidError as error:
        return error.message
    return ""


def _question(card: Conflict, now: datetime, known: Comparisons | None = None) -> CardQuestion:
    members = list(card.members.all())
    live = [m.memory for m in members if m.memory.state(now) == "active"]
    return question_of(card, members, live, known)


def seen_of(card: Conflict, now: datetime) -> SeenCard:
    """Return what is shown of a card when a deed is asked about."""
    return SeenCard(card.version, listing_of(card, _question(card, now)))


def counts(
    cards: Iterable[Conflict], *, left: int, now: datetime
) -> list[tuple[Verdict, BulkPlan]]:
    """Say for each verdict what it would touch."""
    taken = list(cards)
    return [(verdict, plan(taken, BulkDecide(verdict), left=left, now=now)) for verdict in VERDICTS]
