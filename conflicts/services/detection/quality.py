"""Measure detection quality by people's verdicts, with 95 % intervals.

*Confirmed* is every verdict except `dismiss`, which means that the detector was wrong. `both_valid`
is also counted separately, because its members do not exclude each other; subtract it for a
stricter share. Undone verdicts and lapsed cards do not count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Count, F, QuerySet
from django.db.models.functions import TruncMonth

from conflicts.models import Conflict, Decision, JudgedRelation, Judgement
from conflicts.models.card import ConflictKind, ConflictStatus
from conflicts.models.decision import Verdict
from engram.kernel.models import Event
from memories.core.metrics import Interval, wilson
from memories.services.review.trust import PERSONS_ROLES, by_persons

DETECTORS: Final = ("rules", "narrative", "agent", "person")
FOUND_EVENTS: Final = ("conflict.opened", "conflict.joined")
AGENT_VERDICTS_READ: Final = 2000


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """Counts of people's verdicts on some of the cards."""

    decided: int
    confirmed: Interval
    dismissed: Interval
    both_valid: int

    @property
    def wrong(self) -> int:
        """Return the number of verdicts that it was no conflict."""
        return round(self.dismissed.mean * self.decided) if self.decided else 0


@dataclass(frozen=True, slots=True)
class Month:
    """The verdicts of one month (UTC)."""

    start: date
    judged: VerdictCounts


@dataclass(frozen=True, slots=True)
class Quality:
    """The verdicts of a period; a card that two detectors or two rules found counts for both."""

    since: datetime | None
    until: datetime
    total: VerdictCounts
    kinds: dict[str, VerdictCounts]
    detectors: dict[str, VerdictCounts]
    rules: dict[str, VerdictCounts]  # by id, those with a verdict, most verdicts first
    agents: dict[str, VerdictCounts]  # agents that reported or judged, most verdicts first
    months: tuple[Month, ...]
    undone: int  # verdicts of the period that were taken back
    lapsed: int  # cards of the period that went away before anybody answered
    waiting: int  # cards that wait now, whenever they were opened


class _Row(NamedTuple):
    month: datetime
    kind: str
    detectors: list[str]
    rule: str
    further_rules: list[str]
    verdict: str
    n: int


def measure(*, since: datetime | None, until: datetime) -> Quality:
    """Return the figures of the current workspace's verdicts from `since` to before `until`."""
    decisions = Decision.objects.filter(decided_at__lt=until)
    lapsed = Conflict.objects.filter(is_lapsed=True, updated_at__lt=until)
    if since is not None:
        decisions = decisions.filter(decided_at__gte=since)
        lapsed = lapsed.filter(updated_at__gte=since)
    decisions = decisions.filter(conflict__is_lapsed=False)
    rows = _rows(decisions)
    waiting = (ConflictStatus.OPEN, ConflictStatus.SNOOZED)
    return Quality(
        since=since,
        until=until,
        total=_count(rows),
        kinds=_by(rows, ConflictKind.values, lambda row: [row.kind]),
        detectors=_by(rows, DETECTORS, lambda row: row.detectors),
        rules=_rules(rows),
        agents=_agents(decisions),
        months=tuple(_months(rows)),
        undone=decisions.exclude(undone_at=None).count(),
        lapsed=lapsed.count(),
        waiting=Conflict.objects.filter(status__in=waiting).count(),
    )


def _rows(decisions: QuerySet[Decision]) -> list[_Row]:
    counted = (
        decisions.filter(undone_at=None)
        .order_by()
        .annotate(month=TruncMonth("decided_at", tzinfo=UTC))
        .values_list(
            "month",
            F("conflict__kind"),
            F("conflict__detected_by"),
            F("conflict__rule"),
            F("conflict__further_rules"),
            "verdict",
        )
        .annotate(n=Count("pk"))
    )
    return [_Row(*row) for row in counted]


def _agents(decisions: QuerySet[Decision]) -> dict[str, VerdictCounts]:
    """Count by agent the newest verdicts on cards that it judged or reported."""
    current = decisions.filter(undone_at=None, conflict__detected_by__contains=["agent"])
    newest = current.order_by("-decided_at")[:AGENT_VERDICTS_READ]
    verdicts = dict(newest.values_list("conflict_id", "verdict"))
    judged = Judgement.objects.filter(
        conflict__in=list(verdicts), relation=JudgedRelation.CONTRADICTS
    ).exclude(key__role__in=PERSONS_ROLES)
    reports = Event.objects.filter(
        object_id__in=[str(pk) for pk in verdicts], type__in=FOUND_EVENTS, actor_kind="key"
    ).exclude(by_persons())
    cards: dict[str, set[UUID]] = defaultdict(set)
    for agent, card in judged.values_list("agent", "conflict_id"):
        cards[agent].add(card)
    judged_cards = {card for own in cards.values() for card in own}
    for agent, card_id in reports.values_list("actor_label", "object_id"):
        if UUID(card_id) not in judged_cards:  # reported by hand
            cards[agent].add(UUID(card_id))
    counted = {
        agent: count_verdicts(Counter(verdicts[card] for card in own))
        for agent, own in cards.items()
    }
    return dict(sorted(counted.items(), key=lambda row: (-row[1].decided, row[0])))


def _count(rows: Iterable[_Row]) -> VerdictCounts:
    verdicts: Counter[str] = Counter()
    for row in rows:
        verdicts[row.verdict] += row.n
    return count_verdicts(verdicts)


def count_verdicts(verdicts: Mapping[str, int]) -> VerdictCounts:
    """Return the counts and shares of verdicts."""
    decided, dismissed = sum(verdicts.values()), verdicts.get(Verdict.DISMISS, 0)
    return VerdictCounts(
        decided=decided,
        confirmed=wilson(decided - dismissed, decided),
        dismissed=wilson(dismissed, decided),
        both_valid=verdicts.get(Verdict.BOTH_VALID, 0),
    )


def _by(
    rows: list[_Row], names: Iterable[str], names_of: Callable[[_Row], Iterable[str]]
) -> dict[str, VerdictCounts]:
    return {name: _count(row for row in rows if name in names_of(row)) for name in names}


def _rules(rows: list[_Row]) -> dict[str, VerdictCounts]:
    """Judge each rule by the verdicts on cards that it opened or found later."""
    of_rule: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        for rule in (row.rule, *row.further_rules):
            of_rule[rule].append(row)
    judged = {rule: _count(own) for rule, own in of_rule.items()}
    return dict(sorted(judged.items(), key=lambda one: (-one[1].decided, one[0])))


def _months(rows: list[_Row]) -> Iterator[Month]:
    """Yield the months from the first to the last with a verdict, also those without any."""
    starts = sorted({row.month.date() for row in rows})
    if not starts:
        return
    start = starts[0]
    while start <= starts[-1]:
        yield Month(start, _count(row for row in rows if row.month.date() == start))
        start = date(start.year + start.month // 12, start.month % 12 + 1, 1)
