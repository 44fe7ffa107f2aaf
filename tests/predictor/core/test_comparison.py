"""Two rankings of one session, by what was judged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.comparison import RankingComparison, compare, select_judged_pool

RELEVANCE = {"a": 1.0, "b": 0.5, "c": 0.0}
GOOD, POOR = ["a", "b", "c"], ["c", "b", "a"]


def compared(baseline=GOOD, predictor=GOOD, relevance=RELEVANCE, confidence=0.9, is_trained=True):
    return compare(baseline, predictor, relevance, confidence=confidence, is_trained=is_trained)


@pytest.mark.parametrize(
    ("baseline", "predictor", "outcome"),
    [(POOR, GOOD, "win"), (GOOD, POOR, "loss"), (GOOD, GOOD, "tie")],
)
def test_the_better_ranking_wins(baseline, predictor, outcome):
    found = compared(baseline, predictor)

    assert found.outcome == outcome
    assert found.margin == pytest.approx(found.predictor_ndcg - found.baseline_ndcg)
    assert found.void_reason == ""


def test_a_tie_is_no_loss():
    """Pitfall 32: different orders of the same worth."""
    found = compared(["a", "c", "b"], ["a", "d", "c", "b"])

    assert (found.outcome, found.margin) == ("tie", 0.0)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"relevance": {}}, "nothing judged"),
        ({"confidence": 0.59}, "low confidence"),
        ({"confidence": float("nan")}, "low confidence"),
        ({"relevance": dict.fromkeys("abc", 0.0)}, "no positive"),
        ({"relevance": {"a": 0.5, "b": 0.45, "c": 0.4}}, "flat"),
        ({"predictor": None}, "no scores"),
        ({"is_trained": False}, "not trained"),
    ],
)
def test_what_says_nothing_is_void_and_why(given, reason):
    """Pitfall 32: none of these is a loss."""
    found = compared(**given)

    assert (found.outcome, found.void_reason, found.margin) == ("void", reason, None)


def test_a_void_comparison_still_tells_what_can_be_told():
    unsure = compared(POOR, GOOD, confidence=0.1)
    mute = compared(predictor=None)

    assert (unsure.predictor_ndcg, unsure.baseline_ndcg < 1) == (1.0, True)
    assert (mute.predictor_ndcg, mute.baseline_ndcg) == (None, 1.0)
    assert compared(relevance={}) == RankingComparison("void", "nothing judged")


def test_unjudged_members_cost_nothing():
    strangers = [f"x{i}" for i in range(12)]

    assert compared(GOOD, [*strangers, *GOOD]).outcome == "tie"
    assert compared([*strangers, *GOOD], GOOD).outcome == "tie"


def test_an_id_that_comes_twice_counts_once():
    assert compared(GOOD, ["b", "b", "b", "a", "c"]).margin < 0
    assert compared(GOOD, ["a", "a", "b", "c"]).outcome == "tie"


rankings = st.lists(st.sampled_from("abcdefgh"), max_size=12)
judgements = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-2, 2), max_size=8)


@given(rankings, rankings, judgements)
def test_ndcg_is_within_zero_and_one_whatever_the_judge_says(baseline, predictor, relevance):
    """Pitfall 32: negative gains are clamped."""
    found = compared(baseline, predictor, relevance)
    back = compared(predictor, baseline, relevance)

    for value in (found.predictor_ndcg, found.baseline_ndcg):
        assert value is None or 0 <= value <= 1
    if found.margin is not None:
        assert found.margin == pytest.approx(-back.margin)


def test_the_judged_pool_holds_both_tops_and_what_was_shown_once():
    assert select_judged_pool(["a", "b"], ["b", "c"], ["d", "a"]) == ["a", "b", "c", "d"]
    assert select_judged_pool([], [], []) == []
