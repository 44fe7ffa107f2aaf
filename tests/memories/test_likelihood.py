"""The estimate of how two near texts relate, and what the gate makes of it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from memories.core.boosted_trees import BoostedTrees
from memories.core.claims import ClaimComparison, compare, read
from memories.core.gate import GateDecision, decide
from memories.core.likelihood import TREES_FILE, UNKNOWN, Likelihood, likelihood_of
from memories.core.pair_features import features_of
from memories.core.replaced import is_exchanged, is_replaced, words_in_order
from memories.core.token_matches import NAMES, features_of_matches, stored_states, word_states


def estimate(a: str, b: str, cosine: float = 0.9) -> Likelihood:
    return likelihood_of(read(a), read(b), compare(a, b), cosine)


def decided(chances: Likelihood, relation: str = "different") -> GateDecision:
    comparison = ClaimComparison(relation, ("no rule decides",), 0.4 if relation == "different"
                                 else 0.9, None, None)  # type: ignore[arg-type]  # fmt: skip
    return decide(
        comparison, 0.9, threshold=0.6, policy="merge", provenance_stored="assistant_derived",
        provenance_incoming="assistant_derived", chances=chances,
    )  # fmt: skip


def test_probabilities_add_up_and_the_trees_know_every_feature() -> None:
    a, b = "Badges are printed on Mondays.", "On Mondays we print the badges."
    assert sum(estimate(a, b)) == pytest.approx(1)
    features = features_of(read(a), read(b), compare(a, b), 0.9)
    assert BoostedTrees.load(TREES_FILE).names == (*features, *NAMES)


@pytest.mark.parametrize(
    ("a", "b", "cosine"), [("", "", 1.0), ("?", "!", 0.7), ("A", "A b", math.nan)]
)
def test_texts_without_claims_or_vectors_are_not_estimated(a: str, b: str, cosine: float) -> None:
    assert estimate(a, b, cosine) == UNKNOWN


@pytest.mark.parametrize(
    ("chances", "outcome"),
    [
        (Likelihood(0.9, 0.02, 0.03, 0.05, 0.0), "kept_apart"),
        (Likelihood(0.1, 0.7, 0.1, 0.1, 0.0), "suggested"),
        (Likelihood(0.05, 0.1, 0.8, 0.05, 0.0), "suggested"),
        (Likelihood(0.5, 0.35, 0.1, 0.05, 0.0), "created"),
        (Likelihood(0.1, 0.1, 0.1, 0.7, 0.0), "created"),
    ],
)
def test_the_gate_weighs_what_no_rule_decides(chances: Likelihood, outcome: str) -> None:
    assert decided(chances).outcome == outcome


def test_two_texts_that_may_contradict_do_not_merge_by_themselves() -> None:
    assert decided(Likelihood(0.1, 0.8, 0.1, 0.0, 0.0), "same").outcome == "merged"
    assert decided(Likelihood(0.6, 0.3, 0.1, 0.0, 0.0), "same").outcome == "suggested"


def test_another_number_neither_merges_nor_is_suggested() -> None:
    a = "Zone F: one parking permit per household, even with two cars."
    b = "Zone F: two parking permits per household, even with two cars."
    decision = decide(
        compare(a, b), 0.95, threshold=0.6, policy="merge", provenance_stored="user_stated",
        provenance_incoming="user_stated", chances=estimate(a, b, 0.95),
    )  # fmt: skip
    assert decision.outcome in ("kept_apart", "created")


def test_one_place_is_replaced_or_two_words_are_exchanged() -> None:
    def words(text: str) -> tuple[str, ...]:
        return words_in_order(text)

    base = words("Payroll is done in house by Sonja with care.")
    assert is_replaced(base, words("Payroll is done in house by Ulrike Kern with care."))
    assert not is_replaced(base, words("Travel is done in town by Ulrike with care."))
    assert is_exchanged(
        words("by ping first, by rank second"), words("by rank first, by ping second")
    )
    assert not is_exchanged(words("Ana and Bert decide"), words("Bert and Ana decide"))


def states(*rows: list[int]) -> np.ndarray:
    return np.array(rows, dtype=np.int8)


def test_tokens_are_matched_when_each_is_the_nearest_of_the_other() -> None:
    a = word_states(states([127, 0], [0, 127]), ("Payroll", "Monday"))
    b = word_states(states([127, 0], [76, 102]), ("payroll", "Friday"))
    found = features_of_matches(a, b)
    assert found["share matched"] == 1
    assert found["share of equal words"] == 0.5
    assert found["matches of other words"] == pytest.approx(0.1)
    assert found["worst match of other words"] == pytest.approx(0.8, abs=0.01)
    assert found["matches that cross"] == 0


def test_matches_in_another_order_cross() -> None:
    words = ("ping", "rank")
    a = word_states(states([127, 0], [0, 127]), words)
    b = word_states(states([0, 127], [127, 0]), words[::-1])
    assert features_of_matches(a, b)["matches that cross"] == 1


def test_states_of_another_text_are_not_used() -> None:
    kept = states([127, 0], [0, 127])
    assert stored_states(kept, ("the", "payroll", "Monday")) is not None
    assert stored_states(kept, ("payroll", "Monday", "Friday")) is None
    assert stored_states(states(), ()) is None
    assert all(math.isnan(value) for value in features_of_matches(None, None).values())


def test_trees_add_up_and_send_what_is_unknown_to_the_side_they_learned(tmp_path: Path) -> None:
    # One tree a class: "x <= 1 → +2, else -2, unknown as above 1", and a leaf of +1.
    trees = BoostedTrees(
        names=("x",), baseline=np.zeros(2), roots=np.array([0, 3], np.int32),
        classes=np.array([0, 1], np.int8), features=np.zeros(4, np.int16),
        thresholds=np.array([1, 0, 0, 0], np.float32), left=np.array([1, 1, 2, 3], np.int32),
        right=np.array([2, 1, 2, 3], np.int32),
        unknown_left=np.array([False, False, False, False]),
        values=np.array([0, 2, -2, 1], np.float32),
    )  # fmt: skip
    trees.save(tmp_path / "trees.npz")
    stored = BoostedTrees.load(tmp_path / "trees.npz")
    low, high, unknown = (stored.probabilities(np.array([x]))[0] for x in (1.0, 1.5, math.nan))
    assert low == pytest.approx(1 / (1 + math.exp(-1)))
    assert high == unknown == pytest.approx(1 / (1 + math.exp(3)))
