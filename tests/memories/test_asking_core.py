"""How much a pair is worth a question, and the sentence that says why it is asked."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core import asking
from memories.core.likelihood import Likelihood

RARE = {"halden": 1.0, "checkout": 0.9, "review": 0.7, "chair": 0.6}


def rarity(shared: set[str], frequencies: dict[str, int], memories: int) -> float:
    return math.fsum(asking.rarities(shared, frequencies, memories).values())


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_common_word_tells_less_than_a_rare_one(one: int, other: int, memories: int) -> None:
    rare, common = sorted((one, other))
    memories = max(memories, common)
    of_rare = rarity({"w"}, {"w": rare}, memories)
    of_common = rarity({"w"}, {"w": common}, memories)
    assert 0 < of_common <= of_rare <= 1


def test_a_word_of_two_memories_weighs_one_in_any_workspace() -> None:
    found = [rarity({"w"}, {"w": 1}, memories) for memories in (1, 100, 100_000)]
    assert found == pytest.approx([1, 1, 1])


PROBABLY_OTHER = Likelihood(0.5, 0.1, 0.05, 0.3, 0.05)
UNRELATED = Likelihood(0.02, 0.01, 0.01, 0.95, 0.01)
MORE_DETAIL = Likelihood(0.02, 0.2, 0.7, 0.05, 0.03)


def test_a_likely_contradiction_is_worth_asking_about() -> None:
    assert asking.score(PROBABLY_OTHER, 1.0, 10) >= asking.WORTH_ASKING
    assert asking.score(UNRELATED, 3.0, 10) < asking.WORTH_ASKING
    assert asking.score(UNRELATED, 30.0, 1) < asking.WORTH_ASKING
    assert asking.score(MORE_DETAIL, 1.0, 10) < asking.WORTH_ASKING


def test_rare_words_and_likelier_contradictions_score_higher() -> None:
    assert asking.score(PROBABLY_OTHER, 2.0, 10) > asking.score(PROBABLY_OTHER, 1.0, 10)
    more = PROBABLY_OTHER._replace(contradicts=0.6, different=0.2)
    assert asking.score(more, 1.0, 10) > asking.score(PROBABLY_OTHER, 1.0, 10)


def test_in_a_larger_workspace_a_pair_must_be_likelier() -> None:
    scores = [asking.score(PROBABLY_OTHER, 1.0, size) for size in (0, 1, 100, 100_000)]
    assert scores[0] == scores[1]
    assert scores[1:] == sorted(scores[1:], reverse=True)
    assert len(set(scores)) == 3


def test_the_more_was_asked_lately_the_higher_the_threshold() -> None:
    found = [asking.threshold(lately) for lately in (0.0, asking.RATE, 0.5, 1.0, 3.0)]
    assert found[:2] == [asking.WORTH_ASKING] * 2
    assert found[1:] == sorted(set(found[1:]))


def test_a_probability_of_zero_has_a_score() -> None:
    assert math.isfinite(asking.score(Likelihood(0.0, 0.0, 0.0, 1.0, 0.0), 0.0, 10))


def test_without_a_rare_word_no_pair_is_near() -> None:
    assert asking.nearness(1.0, 0.49) == -math.inf
    assert asking.nearness(0.7, rarity({"w"}, {"w": 1}, 10_000)) == pytest.approx(0.78)


def test_numbers_are_no_shared_words_and_names_with_numbers_are() -> None:
    assert asking.words_of("Gate 3 of PLAT-311 opens at 17:30.") == {
        "gate",
        "plat",
        "plat-311",
        "open",
    }


def test_the_reason_names_the_rarest_words_as_the_statement_writes_them() -> None:
    told = asking.explain("Reviews of the Halden Checkout are chaired by Ingrid.", RARE, 0.7149)
    assert told == (
        "Both say “Halden”, “Checkout” and “Reviews”, which few memories here say; they are close "
        "in meaning (cosine 0.71), and no rule can tell how they relate."
    )


def test_common_words_are_not_called_rare() -> None:
    told = asking.explain("The team meets.", {"team": 0.2, "meet": 0.1}, 0.8)
    assert told.startswith("Both say “team” and “meets”; they are close")


@pytest.mark.parametrize("text", ["", "…", "Nothing of that is here."])
def test_a_reason_without_words_says_that_they_are_near(text: str) -> None:
    assert asking.explain(text, RARE, 0.8).startswith("The two are close in meaning (cosine 0.80)")


@given(st.text(max_size=300))
def test_a_reason_is_one_short_line_whatever_the_text(text: str) -> None:
    rare = asking.rarities(asking.tokens(text), {}, 1)
    told = asking.explain(text, rare, 0.5)
    assert len(told) < 400
    assert "\n" not in told
