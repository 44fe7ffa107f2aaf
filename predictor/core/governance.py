"""Set the weight of the predictor against the baseline from the margins of judged sessions.

The margin of a session is nDCG@10(predictor) - nDCG@10(baseline). A transcript is written after the
session was shown memories, so what is shown is judged more relevant, and the ranking that chose it
looks better than it is. Therefore only margins of sessions count here whose lists were drafted from
both rankings in turn, by coin (`memories.core.drafting`): both sides were shown alike.
`Governor.draft_share` is the probability with which the next session is one of these. The margins
of the others are kept as a description.

Cold start is left when bets on the margins have won enough (`predictor.core.betting`), a test that
may be asked after each session. After it the baseline's weight α follows the probability that the
discounted mean margin is above 0. A cumulative sum (Page 1954) detects a mean margin that fell
below -0.03; each margin enters it as the log likelihood ratio of 0.02 and -0.08, which is smaller
where margins vary more than usual, or where each follows the one before. A tie changes nothing in
it. `benchmarks/governance.py` measures the error rates of these rules. The source document's rules
are also computed, for audit, from all margins.

Pure functions of a state: no clock, no randomness.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from predictor.core import reasons
from predictor.core.betting import Betting
from predictor.core.comparison import NOT_TAKING_PART, TIE
from predictor.core.literal_rules import WINDOW, LiteralRules
from predictor.core.margins import USUAL_DEVIATION, Margins
from predictor.core.stored import CorruptError, load_dataclass

LEAST_ALPHA = 0.1
MIN_SCORED = 10  # sessions, before cold start is first left
MIN_OUT_OF_SAMPLE = 15  # comparisons, since cold start began
RAMP_FLOORS = ((10, 0.8), (20, 0.6))  # (active sessions, least α below that many)
DRIFT_SLACK = 0.03
DRIFT_LIMIT = 6.0

# Probabilities with which a list is drafted from both rankings. All lists in cold start, because
# half of an unknown ranking costs little, and nothing where it is good; fewer where it seems worse.
# Few where the ranking serves, because then half of the baseline costs something; all while the
# cumulative sum says that it may have fallen.
COLD_SHARE = 1.0
DOUBTFUL_SHARE, DOUBTFUL_Z = 0.25, -1.0
HARMFUL_SHARE, HARMFUL_Z = 0.1, -2.5
SERVING_SHARE = 0.3
ALARM = 0.5  # of the cumulative sum


class Phase(StrEnum):
    """Phase of a predictor; it has influence only in RAMP and ACTIVE."""

    COLLECTING = "collecting"  # nothing is trained yet
    WARMING = "warming"  # trained, cold start not left
    RAMP = "ramp"
    ACTIVE = "active"
    RETRAINING = "retraining"  # after a drift reset, until the next promotion


SERVING = frozenset({Phase.RAMP, Phase.ACTIVE})


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """The facts of one session that the governor uses.

    Parameters
    ----------
    margin : nDCG@10 of the predictor minus the baseline's; None when void.
    void_reason : why the comparison is void; when given, the margin is ignored.
    is_scored : whether the judge scored the session.
    is_trained : whether the predictor's scores came from a trained model.
    is_out_of_sample : whether no training had used the session when its scores were made.
    is_served : whether the scores influenced which memories the session was given.
    is_drafted : whether its list was drafted from both rankings by coin; else the margin is a
        description only, because the ranking that chose the list looks better than it is.
    drafted_margin : the margin over what could be drafted; None when it is `margin`.

    Raises
    ------
    ValueError
        When a margin is not a finite number: it would spoil every later mean.
    """

    margin: float | None
    void_reason: str = ""
    is_scored: bool = True
    is_trained: bool = False
    is_out_of_sample: bool = False
    is_served: bool = True
    is_drafted: bool = True
    drafted_margin: float | None = None

    def __post_init__(self) -> None:
        """Reject a margin that is not finite."""
        for margin in (self.margin, self.drafted_margin):
            if margin is not None and not math.isfinite(margin):
                raise ValueError(f"a margin must be a finite number, not {margin}")

    @property
    def evidence(self) -> float | None:
        """Return the margin that influence depends on, in [-1, 1]; None when there is none."""
        if not self.is_drafted or self.described is None:
            return None
        if self.drafted_margin is None:
            return self.described
        return _within_bounds(self.drafted_margin)

    @property
    def described(self) -> float | None:
        """Return the margin in [-1, 1], 0 for a tie, of any valid comparison; None when void."""
        if self.margin is None or self.void_reason or not self.is_trained:
            return None
        return _within_bounds(self.margin)


# The name by which programs outside this repository import it; a table is called so here.
Comparison = SessionOutcome


@dataclass(frozen=True, slots=True)
class Governor:
    """The state after some sessions; `update` returns the next.

    `margins`, `betting`, `out_of_sample` and `active_sessions` count since influence was last lost;
    `is_reset` is whether the last update was a drift reset. Bets are only on margins out of sample.
    `shown` has all margins, also of lists that were not drafted: it decides nothing. `adopted_at`
    is the number of scored sessions when cold start was last left, 0 while it is not.
    """

    phase: Phase = Phase.COLLECTING
    scored_sessions: int = 0
    out_of_sample: int = 0
    active_sessions: int = 0
    margins: Margins = field(default_factory=Margins)
    betting: Betting = field(default_factory=Betting)
    shown: Margins = field(default_factory=Margins)
    adopted_at: int = 0
    drift_sum: float = 0.0
    drift_resets: int = 0
    is_reset: bool = False
    literal: LiteralRules = field(default_factory=LiteralRules)

    @classmethod
    def initial(cls, *, drift_reset_window: int = WINDOW) -> Governor:
        """Return the state before the first session; the window is the literal drift rule's."""
        return cls(literal=LiteralRules(window=drift_reset_window))

    def update(self, comparison: SessionOutcome) -> Governor:
        """Return the state after one more session."""
        after = replace(
            self,
            scored_sessions=self.scored_sessions + comparison.is_scored,
            active_sessions=self.active_sessions + self._was_served(comparison),
            is_reset=False,
            literal=self.literal.after_void(),
        )
        if comparison.is_trained and after.phase is Phase.COLLECTING:
            after = replace(after, phase=Phase.WARMING)
        if comparison.described is not None:
            after = replace(
                after,
                shown=after.shown.add(comparison.described),
                literal=after.literal.after_comparison(comparison.described),
            )
        if comparison.evidence is not None:
            after = after._add_margin(comparison.evidence, comparison.is_out_of_sample)
        return after._advance_phase()

    def after_training(self) -> Governor:
        """Return the state after a promotion; the evidence is kept."""
        if self.phase in {Phase.COLLECTING, Phase.RETRAINING}:
            return replace(self, phase=Phase.WARMING)
        return self

    def after_replacement(self) -> Governor:
        """Return the state after a model that was not compared with the served one replaced it.

        The evidence is dropped; the state of the literal rules is kept.
        """
        return replace(
            self,
            phase=Phase.WARMING,
            margins=Margins(),
            betting=Betting(),
            shown=Margins(),
            adopted_at=0,
            out_of_sample=0,
            active_sessions=0,
            drift_sum=0.0,
            is_reset=False,
        )

    @property
    def alpha(self) -> float:
        """Return the baseline's weight for the next session, in [0.1, 1]."""
        if self.phase not in SERVING:
            return 1.0
        return max(self.earned_alpha, self.floor)

    @property
    def earned_alpha(self) -> float:
        """Return the baseline's weight by the evidence alone."""
        return min(1.0, max(LEAST_ALPHA, 1 - (1 - LEAST_ALPHA) * self.margins.confidence))

    @property
    def floor(self) -> float:
        """Return the least baseline weight that the ramp allows now."""
        floors = (least for until, least in RAMP_FLOORS if self.active_sessions < until)
        return next(floors, LEAST_ALPHA)

    @property
    def draft_share(self) -> float:
        """Return the probability with which the next session's list is drafted from both."""
        if self.phase in SERVING:
            return COLD_SHARE if self.drift_sum > ALARM else SERVING_SHARE
        if self.out_of_sample < MIN_OUT_OF_SAMPLE or self.z > DOUBTFUL_Z:
            return COLD_SHARE
        return DOUBTFUL_SHARE if self.z > HARMFUL_Z else HARMFUL_SHARE

    @property
    def z(self) -> float:
        """Return the number of standard errors by which the mean margin lies above 0."""
        return self.margins.z

    @property
    def n_eff(self) -> float:
        """Return the effective number of comparisons."""
        return self.margins.n_eff

    @property
    def success_rate(self) -> float:
        """Return the recent share of comparisons won, a tie being half a win (displayed only)."""
        return self.literal.success_rate

    @property
    def literal_alpha(self) -> float:
        """Return the weight by the source document's rule (displayed only)."""
        return self.literal.alpha

    @property
    def is_literal_reset(self) -> bool:
        """Return whether the source document's drift rule reset at the last update."""
        return self.literal.is_reset

    @property
    def reason(self) -> str:
        """Return sentences in plain words that explain α."""
        if self.phase is Phase.COLLECTING:
            return reasons.UNTRAINED
        if self.phase in {Phase.WARMING, Phase.RETRAINING}:
            return reasons.cold_words(
                self.margins,
                unmet=self._first_unmet(),
                resets=self.drift_resets,
                is_lost=self.phase is Phase.RETRAINING,
            )
        told = reasons.earned_words(self.margins, share=1 - self.alpha)
        limits = [one for one in RAMP_FLOORS if self.active_sessions < one[0]]
        if self.phase is not Phase.RAMP or not limits:
            return told
        until, floor = limits[0]
        earned, done = 1 - self.earned_alpha, self.active_sessions
        limit = reasons.ramp_words(earned=earned, most=1 - floor, done=done, until=until)
        return f"{told} {limit}"

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain values, with the derived figures for readers."""
        derived = {
            "alpha": self.alpha,
            "mean_margin": self.margins.mean,
            "z": self.z,
            "n_eff": self.n_eff,
            "wealth": self.betting.wealth,
            "draft_share": self.draft_share,
            "reason": self.reason,
        }
        return {**asdict(self), "phase": self.phase.value, **derived}

    @classmethod
    def from_json(cls, stored: object, *, drift_reset_window: int | None = None) -> Governor:
        """Return a stored state, or the initial one, without influence, when it cannot be read.

        A given window replaces the stored one.
        """
        try:
            found = load_dataclass(cls, _fill_missing(stored))
        except CorruptError:
            found = cls.initial()
        if drift_reset_window is None:
            return found
        return replace(found, literal=replace(found.literal, window=drift_reset_window))

    def _was_served(self, comparison: SessionOutcome) -> bool:
        """Return whether the predictor influenced the session."""
        if self.phase not in SERVING or not comparison.is_served:
            return False
        return comparison.is_trained and comparison.void_reason not in NOT_TAKING_PART

    def _add_margin(self, margin: float, is_out_of_sample: bool) -> Governor:
        margins = self.margins.add(margin)
        drift_sum = self._drift_sum(margin, margins.noise(self.betting.correlation))
        after = replace(
            self,
            margins=margins,
            betting=self.betting.add(margin) if is_out_of_sample else self.betting,
            drift_sum=drift_sum,
            out_of_sample=self.out_of_sample + is_out_of_sample,
        )
        return after._reset() if drift_sum > DRIFT_LIMIT else after

    def _drift_sum(self, margin: float, noise: float) -> float:
        """Return the cumulative sum after a margin.

        After a reset it stays 0 until the ranker has influence again: without influence there is
        nothing to reset, and it is retrained every few sessions anyway.
        """
        if self.drift_resets and self.phase not in SERVING:
            return 0.0
        if not margin:
            return self.drift_sum
        surprise = self.betting.innovation(margin, -DRIFT_SLACK) / (1 + self.betting.correlation)
        return max(0.0, self.drift_sum - surprise * USUAL_DEVIATION / noise)

    def _reset(self) -> Governor:
        """Return to cold start, keeping the state of the literal rules.

        A predictor that never left cold start keeps its evidence: dropping it would give a bad
        predictor a new chance.
        """
        after = replace(self, drift_sum=0.0, drift_resets=self.drift_resets + 1, is_reset=True)
        if self.phase in SERVING:
            after = replace(
                after, margins=Margins(), betting=Betting(), out_of_sample=0, active_sessions=0
            )
        return replace(after, phase=Phase.RETRAINING, adopted_at=0)

    def _advance_phase(self) -> Governor:
        """Leave cold start, and later the ramp, when their conditions hold."""
        if self.phase in {Phase.WARMING, Phase.RETRAINING} and not self._first_unmet():
            return replace(
                self, phase=Phase.RAMP, active_sessions=0, adopted_at=self.scored_sessions
            )
        if self.phase is Phase.RAMP and self.active_sessions >= RAMP_FLOORS[-1][0]:
            return replace(self, phase=Phase.ACTIVE)
        return self

    def _first_unmet(self) -> str:
        """Return the first unmet condition for leaving cold start; empty when all are met."""
        if not self.drift_resets and self.scored_sessions < MIN_SCORED:
            return reasons.few_judged(self.scored_sessions, MIN_SCORED)
        if self.out_of_sample < MIN_OUT_OF_SAMPLE:
            return reasons.few_compared(self.out_of_sample, MIN_OUT_OF_SAMPLE)
        return "" if self.betting.is_enough else reasons.may_be_chance(self.margins)


def _within_bounds(margin: float) -> float:
    return 0.0 if abs(margin) < TIE else min(1.0, max(-1.0, margin))


def _fill_missing(stored: object) -> object:
    """Return a stored state with the fields that older releases did not store."""
    if not isinstance(stored, Mapping) or not isinstance(stored.get("margins"), Mapping):
        return stored
    first = Margins()
    margins = {"steps": first.steps, "last": first.last, **stored["margins"]}
    missing = {"betting": asdict(Betting()), "shown": margins, "adopted_at": 0}
    filled = {**missing, **stored, "margins": margins}
    if isinstance(betting := filled["betting"], Mapping):
        unknown = 1.0 if betting.get("count") else 0.0  # nothing is ruled out
        filled["betting"] = {"worst": unknown, **betting}
    return filled
