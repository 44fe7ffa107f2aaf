"""What repeats something better placed comes later, by a factor that is told."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.diversity import NEAR, Damped, damp


def unit(angle):
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


def test_a_copy_falls_behind_what_says_something_else():
    scored = [("a", 0.9), ("copy", 0.8), ("b", 0.6)]
    vectors = {"a": unit(0), "copy": unit(0), "b": unit(1.5)}

    assert damp(scored, vectors, 0.5) == [
        Damped("a", 1.0, None),
        Damped("b", 1.0, None),
        Damped("copy", pytest.approx(0.5), "a"),
    ]


def test_what_is_merely_alike_is_left_alone():
    vectors = {"a": unit(0), "b": unit(np.arccos(NEAR - 0.01))}

    assert [d.damping for d in damp([("a", 0.9), ("b", 0.8)], vectors, 1.0)] == [1.0, 1.0]


def test_nothing_to_damp():
    assert damp([], {}, 0.5) == []
    assert damp([("a", 0.5)], {}, 0.5) == [Damped("a", 1.0, None)]


found = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 3.14)), max_size=8)


@given(found, st.floats(0, 1))
def test_everything_stays_and_the_order_is_that_of_the_damped_scores(items, strength):
    scored = sorted(((i, s) for i, (s, _) in enumerate(items)), key=lambda row: -row[1])
    vectors = {i: unit(angle) for i, (_, angle) in enumerate(items)}

    damped = damp(scored, vectors, strength)

    assert sorted(d.id for d in damped) == sorted(i for i, _ in scored)
    values = [dict(scored)[d.id] * d.damping for d in damped]
    assert all(a >= b - 1e-9 for a, b in pairwise(values))
    assert all(1 - strength - 1e-9 <= d.damping <= 1 for d in damped)


@given(found)
def test_without_strength_nothing_changes(items):
    scored = sorted(((i, s) for i, (s, _) in enumerate(items)), key=lambda row: -row[1])

    vectors = {i: unit(angle) for i, (_, angle) in enumerate(items)}
    assert [d.id for d in damp(scored, vectors, 0.0)] == [i for i, _ in scored]
