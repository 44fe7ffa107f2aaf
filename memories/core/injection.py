"""Choose the memories to inject at session start: fuse two rankings, diversify, apply bounds.

1. Constraints come first, then pins, each by their precedence, then the others by fused and
   diversified score.
2. Constraints and pins take at most half of the `k` places (one at least), constraints regardless
   of the budget, pins when they fit. The others take the rest; those that do not fit are skipped;
   the remaining places go to the other constraints and pins that fit. Candidates that are not
   relevant to the session's context are not injected, unless the learned ranker finds them likely
   to be of use, and the list is drafted or the ranker has influence.
3. With a given probability the others are drafted from both rankings in turn
   (`memories.core.drafting`), as many as without: only such a list tells which ranking is better.
4. Exploration of a list that is not drafted: with the given probability the lowest of the others is
   replaced by the candidate that was not injected, fits, and on which the rankings disagree most.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memories.core.diversity import choose_diverse
from memories.core.drafting import Side, draft
from memories.core.rrf import RRF_K, rrf

Id = TypeVar("Id", bound=Hashable)
InjectionSource = Literal["effective", "predictor", "both", "exploration"]
Always = Literal["", "pin", "constraint"]
# Above every fused score, which is below 1.
_LIFT: dict[Always, float] = {"": 0.0, "pin": 1.0, "constraint": 2.0}

_ALONE: dict[Side, float] = {"baseline": 1.0, "predictor": 0.0}  # the weight of the baseline


class Contender(NamedTuple, Generic[Id]):
    """A candidate: its length in characters, and whether it is a pin or constraint.

    `precedence` orders constraints, and pins, among themselves: lowest first. A candidate that is
    not relevant is injected only as a constraint or pin, or where `is_promising`, likely to be of
    use by what was learned, counts.
    """

    id: Id
    chars: int
    always: Always = ""
    precedence: tuple[float, ...] = ()
    is_relevant: bool = True
    is_promising: bool = False

    @property
    def may_be_of_use(self) -> bool:
        """Return whether the context or what was learned says so."""
        return self.is_relevant or self.is_promising


@dataclass(frozen=True, slots=True)
class LearnedScores(Generic[Id]):
    """The learned ranking: scores of all candidates or none; `alpha` is the baseline's weight.

    `draft_share` is the probability with which the list is drafted from both rankings.
    """

    scores: Mapping[Id, float]
    alpha: float = 1.0
    rrf_k: int = RRF_K
    exploration_rate: float = 0.0
    draft_share: float = 0.0


@dataclass(frozen=True, slots=True)
class InjectionBudget:
    """The number of memories to inject, and of their characters together."""

    k: int
    chars: int

    @property
    def places_of_leading(self) -> int:
        """Return the number of places for constraints and pins while there are other candidates."""
        return max(1, self.k // 2)


class Placed(NamedTuple, Generic[Id]):
    """A ranked candidate; ranks count from 1, `final` is `fused` · `diversity`.

    `source` names the ranking that has it among its best `k`: both, the predictor alone, else the
    baseline (also for a candidate that neither ranks so high). `is_relevant` says whether it may be
    injected without being a pin or constraint. `drafted_by` is the side that
    chose it for a drafted list, whose candidates are in the order of their places, not by `final`.
    """

    id: Id
    rank: int
    baseline_rank: int
    predictor_rank: int | None
    fused: float
    diversity: float
    always: Always
    source: InjectionSource
    is_relevant: bool = True
    is_injected: bool = False
    drafted_by: Side | Literal[""] = ""

    @property
    def final(self) -> float:
        """Return the score that orders candidates below constraints and pins."""
        return self.fused * self.diversity

    @property
    def disagreement(self) -> int:
        """Return the difference of its two ranks."""
        return 0 if self.predictor_rank is None else abs(self.baseline_rank - self.predictor_rank)


def inject(
    contenders: Sequence[Contender[Id]],
    learned: LearnedScores[Id],
    vectors: Mapping[Id, NDArray[np.float32]],
    budget: InjectionBudget,
    *,
    rng: Random,
) -> list[Placed[Id]]:
    """Return all candidates in order, those to inject marked.

    Parameters
    ----------
    contenders : in the baseline's order, best first.
    vectors : unit vectors (dim,); a candidate without one repeats nothing.
    rng : used only when there are scores and a draft share or an exploration rate.
    """
    may_draft = bool(learned.scores) and learned.draft_share > 0
    is_drafted = may_draft and rng.random() < learned.draft_share
    if is_drafted or (learned.scores and learned.alpha < 1):
        # For both rankings alike: a drafted list must not tell which of them opened it.
        contenders = [one._replace(is_relevant=one.may_be_of_use) for one in contenders]
    placed = _order(contenders, learned, vectors, budget.k)
    chars = {one.id: one.chars for one in contenders}
    placed, left = _mark_injected(placed, chars, budget)
    if is_drafted:
        orders = {
            side: _order(contenders, replace(learned, alpha=alpha), vectors, budget.k)
            for side, alpha in _ALONE.items()
        }
        return _draft(placed, orders, chars, left, rng)
    may_explore = learned.scores and learned.exploration_rate > 0
    if may_explore and rng.random() < learned.exploration_rate:
        return _explore(placed, chars, left)
    return placed


def _order(
    contenders: Sequence[Contender[Id]],
    learned: LearnedScores[Id],
    vectors: Mapping[Id, NDArray[np.float32]],
    k: int,
) -> list[Placed[Id]]:
    baseline = [one.id for one in contenders]
    always = {one.id: one.always for one in contenders}
    ranks_b = {i: rank for rank, i in enumerate(baseline, 1)}
    predicted = sorted(baseline, key=lambda i: -learned.scores[i]) if learned.scores else []
    ranks_p = {i: rank for rank, i in enumerate(predicted, 1)}
    alpha = learned.alpha if predicted else 1.0
    relevant = {one.id for one in contenders if one.is_relevant}
    fused = rrf(baseline, predicted, alpha=alpha, k=learned.rrf_k)
    # Above the others; among themselves by precedence, so that no ranking decides which pin is one
    # too many.
    leading = sorted((one for one in contenders if one.always), key=lambda one: one.precedence)
    lifted = fused | {
        one.id: _LIFT[one.always] + 1 / (1 + place) for place, one in enumerate(leading, 1)
    }
    exempt = {i for i, kind in always.items() if kind}
    chosen = choose_diverse(lifted, vectors, exempt=exempt)
    return [
        Placed(
            id=one.id,
            rank=rank,
            baseline_rank=ranks_b[one.id],
            predictor_rank=ranks_p.get(one.id),
            fused=fused[one.id],
            diversity=one.multiplier,
            always=always[one.id],
            source=_source(ranks_b[one.id], ranks_p.get(one.id), k),
            is_relevant=one.id in relevant,
        )
        for rank, one in enumerate(chosen, 1)
    ]


def _source(baseline_rank: int, predictor_rank: int | None, k: int) -> InjectionSource:
    if predictor_rank is None or predictor_rank > k:
        return "effective"
    return "both" if baseline_rank <= k else "predictor"


def _mark_injected(
    placed: Sequence[Placed[Id]], chars: Mapping[Id, int], budget: InjectionBudget
) -> tuple[list[Placed[Id]], int]:
    """Mark injected candidates; return the characters left (below 0: constraints exceeded them)."""
    left = budget.chars
    given: set[Id] = set()

    def give(some: Iterable[Placed[Id]], most: int, *, whatever_budget: bool = False) -> None:
        nonlocal left
        for one in some:
            is_exempt = whatever_budget and one.always == "constraint"
            if len(given) < most and one.id not in given and (is_exempt or chars[one.id] <= left):
                given.add(one.id)
                left -= chars[one.id]

    leading = [one for one in placed if one.always]
    give(leading, budget.places_of_leading, whatever_budget=True)
    give((one for one in placed if one.is_relevant and not one.always), budget.k)
    give(leading, budget.k)
    return [one._replace(is_injected=one.id in given) for one in placed], left


def _draft(
    placed: list[Placed[Id]],
    orders: Mapping[Side, Sequence[Placed[Id]]],
    chars: Mapping[Id, int],
    left: int,
    rng: Random,
) -> list[Placed[Id]]:
    """Replace the injected others by as many that both orders draft; nothing if fewer would fit."""
    others = [one for one in placed if one.is_injected and not one.always]
    open_ids = {one.id for one in placed if one.is_relevant and not one.always}
    picks = draft(
        {side: [one.id for one in order if one.id in open_ids] for side, order in orders.items()},
        places=len(others),
        chars=chars,
        budget_chars=left + sum(chars[one.id] for one in others),
        rng=rng,
    )
    if len(picks) < len(others):
        return placed
    known = {one.id: one for one in placed}
    drafted = [known[i]._replace(is_injected=True, drafted_by=side) for i, side in picks]
    taken = {one.id for one in drafted}
    rest = [
        one if one.always else one._replace(is_injected=False)
        for one in placed
        if one.id not in taken
    ]
    always = [one for one in rest if one.always]
    in_order = [*always, *drafted, *(one for one in rest if not one.always)]
    return [one._replace(rank=rank) for rank, one in enumerate(in_order, 1)]


def _explore(placed: list[Placed[Id]], chars: Mapping[Id, int], left: int) -> list[Placed[Id]]:
    """Replace the lowest by the fitting candidate on which the rankings disagree most, if any."""
    lowest = next((one for one in reversed(placed) if one.is_injected and not one.always), None)
    if lowest is None:
        return placed
    free = left + chars[lowest.id]
    others = [
        one
        for one in placed
        if not one.is_injected
        and one.is_relevant
        and one.disagreement
        and chars[one.id] <= free
        and not one.always
    ]
    if not others:
        return placed
    tried = max(others, key=lambda one: (one.disagreement, -one.rank))
    changed = {
        lowest.id: lowest._replace(is_injected=False),
        tried.id: tried._replace(is_injected=True, source="exploration"),
    }
    return [changed.get(one.id, one) for one in placed]
