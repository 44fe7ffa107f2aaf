"""What repeats something better placed comes later, by a multiplier that is reported."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.diversity import SIMILAR_COSINE, DiverseItem, choose_diverse, multiplier_of


def unit(angle):
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


def test_a_copy_falls_behind_what_says_something_else():
    scores = {"a": 0.9, "copy": 0.8, "b": 0.6}
    vectors = {"a": unit(0), "copy": unit(0), "b": unit(1.5)}

    assert choose_diverse(scores, vectors, strength=1.0) == [
        DiverseItem("a", 0.9, 1.0, None),
        DiverseItem("b", 0.6, 1.0, None),
        DiverseItem("copy", pytest.approx(0.44), pytest.approx(0.55), "a"),
    ]


def test_half_the_strength_takes_half_as_much():
    scores = dict.fromkeys("abcd", 1.0)
    same = dict.fromkeys("abcd", unit(0))

    assert [one.score for one in choose_diverse(scores, same, strength=0.5)] == pytest.approx(
        [1.0, 0.775, 0.6625, 0.60625]
    )


def test_what_is_merely_alike_is_left_alone():
    vectors = {"a": unit(0), "b": unit(np.arccos(SIMILAR_COSINE - 0.01))}

    chosen = choose_diverse({"a": 0.9, "b": 0.8}, vectors)

    assert [one.multiplier for one in chosen] == [1.0, 1.0]
    assert [one.repeats for one in chosen] == [None, None]


def test_of_several_that_it_resembles_the_nearest_is_named():
    near, nearer = unit(0.5), unit(0.3)

    chosen = choose_diverse(
        {"far": 1.0, "near": 0.9, "nearer": 0.8, "it": 0.1},
        {"far": unit(1.2), "near": near, "nearer": nearer, "it": unit(0.2)},
    )

    assert {one.id: one.repeats for one in chosen}["it"] == "nearer"


def test_nothing_to_choose_from():
    assert choose_diverse({}, {}) == []
    assert choose_diverse({"a": 0.5}, {}) == [DiverseItem("a", 0.5, 1.0, None)]


found = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 3.14)), max_size=8)


@given(found, st.floats(0, 1))
def test_everything_stays_and_the_order_is_that_of_the_lowered_scores(items, strength):
    scores = dict(sorted(((i, s) for i, (s, _) in enumerate(items)), key=lambda row: -row[1]))
    vectors = {i: unit(angle) for i, (_, angle) in enumerate(items)}

    chosen = choose_diverse(scores, vectors, strength=strength)

    assert sorted(one.id for one in chosen) == sorted(scores)
    assert all(one.score == pytest.approx(scores[one.id] * one.multiplier) for one in chosen)
    assert all(a.score >= b.score - 1e-9 for a, b in pairwise(chosen))
    assert all(1 - 0.9 * strength - 1e-9 <= one.multiplier <= 1 for one in chosen)


@given(found)
def test_without_strength_nothing_changes(items):
    scores = dict(sorted(((i, s) for i, (s, _) in enumerate(items)), key=lambda row: -row[1]))
    vectors = {i: unit(angle) for i, (_, angle) in enumerate(items)}

    assert [one.id for one in choose_diverse(scores, vectors, strength=0.0)] == list(scores)


def test_at_full_strength_it_is_the_formula_of_session_start():
    assert [multiplier_of(n) for n in range(4)] == pytest.approx([1, 0.55, 0.325, 0.2125])
