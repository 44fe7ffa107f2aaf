"""Estimate how likely a memory is of use for a query, and choose what to return.

    relevance = 1 / (1 + exp(-(intercept + match·m + memories·ln N + terms·ln(1 + T))))

m is how well the memory alone matches the query: `own` of `memories.core.fusion`, without trust,
age or its session. N is the number of memories in the workspace (the more there are, the better
the best of those that are no answer matches), at most that of the largest labelled conversation:
larger labelled workspaces hold passages alone, and the logarithm would mistake the kind of text for
size and demand a match in large workspaces that no answer reaches. T is the number of the
query's index terms, kept between three and twelve (a query of one word is no less likely to have an
answer than one of three, and few of the labelled questions are longer than twelve). The
coefficients are a logistic regression on labelled questions, one for each way to match
(`Evidence`), with the built-in embedding model; `benchmarks/relevance.py` fits them, and measures
them on kinds of text left out (`benchmarks/results/relevance.json`).

What is returned is chosen for each query from what was found (`select`): nothing where no
memory's relevance reaches `least`, else all that match at least `CLOSE` as well as the best, by
`fused` of `memories.core.fusion`, so that a turn is kept which those around it explain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

MIN_TERMS, MAX_TERMS = 3, 12
MAX_MEMORIES = 690
LEAST = 0.06
CLOSE = 0.6
CONTEXT_LEAST = 0.15
CONTEXT_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Calibration:
    """The coefficients of the logistic regression."""

    intercept: float
    match: float
    memories: float
    terms: float

    def relevance(self, match: float, *, memories: int, terms: int) -> float:
        """Return the probability, in (0, 1)."""
        logit = (
            self.intercept
            + self.match * match
            + self.memories * math.log(min(max(memories, 1), MAX_MEMORIES))
            + self.terms * math.log1p(min(max(terms, MIN_TERMS), MAX_TERMS))
        )
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


class Evidence(Enum):
    """What a match was computed from."""

    RERANKED = "words, vector and tokens"
    FIRST = "words and vector"
    WORDS = "words"
    VECTOR = "vector"
    CONTEXT = "vector of a session's context"


CALIBRATIONS = {
    Evidence.RERANKED: Calibration(-5.732, 11.694, -0.846, 1.977),
    Evidence.FIRST: Calibration(-5.308, 10.46, -0.814, 1.661),
    Evidence.WORDS: Calibration(-4.287, 7.697, -0.76, 1.55),
    Evidence.VECTOR: Calibration(-6.871, 12.303, -0.624, 1.215),
    Evidence.CONTEXT: Calibration(-4.452, 11.451, -0.624, 0.463),
}


def evidence_of(*, text_weight: float, is_reranked: bool) -> Evidence:
    """Return what a memory's `own` was computed from, given two of its factors."""
    if is_reranked:
        return Evidence.RERANKED
    return {0.0: Evidence.VECTOR, 1.0: Evidence.WORDS}.get(text_weight, Evidence.FIRST)


class Match(NamedTuple):
    """A memory's relevance, and how well it matches together with its session (`fused`)."""

    relevance: float
    fused: float


def select(matches: Sequence[Match], *, least: float = LEAST) -> list[bool]:
    """Return which of the memories that were found for one query to return.

    Parameters
    ----------
    least : the relevance in [0, 1] that one of them has to reach; 0 returns all that are close to
        the best.
    """
    if not matches or max(match.relevance for match in matches) < least:
        return [False] * len(matches)
    enough = CLOSE * max(match.fused for match in matches)
    return [match.fused >= enough for match in matches]


def select_for_context(
    relevances: Sequence[float | None], *, least: float = CONTEXT_LEAST
) -> list[bool]:
    """Return which candidates of a session are relevant to its context.

    A context is broader than a question, so a fifth of `least` is enough once one reaches it.

    Parameters
    ----------
    relevances : None where unknown (not embedded yet, or no context): these are not left out.
    least : the relevance in [0, 1] that one of them has to reach.
    """
    known = [relevance for relevance in relevances if relevance is not None]
    enough = least if max(known, default=0.0) < least else CONTEXT_SHARE * least
    return [relevance is None or relevance >= enough for relevance in relevances]
