"""Two orders of one list: their mean, what it is free of, and what is then unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.judging import JudgeScores
from predictor.core.orders import SCALE, average, reverse, steps_between


def scores(relevance: tuple[float, ...], **more: object) -> JudgeScores:
    told = {"overall": 0.5, "confidence": 0.5, "relevance": relevance} | more
    return JudgeScores(**told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [(0.0, 0.1, 1), (0.1, 0.4, 1), (0.0, 0.4, 2), (1.0, 0.4, 2), (0.1, 0.7, 2), (0.0, 1.0, 4),
     (0.55, 0.7, 0.5), (0.3, 0.3, 0)],
)  # fmt: skip
def test_steps_are_those_of_the_scale(one: float, other: float, steps: float) -> None:
    assert steps_between(one, other) == pytest.approx(steps)
    assert steps_between(other, one) == pytest.approx(steps)


def test_the_scale_is_the_one_that_the_judge_is_given() -> None:
    from predictor.core.judging import INSTRUCTIONS

    assert all(f"{value:g}: " in INSTRUCTIONS for value in SCALE)


def test_the_second_answer_is_read_from_behind() -> None:
    found = average(scores((0.1, 0.4, 1.0)), scores((0.7, 0.4, 0.1)))
    assert found.relevance == pytest.approx((0.1, 0.4, 0.85))


@pytest.mark.parametrize(("other", "mean"), [(0.4, None), (0.39, 0.195), (1.0, None), (0.0, 0.0)])
def test_ratings_two_steps_apart_are_unknown_and_never_0(other: float, mean: float | None) -> None:
    [found] = average(scores((0.0,)), scores((other,))).relevance
    assert found == (None if mean is None else pytest.approx(mean))


@given(
    st.lists(st.floats(0.2, 0.8), min_size=2, max_size=30),
    st.floats(-0.1, 0.1),
)
def test_what_grows_evenly_along_the_list_moves_no_note(true: list[float], slope: float) -> None:
    n = len(true)

    def judged(worth: list[float]) -> JudgeScores:
        return scores(tuple(value + slope * at / (n - 1) for at, value in enumerate(worth)))

    found = average(judged(true), judged(true[::-1])).relevance
    assert found == pytest.approx([value + slope / 2 for value in true])


def test_the_other_figures_are_means_and_the_words_those_of_both() -> None:
    first = scores(
        (0.1,), overall=0.4, confidence=0.9, missing_topics=("a", "b"),
        novel_context_count=1, reasoning="First.",
    )  # fmt: skip
    second = scores(
        (0.1,), overall=0.6, confidence=0.7, missing_topics=("c", "a", "d"),
        novel_context_count=4, reasoning="Second.",
    )  # fmt: skip
    found = average(first, second)
    assert (found.overall, found.confidence) == pytest.approx((0.5, 0.8))
    assert found.missing_topics == ("a", "c", "b", "d")
    assert (found.novel_context_count, found.reasoning) == (2, "First.\n\nSecond.")


def test_the_reverse_of_the_reverse_is_the_first_order() -> None:
    assert reverse(reverse([1, 2, 3])) == (1, 2, 3)
