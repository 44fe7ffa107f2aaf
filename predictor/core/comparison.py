"""Compare the predictor's ranking of a session with the baseline's, by the judge's relevance.

Only judged ids count, each once. The adjusted labels of `predictor.core.labels` are not used here,
because they depend on which memories were shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from predictor.core.labels import MIN_CONFIDENCE, is_flat
from predictor.core.metrics import ndcg

Id = TypeVar("Id", bound=Hashable)

TOP = 10
TIE = 1e-9

NOTHING_JUDGED = "nothing judged"
NO_SCORES = "no scores"
NOT_TRAINED = "not trained"
NO_POSITIVE = "no positive"
LOW_CONFIDENCE = "low confidence"
FLAT = "flat"
ALIKE = "all labels alike"  # of a judgement: a ranking cannot be learned from it
SHOWN_ONLY = "only shown memories judged"
NOT_DRAFTED = "the list was not drafted from both rankings"
NOT_TAKING_PART = frozenset({NO_SCORES, NOT_TRAINED})  # the predictor did not rank the session


@dataclass(frozen=True, slots=True)
class RankingComparison:
    """Result of comparing predictor and baseline on one session.

    `margin` is nDCG@10(predictor) - nDCG@10(baseline), None when the comparison is void; the two
    nDCG values are set whenever they can be computed, for the audit.
    """

    outcome: Literal["win", "loss", "tie", "void"]
    void_reason: str = ""
    predictor_ndcg: float | None = None
    baseline_ndcg: float | None = None
    margin: float | None = None


def select_judged_pool(
    baseline_top: Iterable[Id], predictor_top: Iterable[Id], injected: Iterable[Id]
) -> list[Id]:
    """Return the ids to judge: the top of both rankings and the injected memories, each once."""
    return list(dict.fromkeys([*baseline_top, *predictor_top, *injected]))


def compare(
    baseline_ranked: Sequence[Id],
    predictor_ranked: Sequence[Id] | None,
    relevance: Mapping[Id, float],
    *,
    confidence: float,
    is_trained: bool,
    is_of_shown: bool = False,
) -> RankingComparison:
    """Compare two rankings, best first, over the judged ids.

    Parameters
    ----------
    predictor_ranked : None when the predictor gave no scores.
    relevance : the judge's relevance by id; gains are clamped to [0, 1].
    confidence : the judge's, in [0, 1]; below 0.6 the comparison is void.
    is_trained : whether the scores came from a trained model.
    is_of_shown : whether only what was shown to the session was judged: then the comparison is
        void, because the ranking that chose it would be compared on its own choice.
    """
    reason = _void_reason(predictor_ranked, relevance, confidence, is_trained)
    reason = reason or (SHOWN_ONLY if is_of_shown else "")
    if not any(gain > 0 for gain in relevance.values()):
        return RankingComparison("void", reason)
    baseline = ndcg(baseline_ranked, relevance, TOP)
    predictor = None if predictor_ranked is None else ndcg(predictor_ranked, relevance, TOP)
    if reason or predictor is None:
        return RankingComparison("void", reason, predictor, baseline)
    margin = predictor - baseline
    if abs(margin) < TIE:
        return RankingComparison("tie", "", predictor, baseline, 0.0)
    return RankingComparison("win" if margin > 0 else "loss", "", predictor, baseline, margin)


def _void_reason(
    predictor_ranked: Sequence[Id] | None,
    relevance: Mapping[Id, float],
    confidence: float,
    is_trained: bool,
) -> str:
    """Return the first reason why the comparison is void, the judge's first; empty when valid."""
    gains = relevance.values()
    reasons = {
        NOTHING_JUDGED: not gains,
        LOW_CONFIDENCE: not confidence >= MIN_CONFIDENCE,  # also what is not a number
        NO_POSITIVE: not any(gain > 0 for gain in gains),
        FLAT: is_flat(gains),
        NO_SCORES: predictor_ranked is None,
        NOT_TRAINED: not is_trained,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")
