"""Both rankings side by side, how far the learned one is from influence, and why sessions say
nothing.

Influence depends on drafted lists alone (`predictor.core.governance`). The margins of other lists
are shown beside, because they are many, though they favour the ranking that chose the list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engram.kernel.models import Event
from memories.core.shares import percent
from predictor.core.betting import ENOUGH, LEAST
from predictor.core.governance import SERVING, Governor, Phase
from predictor.core.margins import NORMAL_95
from predictor.core.reasons import lead_words
from predictor.models import Comparison
from predictor.services.status.unused import usage_of_sessions

COMPARISONS_READ = 2_000  # the newest since the last reset
FAR = 1_000  # sessions; further estimates say nothing


class _Compared(NamedTuple):
    """What is read of a comparison; names are those of the model."""

    is_evidence: bool
    is_drafted: bool
    drafted_margin: float | None
    margin: float | None
    baseline_ndcg: float | None
    predictor_ndcg: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """Mean nDCG@10 of both rankings over some sessions, and of the margin with its 95 % interval;
    None without sessions, and the interval without two."""

    sessions: int
    baseline: float | None = None
    predictor: float | None = None
    margin: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class VoidSessions:
    """How many sessions said nothing of the rankings for one reason, and what to do about it."""

    reason: str
    sessions: int
    advice: str


@dataclass(frozen=True, slots=True)
class DraftedLists:
    """Figures of drafted and of other lists since the last reset, and how far adoption is.

    `void` are the sessions of the newest that say nothing of the rankings (`unused.py`).
    `says` tells in words how far adoption is, by the margins that influence depends on.
    `missing_sessions` estimates how many drafted comparisons are missing at the present margin;
    None when it serves, or when none are in sight.
    """

    drafted: Measured
    others: Measured
    void: Sequence[VoidSessions]
    adopted_at: int
    missing_sessions: int | None
    draft_share: float
    says: str


def read_drafted_lists(governor: Governor, *, mode: str) -> DraftedLists:
    """Return them, by a constant number of queries; called inside the workspace."""
    rows = _comparisons()
    drafted = measure((one.drafted_margin, one) for one in rows if one.drafted_margin is not None)
    others = measure((one.margin, one) for one in rows if one.is_evidence and not one.is_drafted)
    missing = missing_sessions(governor)
    return DraftedLists(
        drafted=drafted,
        others=others,
        void=tuple(
            VoidSessions(one.reason, one.sessions, one.remedy)
            for one in usage_of_sessions().reasons
        ),
        adopted_at=governor.adopted_at,
        missing_sessions=missing,
        draft_share=governor.draft_share if mode != "off" else 0.0,
        says=describe_distance(governor, missing, mode=mode),
    )


def measure(margins: Iterable[tuple[float | None, _Compared]]) -> Measured:
    """Return the means of comparisons with their margins."""
    found = [(margin or 0.0, row) for margin, row in margins]
    n = len(found)
    if not n:
        return Measured(0)
    mean = math.fsum(margin for margin, _ in found) / n
    spread = math.fsum((margin - mean) ** 2 for margin, _ in found)
    error = NORMAL_95 * math.sqrt(spread / (n - 1) / n) if n > 1 else None
    return Measured(
        sessions=n,
        baseline=math.fsum(row.baseline_ndcg or 0.0 for _, row in found) / n,
        predictor=math.fsum(row.predictor_ndcg or 0.0 for _, row in found) / n,
        margin=mean,
        low=None if error is None else mean - error,
        high=None if error is None else mean + error,
    )


def missing_sessions(governor: Governor) -> int | None:
    """Return how many more drafted comparisons adoption takes if margins stay as they are."""
    if governor.phase in SERVING or governor.phase is Phase.COLLECTING:
        return None
    margins, betting = governor.margins, governor.betting
    if margins.mean <= LEAST:
        return None
    gain = (1 - betting.correlation) * betting.stake * (margins.mean - LEAST)
    growth = math.log1p(gain) - betting.stake**2 * margins.variance / 2
    if growth <= 0:
        return None
    needed = math.ceil(max(0.0, math.log(ENOUGH / max(betting.wealth, 0.5))) / growth)
    return needed if needed <= FAR else None


def describe_distance(governor: Governor, missing: int | None, *, mode: str) -> str:
    """Return sentences on whether the ranking has, or would have, a say, and what is missing."""
    if mode == "off":
        return "Learning is switched off: nothing is compared."
    if governor.phase is Phase.COLLECTING:
        return "Nothing is learned yet: there is nothing to compare."
    margins = governor.margins
    if governor.phase in SERVING:
        at = f"a say since session {governor.adopted_at}"
        has = f"has had {at}" if mode == "on" else f"would have had {at}"
        told = f", its choices being {lead_words(margins)}" if margins.count else ""
        return f"The learned ranking {has}{told}{'.' if mode == 'on' else ': switch on.'}"
    share = (
        f"To be compared, learned ranking and baseline choose in turn in"
        f" {of_sessions(governor.draft_share)}."
    )
    no_say = "The learned ranking has no say yet"
    if not margins.count:
        since = "since it fell behind" if governor.drift_resets else "so far"
        return f"{no_say}: it was compared in no session {since}. {share}"
    return f"{no_say}: {lead_words(margins)}. {describe_missing(missing)}{share}"


def describe_missing(missing: int | None) -> str:
    """Return a sentence, followed by a space, on how many sessions are missing; or ""."""
    if missing is None:
        return ""
    sessions = "session" if missing == 1 else "sessions"
    return f"If that lasts, about {missing} more compared {sessions} are needed. "


def _comparisons() -> list[_Compared]:
    """Return the newest comparisons since the last reset."""
    resets = Event.objects.filter(type="predictor.reset").order_by("-seq")
    last = resets.values_list("at", flat=True).first()
    rows = Comparison.objects.order_by("-created_at", "-id")
    since = rows if last is None else rows.filter(created_at__gt=last)
    # Plain values: the home page reads them, and instances of models take several times as long.
    return [_Compared(*row) for row in since.values_list(*_Compared._fields)[:COMPARISONS_READ]]


def of_sessions(share: float) -> str:
    """Return a share of the sessions to come in words."""
    return "every session" if share >= 1 else f"{percent(share)} of the sessions"
