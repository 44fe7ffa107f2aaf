"""Late interaction: each word asked for is met by the best word of a memory, or next to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core import late


def states(*rows):
    """Return states as they are stored: unit vectors times 127, rounded."""
    found = np.array(rows, dtype=np.float64)
    return np.rint(127 * found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.int8)


X, Y = [1, 0], [0, 1]
BOTH = [1, 1]
NOBODY = {"previous": {}, "following": {}}


def test_each_word_counts_by_its_best_match_squared():
    weights = np.array([3.0, 1.0], dtype=np.float32)

    found = late.score(states(X, Y), weights, {"m": [states(X, BOTH)]}, **NOBODY)

    assert found == {"m": pytest.approx(0.75 * 1 + 0.25 * 0.5, abs=0.01)}


def test_words_without_weight_ask_nothing():
    assert late.score(states(X), np.zeros(1, np.float32), {"m": [states(X)]}, **NOBODY) == {}


def test_a_memory_without_states_has_no_score():
    none = np.empty((0, 2), dtype=np.int8)

    found = late.score(
        states(X), np.ones(1, np.float32), {"a": [none], "b": [states(X)], "c": []}, **NOBODY
    )

    assert found == {"b": pytest.approx(1.0)}


def test_the_turn_before_meets_words_that_an_answer_does_not_repeat():
    memories = {"question": [states(X)], "answer": [states(Y)], "other": [states(Y)]}

    found = late.score(
        states(X, Y),
        np.ones(2, np.float32),
        memories,
        previous={"answer": "question"},
        following={"question": "answer"},
    )

    assert found == pytest.approx(
        {
            "question": (1 + late.REACH_AFTER) / 2,
            "answer": (late.REACH_BEFORE + 1) / 2,
            "other": 0.5,
        }
    )


def test_only_words_of_the_text_index_are_kept():
    words = ("The", "heron", "nests", "on", "the", "roof", ".")
    rows = np.arange(14, dtype=np.int8).reshape(7, 2)

    assert late.choose(rows, words).tolist() == rows[[1, 2, 5]].tolist()
    assert late.choose(rows[:1], ("the",)).tolist() == rows[:1].tolist()


def test_the_window_that_matches_best_speaks_for_its_memory():
    """Two windows that match a word each are no match of both."""
    weights = np.array([3.0, 1.0], dtype=np.float32)
    memories = {"m": [states(Y), states(X)], "both": [states(Y), states(X, Y)]}

    found = late.score(states(X, Y), weights, memories, **NOBODY)

    assert found == pytest.approx({"m": 0.75, "both": 1.0})


def test_a_word_weighs_what_its_rarest_term_does_however_it_is_cut():
    word = "heronries"  # one object: its parts stand in a row
    weights = late.weigh(("the", word, word, "roof"), {"heronri": 4.0, "roof": 1.5}, unknown=9.0)

    assert weights.tolist() == [0.0, 2.0, 2.0, 1.5]
    assert late.weigh(("zyx",), {}, unknown=9.0).tolist() == [9.0]


def test_of_a_pasted_text_the_weightiest_words_ask():
    words = tuple(f"w{n}x" for n in range(100))
    weights = late.weigh(words, {f"w{n}x": float(n) for n in range(100)}, unknown=0.0)

    assert np.flatnonzero(weights).tolist() == list(range(100 - late.QUERY_TOKENS, 100))


rows = st.lists(
    st.lists(st.integers(-127, 127), min_size=3, max_size=3).filter(any), min_size=1, max_size=5
)


@given(rows, st.lists(rows, min_size=1, max_size=4))
def test_every_score_lies_between_nothing_and_all(query, memories):
    known = {i: [states(*m)] for i, m in enumerate(memories)}
    found = late.score(
        states(*query),
        np.ones(len(query), np.float32),
        known,
        previous={1: 0},
        following={0: 1},
    )

    assert set(found) == set(known)
    assert all(0 <= value <= 1 for value in found.values())
