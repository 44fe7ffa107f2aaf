"""Estimate how likely two texts say the same or contradict each other, where no rule decides.

The features are those of `memories/core/pair_features.py` and `memories/core/token_matches.py`; the
classes are estimated by boosted trees, fitted on labelled pairs whose vectors are near each other,
with the built-in embedding model. `benchmarks/likelihood.py` fits them and measures them on authors
left out.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from memories.core.boosted_trees import BoostedTrees
from memories.core.claim_types import Reading
from memories.core.claims import ClaimComparison
from memories.core.pair_features import features_of
from memories.core.token_matches import WordStates, features_of_matches

MAX_ESTIMATED: Final = 1000  # characters of a text: the trees were fitted on statements
RELATIONS: Final = ("contradicts", "same", "refines", "different", "updates")
TREES_FILE: Final = Path(__file__).with_name("likelihood.npz")


class Likelihood(NamedTuple):
    """Probabilities of the relations; they add up to 1."""

    contradicts: float
    same: float
    refines: float
    different: float
    updates: float


UNKNOWN: Final = Likelihood(0.0, 0.0, 0.0, 1.0, 0.0)


def likelihood_of(
    a: Reading,
    b: Reading,
    found: ClaimComparison,
    cosine: float,
    *,
    states_a: WordStates | None = None,
    states_b: WordStates | None = None,
) -> Likelihood:
    """Estimate the relation of a stored and an incoming text that were compared by rule.

    `states_a` and `states_b` are the texts' token states; without them the estimate is coarser.
    """
    if a.too_long or b.too_long or not a.claims or not b.claims or math.isnan(cosine):
        return UNKNOWN
    features = features_of(a, b, found, cosine) | features_of_matches(states_a, states_b)
    trees = _trees()
    row = np.array([features[name] for name in trees.names], dtype=np.float64)
    return Likelihood(*map(float, trees.probabilities(row)))


@cache
def _trees() -> BoostedTrees:
    return BoostedTrees.load(TREES_FILE)
