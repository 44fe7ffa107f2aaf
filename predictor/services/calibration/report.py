"""Report the judge's agreement with people, over the newest labels and by judge and month.

Only first labels count: a second label of an item may be influenced by the judge's relevance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from predictor.core.calibration import CalibrationReport, RatedMemory, compare_labels
from predictor.models import CalibrationItem, CalibrationSample, Judgement, JudgeStatus
from predictor.services.calibration.calibrate import count_waiting

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
    labelled = [
        _Labelled(
            RatedMemory(session, float(label or 0), relevance), (kind, version), f"{at:%Y-%m}"
        )
        for session, label, relevance, kind, version, at in answered.exclude(label=None)
        .filter(is_relabelled=False)
        .order_by("-labelled_at", "pk")
        .values_list(
            "session_id", "label", "judge_relevance", "judge_kind", "judge_version", "labelled_at"
        )[:NEWEST]
    ]
    judges = _by_judge(labelled)
    return JudgeAgreement(
        report=_report(labelled),
        judges=judges,
        is_flagged=_is_flagged(judges),
        waiting=count_waiting(now),
        unsure=answered.filter(is_unsure=True).count(),
        relabelled=answered.filter(is_relabelled=True, label__isnull=False).count(),
        last_drawn_at=CalibrationSample.objects.values_list("drawn_at", flat=True).first(),
    )


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
