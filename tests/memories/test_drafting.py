"""Lists that both rankings draft: what is given, by whom, and that neither gains by being shown."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.drafting import SIDES, draft
from memories.core.injection import Contender, InjectionBudget, LearnedScores, Placed, inject
from tests.memories.test_session_core import requests


class Coins(Random):
    """Coins that are known beforehand."""

    def __init__(self, *heads: bool):
        super().__init__(0)
        self.heads = iter(heads)

    def random(self) -> float:
        return 0.1 if next(self.heads) else 0.9


def drafted(baseline: str, predictor: str, places: int, *heads: bool, **wanted: Any) -> str:
    """Return the ids in their order, those of the predictor in capitals."""
    chars = wanted.get("chars", dict.fromkeys(baseline, 1))
    picks = draft(
        {"baseline": baseline, "predictor": predictor},
        places=places,
        chars=chars,
        budget_chars=wanted.get("budget", 1000),
        rng=Coins(*heads),
    )
    return "".join(i.upper() if side == "predictor" else i for i, side in picks)


def test_each_pair_of_places_begins_with_a_coin() -> None:
    assert drafted("abcdef", "fedcba", 4, True, True) == "FaEb"
    assert drafted("abcdef", "fedcba", 4, False, False) == "aFbE"
    assert drafted("abcdef", "fedcba", 4, True, False) == "FabE"
    assert drafted("abcdef", "fedcba", 3, False, True) == "aFE"
    assert drafted("abcdef", "fedcba", 9, True, True, True, True) == "FaEbDc"
    assert drafted("abc", "abc", 3, True, True) == "AbC"


def test_what_does_not_fit_is_skipped_by_both() -> None:
    chars = {"a": 5, "b": 50, "c": 5, "d": 5}
    assert drafted("abcd", "bacd", 3, False, True, chars=chars, budget=15) == "aCD"
    assert drafted("abcd", "bacd", 3, False, True, chars=chars, budget=4) == ""


def test_a_side_has_every_place_as_often_as_the_other() -> None:
    """The propensity that is stored with each place."""
    first, second = "abcdefgh", "hacgbfed"
    for place in range(6):
        found = [drafted(first, second, 6, *heads)[place] for heads in product([0, 1], repeat=3)]
        assert sum(one.isupper() for one in found) == len(found) / 2


@given(st.permutations("abcdefghij"), st.permutations("abcdefghij"), st.integers(0, 2**30))
def test_neither_ranking_gains_by_being_shown_where_all_is_alike(
    one: list[str], other: list[str], seed: int
) -> None:
    """Exchanging the rankings exchanges the sides, whatever the rankings are."""
    coins = [Random(seed).random() < 0.5 for _ in range(3)]
    chars = dict.fromkeys(one, 1)

    def picks(a: list[str], b: list[str], heads: list[bool]) -> list[tuple[str, str]]:
        orders = {"baseline": a, "predictor": b}
        found = draft(orders, places=6, chars=chars, budget_chars=99, rng=Coins(*heads))  # type: ignore[arg-type]
        return [(i, side) for i, side in found]

    swapped = [
        (i, SIDES[side == "baseline"]) for i, side in picks(other, one, [not c for c in coins])
    ]
    assert picks(one, other, coins) == swapped


def lists(placed: list[Placed[int]]) -> list[int]:
    return [one.id for one in placed if one.is_injected]


def placed_by(
    what: tuple[list[Contender[int]], LearnedScores[int], InjectionBudget], share: float, seed: int
) -> list[Placed[int]]:
    some, learned, budget = what
    told = LearnedScores(learned.scores, learned.alpha, learned.rrf_k, draft_share=share)
    return inject(some, told, {}, budget, rng=Random(seed))


@given(requests(), st.integers(0, 5))
def test_a_drafted_list_gives_as_much_and_keeps_constraints_and_pins(
    what: tuple[list[Contender[int]], LearnedScores[int], InjectionBudget], seed: int
) -> None:
    plain, placed = placed_by(what, 0.0, seed), placed_by(what, 1.0, seed)
    chars = {c.id: c.chars for c in what[0]}
    always = {c.id for c in what[0] if c.always}
    assert len(lists(placed)) == len(lists(plain))
    assert set(lists(placed)) & always == set(lists(plain)) & always
    assert sorted(p.id for p in placed) == sorted(p.id for p in plain)
    assert [p.rank for p in placed] == list(range(1, len(placed) + 1))
    musts = {p.id for p in placed if p.always == "constraint"}
    if set(lists(placed)) - musts:
        assert sum(chars[i] for i in lists(placed)) <= what[2].chars
    named = [p for p in placed if p.drafted_by]
    assert not any(p.always for p in named)
    assert all(p.is_injected for p in named)
    if named:
        assert {p.id for p in named} | always >= set(lists(placed))
        sides = [p.drafted_by for p in named]
        assert abs(sides.count("baseline") - sides.count("predictor")) <= 1


def test_what_is_not_relevant_is_drafted_by_nobody() -> None:
    some = [Contender(n, 10, is_relevant=n < 4) for n in range(8)]
    scores = {n: float(n) for n in range(8)}
    found = inject(
        some, LearnedScores(scores, draft_share=1.0), {}, InjectionBudget(3, 99), rng=Coins(0, 1, 1)
    )
    assert [(p.id, p.drafted_by) for p in found if p.is_injected] == [
        (3, "predictor"),
        (0, "baseline"),
        (2, "predictor"),
    ]


def test_what_was_learned_opens_a_drafted_list_for_both_sides_and_no_other() -> None:
    """The context says nothing of any of them; what was learned says it of three."""
    some = [Contender(n, 10, is_relevant=False, is_promising=n > 4) for n in range(8)]
    scores = {n: float(n) for n in range(8)}

    def given(**more: float) -> list[tuple[int, str]]:
        learned = LearnedScores(scores, **more)
        found = inject(some, learned, {}, InjectionBudget(4, 99), rng=Coins(0, 1, 1))
        assert {p.id for p in found if p.is_injected} == {p.id for p in found if p.is_relevant}
        return [(p.id, p.drafted_by) for p in found if p.is_injected]

    assert given() == []
    assert given(draft_share=1.0) == [(7, "predictor"), (5, "baseline"), (6, "predictor")]
    assert [i for i, _ in given(alpha=0.2)] == [7, 6, 5]


def test_a_draft_that_gives_fewer_is_not_made() -> None:
    """Long candidates of one side would leave no room for a third."""
    some = [Contender(0, 30), Contender(1, 30), Contender(2, 30), Contender(3, 90)]
    learned = LearnedScores({0: 0.0, 1: 1.0, 2: 2.0, 3: 9.0}, draft_share=1.0)
    found = inject(some, learned, {}, InjectionBudget(3, 100), rng=Coins(0, 1, 1))
    assert lists(found) == [0, 1, 2]
    assert not any(p.drafted_by for p in found)


def test_drafts_are_as_frequent_as_their_share_and_the_same_for_a_seed() -> None:
    some = [Contender(n, 10) for n in range(6)]
    learned = LearnedScores({n: float(n) for n in range(6)}, draft_share=0.3)
    budget = InjectionBudget(2, 100)
    found = [inject(some, learned, {}, budget, rng=Random(seed)) for seed in range(2000)]
    assert 540 <= sum(any(p.drafted_by for p in one) for one in found) <= 660
    assert found[:50] == [inject(some, learned, {}, budget, rng=Random(n)) for n in range(50)]


def test_neither_side_drafts_repetitions() -> None:
    same, other = np.eye(2, dtype=np.float32)
    vectors = {0: same, 1: same, 2: other, 3: other}
    some = [Contender(n, 10) for n in range(4)]
    learned = LearnedScores({n: float(n) for n in range(4)}, draft_share=1.0)
    found = inject(some, learned, vectors, InjectionBudget(2, 99), rng=Coins(0, 1))
    assert lists(found) == [3, 0]


@pytest.mark.parametrize("lift", [0.1, 0.3])
def test_exposure_bends_lists_of_one_ranking_and_not_drafted_ones(lift: float) -> None:
    """Two rankings that are equally good: the one that chose the list seems better by far."""
    rng = np.random.default_rng(4)
    told: dict[str, list[float]] = {"baseline": [], "predictor": [], "drafted": []}
    for n in range(400):
        worth = np.where(rng.permutation(30) < 6, 0.7, 0.1)
        orders = {
            side: [int(i) for i in np.argsort(-(worth + rng.normal(0, 0.4, 30)))] for side in SIDES
        }
        picks = draft(
            orders, places=10, chars=dict.fromkeys(range(30), 1), budget_chars=99, rng=Random(n)
        )
        shown = {
            "baseline": orders["baseline"][:10],
            "predictor": orders["predictor"][:10],
            "drafted": [i for i, _ in picks],
        }
        for name, ids in shown.items():
            seen = worth.copy()
            seen[ids] += lift
            told[name].append(
                dcg(seen[orders["predictor"][:10]]) - dcg(seen[orders["baseline"][:10]])
            )
    errors = {name: 3 * np.std(found) / 20 for name, found in told.items()}
    assert np.mean(told["baseline"]) < -errors["baseline"] - 0.1 * lift
    assert np.mean(told["predictor"]) > errors["predictor"] + 0.1 * lift
    assert abs(np.mean(told["drafted"])) < errors["drafted"]


def dcg(gains: Any) -> float:
    return float((gains / np.log2(np.arange(2, len(gains) + 2))).sum() / 4.5)
