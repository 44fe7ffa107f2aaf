"""The gates of a training, on sessions that it did not see."""

import numpy as np
import pytest

from predictor.core.gates import (
    WORDS,
    Canary,
    check_gates,
    failures_in_words,
    gate_words,
    overlap_of,
)

OLD, NEW = list("abcde"), list("vwxyz")


def canary(ndcg, top=OLD, variance=0.2):
    return Canary(ndcg, variance, [top] * len(ndcg))


def run_gates(before, after, *, is_finite=True, promoted_models=3, **more):
    rng = np.random.default_rng(5)
    found = check_gates(
        before, after, is_finite=is_finite, promoted_models=promoted_models, rng=rng, **more
    )
    assert [gate.name for gate in found] == ["finite", "variance", "canary", "overlap"]
    assert all(gate.detail for gate in found)
    return {gate.name for gate in found if not gate.is_passed}


LEVEL = [0.5, 0.6, 0.7, 0.4, 0.5, 0.6]
NOISE = [0.1, -0.1, 0.05, -0.05, 0.02, -0.02]


def move_canary(by, noise=NOISE):
    return [value + by + wobble for value, wobble in zip(LEVEL, noise, strict=True)]


def test_a_model_that_ranks_as_before_passes():
    assert run_gates(canary(LEVEL), canary(move_canary(0.0))) == set()


def test_numbers_must_be_finite_and_scores_must_differ():
    assert run_gates(canary(LEVEL), canary(LEVEL, variance=0.0), is_finite=False) == {
        "finite",
        "variance",
    }
    assert run_gates(canary(LEVEL), canary(LEVEL, variance=float("nan"))) == {"variance"}


@pytest.mark.parametrize("none", [None, canary([])])
def test_scores_must_differ_without_a_canary_too(none):
    assert run_gates(None, none, learned_variance=0.0) == {"variance"}
    assert run_gates(None, none, learned_variance=float("nan")) == {"variance"}
    assert run_gates(None, none, learned_variance=0.1) == set()
    assert run_gates(None, canary(LEVEL), learned_variance=0.0) == set()


@pytest.mark.parametrize(
    ("by", "noise", "failed"),
    [
        (-0.16, [0.4, -0.4, 0.4, -0.4, 0.4, -0.4], {"canary"}),  # far down, however unsure
        (-0.03, [0.0] * 6, {"canary"}),  # a little down, but surely
        (-0.05, NOISE, set()),
        (0.1, NOISE, set()),
    ],
)
def test_a_drop_blocks_when_it_is_large_or_sure(by, noise, failed):
    assert run_gates(canary(LEVEL), canary(move_canary(by, noise))) == failed


def test_an_upheaval_blocks_unless_it_clearly_pays():
    assert run_gates(canary(LEVEL), canary(move_canary(0.0), top=NEW)) == {"overlap"}
    assert run_gates(canary(LEVEL), canary(move_canary(0.2), top=NEW)) == set()


def test_three_of_five_are_enough():
    assert run_gates(canary(LEVEL), canary(LEVEL, top=list("abcxy"))) == set()
    assert run_gates(canary(LEVEL), canary(LEVEL, top=list("abwxy"))) == {"overlap"}


def test_the_first_model_may_rank_as_it_likes():
    before, after = canary(LEVEL), canary(move_canary(0.0), top=NEW)

    assert run_gates(before, after, promoted_models=0) == set()
    assert run_gates(before, after, promoted_models=1) == {"overlap"}


def test_fewer_than_five_sessions_block_nothing():
    worse = [0.0] * 5

    assert run_gates(canary(LEVEL[:4]), canary(worse[:4], top=NEW)) == set()
    assert run_gates(canary(LEVEL[:5]), canary(worse, top=NEW)) == {"canary", "overlap"}


def test_without_a_model_or_a_canary_only_the_numbers_are_asked():
    assert run_gates(None, canary([0.1] * 9, top=NEW)) == set()
    assert run_gates(canary(LEVEL), None) == set()
    assert run_gates(None, None, is_finite=False) == {"finite"}


def test_overlap_is_the_shared_part_of_the_first_five():
    before = Canary([1, 1], 1, [list("abcde"), list("abc")])
    after = Canary([1, 1], 1, [list("edcxy"), list("abc")])

    assert overlap_of(before, after) == pytest.approx((0.6 + 1.0) / 2)
    assert overlap_of(canary([]), canary([])) == 1.0


def test_every_gate_has_words_for_what_it_asks_and_for_its_failure():
    checked = check_gates(
        canary(LEVEL),
        canary(LEVEL),
        is_finite=True,
        promoted_models=3,
        rng=np.random.default_rng(0),
    )
    assert {gate.name for gate in checked} == set(WORDS)
    failed = [{"name": name, "is_passed": False} for name in ("canary", "of old")]
    assert failures_in_words([*failed, {"name": "finite", "is_passed": True}]) == [
        "worse on sessions held back", "of old",
    ]  # fmt: skip
    assert failures_in_words(None) == []
    assert gate_words("of old") == "of old"
