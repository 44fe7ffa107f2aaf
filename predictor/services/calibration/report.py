"""Report the judge's agreement with people, over the newest labels and by judge and month.

What agents said at the end of their sessions is one more judge, beside those in the total. Only
first labels count: a second label of an item may be influenced by the judge's relevance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memories.services.sessions.reported import reported_use
from predictor.core.calibration import CalibrationReport, RatedMemory, compare_labels
from predictor.core.trust import AGENT_VERSION
from predictor.models import (
    CalibrationItem,
    JudgeKind,
    Judgement,
    JudgeStatus,
)
from predictor.services.calibration.calibrate import count_waiting, last_drawn_at

MONTHS_SHOWN = 24
NEWEST = 5000  # labels in the report: years of samples


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """Agreement of one judge (kind and version) with people, in total and by month."""

    kind: str
    version: str
    report: CalibrationReport
    months: list[tuple[str, CalibrationReport]]  # oldest first, by when people labelled


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Agreement over the newest labels; `is_flagged` is about the judge of the newest session."""

    report: CalibrationReport
    judges: list[JudgeReport]  # the newest first
    is_flagged: bool
    waiting: int
    unsure: int
    relabelled: int
    last_drawn_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Labelled:
    pair: RatedMemory
    judge: tuple[str, str]
    month: str


def calibration_of(*, now: datetime) -> JudgeAgreement:
    """Return the judge's agreement with people's blind labels."""
    answered = CalibrationItem.objects.exclude(labelled_at=None)
    first = answered.filter(label__isnull=False, is_relabelled=False)
    items = list(first.order_by("-labelled_at", "pk")[:NEWEST])
    labelled = [
        _labelled(item, item.judge_relevance, (item.judge_kind, item.judge_version))
        for item in items
    ]
    judges = _by_judge([*labelled, *_by_agents(items)])
    return JudgeAgreement(
        report=_report(labelled),
        judges=judges,
        is_flagged=_is_flagged(judges),
        waiting=count_waiting(now),
        unsure=answered.filter(is_unsure=True).count(),
        relabelled=answered.filter(is_relabelled=True, label__isnull=False).count(),
        last_drawn_at=last_drawn_at(),
    )


def _labelled(item: CalibrationItem, said: float, judge: tuple[str, str]) -> _Labelled:
    pair = RatedMemory(item.session_id, item.label or 0.0, said)
    return _Labelled(pair, judge, f"{item.labelled_at:%Y-%m}")


def _by_agents(items: Sequence[CalibrationItem]) -> list[_Labelled]:
    """Return what the agents of these sessions said of the same memories, beside the judge."""
    beside = {(i.session_id, i.memory_id): i for i in items if i.judge_kind != JudgeKind.AGENT}
    checked = CalibrationItem.objects.exclude(labelled_at=None).order_by()
    said = reported_use(checked.values("session"), checked.values("memory"))
    agent = JudgeKind.AGENT.value, AGENT_VERSION
    return [_labelled(item, said[key], agent) for key, item in beside.items() if key in said]


def _by_judge(labelled: list[_Labelled]) -> list[JudgeReport]:
    found = []
    for (kind, version), ours in _group(labelled, lambda one: one.judge):
        months = [(month, _report(rows)) for month, rows in _group(ours, lambda one: one.month)]
        found.append(
            JudgeReport(
                kind,
                version,
                _report(ours),
                sorted(months, key=lambda month: month[0])[-MONTHS_SHOWN:],
            )
        )
    return found


def _group(
    labelled: Iterable[_Labelled], by: Callable[[_Labelled], Any]
) -> list[tuple[Any, list[_Labelled]]]:
    groups: dict[Any, list[_Labelled]] = {}
    for one in labelled:
        groups.setdefault(by(one), []).append(one)
    return list(groups.items())


def _report(labelled: list[_Labelled]) -> CalibrationReport:
    return compare_labels([one.pair for one in labelled])


def _is_flagged(judges: list[JudgeReport]) -> bool:
    """Return whether the judge of the newest session is flagged; one without labels is not."""
    newest = (
        Judgement.objects.filter(status=JudgeStatus.DONE)
        .order_by("-judged_at", "-id")
        .values_list("kind", "version")
        .first()
    )
    return any(one.report.is_flagged for one in judges if (one.kind, one.version) == newest)
