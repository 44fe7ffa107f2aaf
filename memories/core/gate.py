"""Decide whether a new memory merges with its nearest stored one: the redundancy gate.

A pure function: the cosine selects the pair, claim comparison decides. Similar memories merge
only where the comparison finds that they state the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from memories.core.claims import Claim, ClaimComparison, Reading
from memories.core.function_words import POINTERS
from memories.core.likelihood import Likelihood

Side = Literal["stored", "incoming"]
GateOutcome = Literal["created", "merged", "kept_apart", "suggested"]

PROVENANCE_RANK = {"user_stated": 3, "episode_summary": 2, "assistant_derived": 1}
SURE = 0.6  # a `same` or `refines` below this is only suggested
CLEARLY_DIFFERENT = 0.5  # confidence from which a `different` is not suggested
# Cosine plus share of words from which an unsure `different` is suggested to a person: the fewer
# words two texts share, the closer their vectors must be. Measured on the gate pairs and on
# memories that are near each other by chance.
ALIKE = 1.1
# A pair that no rule decides is kept apart from this likelihood of a contradiction. Below it, it is
# suggested when it is likely enough the same, or when one text most likely holds the other. All
# were chosen together on the estimates of authors left out (`benchmarks/likelihood.py`), so what
# is measured there is a little too good.
APART = 0.82
MAY_BE_SAME = 0.505  # `rate_sameness`
LEAST_SAME = 0.2  # likelihood of "the same", however unlikely a contradiction is
MAY_BE_HELD = 0.85  # the same, or one says more
NO_CONTRADICTION = 0.1
CONTRADICTION_FLOOR = 0.02  # added to the likelihood of a contradiction, which may be 0
UNLIKELY = 0.3  # likelihood below which a contradiction found by rule is not trusted
DOUBTFUL = 0.5  # likelihood of a contradiction from which two texts do not merge by themselves
_HEDGES = frozenset(
    ["maybe", "perhaps", "probably", "possibly", "likely", "apparently", "seemingly", "presumably",
     "roughly", "approximately", "about", "around", "somewhat", "fairly", "seems", "seem",
     "appears", "think", "guess", "believe", "might", "could", "supposedly", "reportedly", "kind",
     "sort", "usually", "generally", "often", "sometimes", "unsure", "unclear"]
)  # fmt: skip
_POINTERS = POINTERS | {"there", "their", "same"}


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The gate's outcome, the wording that a merge keeps, and the reasons.

    A merge that does not fold only adds an observation: the stored memory stays unchanged.
    """

    outcome: GateOutcome
    survivor: Side
    reasons: tuple[str, ...]
    folds: bool = True


def decide(
    comparison: ClaimComparison,
    cosine: float,
    *,
    threshold: float,
    policy: str,
    provenance_stored: str,
    provenance_incoming: str,
    better: Side = "stored",
    chances: Likelihood | None = None,
) -> GateDecision:
    """Decide the outcome for an incoming memory.

    Parameters
    ----------
    comparison : Comparison
        `compare(stored, incoming)`.
    cosine : float
        Similarity of the two vectors, -1..1; NaN counts as below the threshold.
    threshold : float
        Least cosine of a pair that is compared.
    policy : str
        "merge", "suggest" or "off".
    provenance_stored, provenance_incoming : str
        Classes of provenance; unknown ones rank lowest.
    better : {"stored", "incoming"}
        The better wording (see `choose_better_wording`), used where the relation is `same` and the
        classes are equal.
    chances : Likelihood or None
        How the two texts relate where no rule decides; None without an estimate.

    Returns
    -------
    Decision
        "created" (nothing to do), "merged", "kept_apart" (they contradict), or "suggested"
        (both stay, and a person decides).
    """
    if policy == "off":
        return GateDecision("created", "stored", ("the gate is off",))
    if math.isnan(cosine) or cosine < threshold:
        return GateDecision("created", "stored", ("no stored memory is close enough",))
    if comparison.relation == "contradicts":
        return _decide_contradiction(comparison, chances)
    if comparison.relation == "different":
        return _decide_undecided(comparison, cosine, chances)
    survivor = choose_surviving_wording(comparison, provenance_stored, provenance_incoming, better)
    reason = _why_not_merge(comparison, policy, provenance_stored, provenance_incoming)
    if chances and chances.contradicts >= DOUBTFUL:
        reason = reason or "the two may contradict each other"
    if reason:
        return GateDecision("suggested", survivor, (*comparison.reasons, reason))
    return GateDecision("merged", survivor, comparison.reasons)


