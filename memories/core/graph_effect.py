"""Decide from an evaluation whether links earn their place in recall.

Questions are split by structure; links are expected to matter for those of `RELEVANT`. The effect
is recall@k with links minus without, of the same questions at equal reranking, pooled.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from memories.core.metrics import Interval

EFFECT_LEAST: Final = 0.005
QUESTIONS_LEAST: Final = 100
MANY_GOLD: Final = 3
SEVERAL_GOLD: Final = 2

_TEMPORAL: Final = re.compile(
    r"\b(?:when|before|after|since|until|during|first|last|earlier|later|recently|ago|year|years|"
    r"month|months|week|weeks|day|days|date|time)\b",
    re.IGNORECASE,
)


class Structure(StrEnum):
    """What an answer takes: one memory, a chain, an order in time, or many."""

    LOOKUP = "lookup"
    MULTI_HOP = "multi_hop"
    TEMPORAL = "temporal"
    AGGREGATION = "aggregation"


RELEVANT: Final = frozenset({Structure.MULTI_HOP, Structure.TEMPORAL})

# Labels of data sets that say the structure; others leave it to the question.
_LABELS: Final = {
    "single_hop": Structure.LOOKUP,
    "single-hop": Structure.LOOKUP,
    "lookup": Structure.LOOKUP,
    "multi_hop": Structure.MULTI_HOP,
    "multi-hop": Structure.MULTI_HOP,
    "bridge": Structure.MULTI_HOP,
    "compositional": Structure.MULTI_HOP,
    "inference": Structure.MULTI_HOP,
    "bridge_comparison": Structure.MULTI_HOP,
    "comparison": Structure.MULTI_HOP,
    "temporal": Structure.TEMPORAL,
    "aggregation": Structure.AGGREGATION,
}
_HOPS: Final = re.compile(r"^[2-9]hop\d{0,2}$")


class Verdict(StrEnum):
    """Whether links are kept."""

    KEEP = "keep"
    KILL = "kill"
    INSUFFICIENT_POWER = "insufficient_power"


def structure_of(question: str, gold: int, label: str = "") -> Structure:
    """Return the structure of a question with so many gold memories.

    The data set's label decides; else three gold memories, words of time, two gold memories.
    """
    folded = label.strip().lower()
    if folded in _LABELS:
        return _LABELS[folded]
    if _HOPS.match(folded):
        return Structure.MULTI_HOP
    if gold >= MANY_GOLD:
        return Structure.AGGREGATION
    if _TEMPORAL.search(question):
        return Structure.TEMPORAL
    return Structure.MULTI_HOP if gold >= SEVERAL_GOLD else Structure.LOOKUP


def verdict_of(effect: Interval, aggregate: Interval, *, is_inside: bool) -> Verdict:
    """Return the verdict.

    Parameters
    ----------
    effect : the differences on the questions of `RELEVANT`; `n` counts questions, not cells.
    aggregate : on all questions.
    is_inside : whether all that links led to was in the scored list: else nothing was measured.
    """
    if not is_inside or effect.n < QUESTIONS_LEAST:
        return Verdict.INSUFFICIENT_POWER
    if effect.mean > EFFECT_LEAST:
        return Verdict.KEEP
    return Verdict.KILL if aggregate.mean <= 0 else Verdict.INSUFFICIENT_POWER
