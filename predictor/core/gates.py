"""Gates that a new model must pass, on sessions held out of training, before it serves."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memories.core.shares import percent
from predictor.core.metrics import Interval, bootstrap_difference

MIN_CANARY = 5  # sessions from which on a comparison on them may block
MAX_DROP = 0.15
MIN_OVERLAP = 0.6
TOP = 5

# What each gate asks of the new model, and what it is when it fails, in plain words.
WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "finite": ("weights are numbers", "weights are no numbers"),
    "variance": ("tells memories apart", "tells no memories apart"),
    "canary": ("no worse on sessions held back", "worse on sessions held back"),
    "overlap": ("lists change little at once", "lists change too much"),
}


def gate_words(name: str) -> str:
    """Return what a gate asks of the new model; the name of a gate of another release."""
    return WORDS.get(name, (name, name))[0]


def failures_in_words(gates: object) -> list[str]:
    """Return what a new model is by the gates that it failed, as they are stored."""
    stored = gates if isinstance(gates, list) else []
    failed = [str(gate.get("name")) for gate in stored if not gate.get("is_passed")]
    return [WORDS.get(name, (name, name))[1] for name in failed]


@dataclass(frozen=True, slots=True)
class Canary:
    """How a model ranks the canary sessions, which come in the same order for both models.

    Parameters
    ----------
    ndcg : nDCG@10 of each session.
    score_variance : of the scores within a session, averaged over sessions.
    top : the first five ids of each session.
    """

    ndcg: Sequence[float]
    score_variance: float
    top: Sequence[Sequence[Hashable]]


@dataclass(frozen=True, slots=True)
class Gate:
    """One check of a training; `detail` explains the result."""

    name: str
    is_passed: bool
    detail: str


def check_gates(
    before: Canary | None,
    after: Canary | None,
    *,
    is_finite: bool,
    promoted_models: int,
    rng: np.random.Generator,
    learned_variance: float | None = None,
) -> list[Gate]:
    """Return the result of every gate; the model may serve when all are passed.

    Parameters
    ----------
    before : the served model on the canary; None when no model is served.
    after : the new model on the canary; None when there are no canary sessions.
    is_finite : whether all losses, parameters and scores are finite numbers.
    promoted_models : number of models promoted so far; the first needs no overlap.
    learned_variance : as `Canary.score_variance`, on the training sessions; used when there are
        no canary sessions.
    """
    detail = "all numbers are finite" if is_finite else "a loss, parameter or score is not finite"
    results = [Gate("finite", is_finite, detail), _variance(after, learned_variance)]
    if before is None or after is None:
        waived = "nothing was learned before" if before is None else "there is no canary session"
        return [*results, Gate("canary", True, waived), Gate("overlap", True, waived)]
    if len(after.ndcg) < MIN_CANARY:
        waived = f"{len(after.ndcg)} canary sessions, {MIN_CANARY} are needed to tell"
        return [*results, Gate("canary", True, waived), Gate("overlap", True, waived)]
    change = bootstrap_difference(after.ndcg, before.ndcg, rng=rng)
    return [*results, _canary(change), _overlap(before, after, change, promoted_models)]


def overlap_of(before: Canary, after: Canary) -> float:
    """Return the share of the first five that both models agree on, averaged over sessions."""
    shares = [
        len(set(old) & set(new)) / max(len(set(old)), len(set(new)), 1)
        for old, new in zip(before.top, after.top, strict=True)
    ]
    return float(np.mean(shares)) if shares else 1.0


def _variance(after: Canary | None, learned_variance: float | None) -> Gate:
    if after is not None and after.ndcg:
        variance, where = after.score_variance, ""
    elif learned_variance is not None:
        variance, where = learned_variance, " on what was learned from"
    else:
        return Gate("variance", True, "there is no session to measure it on")
    return Gate("variance", variance > 0, f"score variance {variance:.3g}{where}")


def _canary(change: Interval) -> Gate:
    """Fail when nDCG falls by more than 0.15, or when its 95 % interval lies below 0."""
    detail = (
        f"nDCG {change.mean:+.3f} [{change.low:+.3f}, {change.high:+.3f}] over {change.n} sessions"
    ).replace("-", "−")
    return Gate("canary", change.mean >= -MAX_DROP - 1e-9 and change.high >= 0, detail)


def _overlap(before: Canary, after: Canary, change: Interval, promoted_models: int) -> Gate:
    """Fail when the first five change too much, unless nDCG rises or this is the first model."""
    share = overlap_of(before, after)
    kept = math.floor(share * 100 + 1e-9) / 100  # rounded up, it would seem to be enough
    detail = f"{percent(kept)} of the first {TOP} stay"
    if share >= MIN_OVERLAP:
        return Gate("overlap", True, detail)
    if promoted_models < 1:
        return Gate(
            "overlap", True, f"{detail}; the first version may differ from what was before it"
        )
    if change.low > 0:
        return Gate(
            "overlap", True, f"{detail}; waived, as nDCG rises by at least {change.low:.3f}"
        )
    return Gate("overlap", False, f"{detail}, {percent(MIN_OVERLAP)} are needed")