def _decide_contradiction(comparison: ClaimComparison, chances: Likelihood | None) -> GateDecision:
    """Keep a contradiction apart; an announced change and an unlikely one are only stored."""
    if comparison.is_announced:
        return GateDecision("created", "stored", (*comparison.reasons, "a change is announced"))
    if chances and chances.contradicts < UNLIKELY:
        return GateDecision("created", "stored", (*comparison.reasons, "but this is unlikely"))
    return GateDecision("kept_apart", "stored", comparison.reasons)


def _decide_undecided(
    comparison: ClaimComparison, cosine: float, chances: Likelihood | None
) -> GateDecision:
    """Decide about a pair that the rules call different, which may only mean undecided."""
    is_clear = comparison.confidence >= CLEARLY_DIFFERENT
    if chances is None:
        is_alike = cosine + comparison.likeness >= ALIKE
    elif chances.contradicts >= APART:
        reasons = (*comparison.reasons, "they probably contradict each other")
        return GateDecision("kept_apart", "stored", reasons)
    else:
        is_same = chances.same >= LEAST_SAME and rate_sameness(chances) >= MAY_BE_SAME
        is_held = chances.same + chances.refines >= MAY_BE_HELD
        is_alike = is_same or (is_held and chances.contradicts < NO_CONTRADICTION)
    outcome: GateOutcome = "suggested" if is_alike and not is_clear else "created"
    return GateDecision(outcome, "stored", comparison.reasons)


def rate_sameness(chances: Likelihood) -> float:
    """Return from 0 to about 7 how much speaks for "the same", and not for a contradiction."""
    return chances.same / math.sqrt(chances.contradicts + CONTRADICTION_FLOOR)


def _rank(provenance: str) -> int:
    return PROVENANCE_RANK.get(provenance, 0)


def choose_surviving_wording(
    comparison: ClaimComparison, stored: str, incoming: str, better: Side
) -> Side:
    """Return whose wording a merge keeps, by classes of provenance.

    The higher class keeps its wording; within a class the more specific, then the better.
    """
    if _rank(stored) != _rank(incoming):
        return "stored" if _rank(stored) > _rank(incoming) else "incoming"
    if comparison.relation == "refines":
        return "incoming" if comparison.more_specific == "b" else "stored"
    return better


def _why_not_merge(comparison: ClaimComparison, policy: str, stored: str, incoming: str) -> str:
    if policy != "merge":
        return "the workspace asks for suggestions only"
    if comparison.confidence < SURE:
        return "the comparison is not sure enough"
    if stored != incoming and comparison.relation != "same":
        return "another class of provenance says more: only equal claims merge across classes"
    return ""


def choose_better_wording(
    a: str, b: str, reading_a: Reading, reading_b: Reading
) -> Literal["a", "b"]:
    """Return the better wording of one claim: with a clear subject, less hedged, more specific.

    Parameters
    ----------
    a, b : str
        The two texts, the stored one first.
    reading_a, reading_b : Reading
        `read(a)`, `read(b)`.

    Returns
    -------
    {"a", "b"}
        "a" on a tie.
    """
    return "b" if _merit(b, reading_b) > _merit(a, reading_a) else "a"


def _merit(text: str, reading: Reading) -> tuple[bool, int, int, int]:
    words = text.lower().replace(",", " ").replace(".", " ").split()
    hedges = sum(word in _HEDGES for word in words)
    values = sum(_count_values(claim) for claim in reading.claims)
    is_anchored = bool(reading.words) and not (words and words[0] in _POINTERS)
    return is_anchored, -hedges, values, len(reading.words)


def _count_values(claim: Claim) -> int:
    fixed = len(claim.quantities) + len(claim.dates) + len(claim.versions)
    return fixed + len(claim.identifiers)
