"""The gate's decision table and the choice of the better wording."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.claims import ClaimComparison, compare, read
from memories.core.gate import choose_better_wording, decide

PROVENANCES = ["user_stated", "episode_summary", "assistant_derived", "unheard_of"]


def compared(relation: str, confidence: float = 0.9, finer: str | None = None) -> ClaimComparison:
    return ClaimComparison(relation, ("because",), confidence, finer, (0, 0))  # type: ignore[arg-type]


def outcome(comparison: ClaimComparison, **changes: object) -> tuple[str, str]:
    arguments: dict[str, object] = {
        "threshold": 0.8,
        "policy": "merge",
        "provenance_stored": "user_stated",
        "provenance_incoming": "user_stated",
    }
    cosine = changes.pop("cosine", 0.95)
    decision = decide(comparison, cosine, **(arguments | changes))  # type: ignore[arg-type]
    return decision.outcome, decision.survivor


def test_same_claims_merge_into_the_stored_wording_unless_the_other_is_better() -> None:
    assert outcome(compared("same")) == ("merged", "stored")
    assert outcome(compared("same"), better="incoming") == ("merged", "incoming")


def test_a_refinement_merges_into_the_more_specific_side() -> None:
    assert outcome(compared("refines", finer="b")) == ("merged", "incoming")
    assert outcome(compared("refines", finer="a")) == ("merged", "stored")


def test_a_contradiction_is_kept_apart() -> None:
    assert outcome(compared("contradicts")) == ("kept_apart", "stored")
    assert outcome(compared("contradicts"), policy="suggest") == ("kept_apart", "stored")


def test_different_is_suggested_when_unsure_and_created_when_clear() -> None:
    assert outcome(compared("different", 0.3)) == ("suggested", "stored")
    assert outcome(compared("different", 0.7)) == ("created", "stored")


def test_the_fewer_words_two_texts_share_the_closer_their_vectors_must_be() -> None:
    unsure = replace(compared("different", 0.3), likeness=0.3)
    assert outcome(unsure, cosine=0.82) == ("suggested", "stored")
    assert outcome(replace(unsure, likeness=0.1), cosine=0.82) == ("created", "stored")
    assert outcome(replace(unsure, confidence=0.6), cosine=0.99) == ("created", "stored")


def test_below_the_threshold_nothing_happens() -> None:
    assert outcome(compared("same"), cosine=0.79) == ("created", "stored")
    assert outcome(compared("same"), cosine=math.nan) == ("created", "stored")


def test_policies_suggest_and_off() -> None:
    assert outcome(compared("same"), policy="suggest") == ("suggested", "stored")
    assert outcome(compared("same"), policy="off") == ("created", "stored")


def test_an_unsure_same_is_only_suggested() -> None:
    assert outcome(compared("same", 0.5)) == ("suggested", "stored")


@pytest.mark.parametrize(
    ("stored", "incoming", "survivor"),
    [
        ("user_stated", "assistant_derived", "stored"),
        ("assistant_derived", "user_stated", "incoming"),
        ("episode_summary", "user_stated", "incoming"),
        ("unheard_of", "assistant_derived", "incoming"),
    ],
)
def test_the_higher_class_keeps_its_wording(stored: str, incoming: str, survivor: str) -> None:
    for better in ("stored", "incoming"):
        assert outcome(
            compared("same"),
            provenance_stored=stored,
            provenance_incoming=incoming,
            better=better,
        ) == ("merged", survivor)


def test_a_refinement_of_another_class_waits_for_a_person() -> None:
    assert outcome(
        compared("refines", finer="b"), provenance_incoming="assistant_derived"
    ) == ("suggested", "stored")  # fmt: skip


@given(
    st.sampled_from(["same", "refines", "contradicts", "different"]),
    st.floats(0, 1),
    st.floats(-1, 1),
    st.tuples(st.sampled_from(PROVENANCES), st.sampled_from(PROVENANCES)),
    st.sampled_from(["merge", "suggest", "off"]),
)
def test_cosine_alone_never_merges(
    relation: str, confidence: float, cosine: float, classes: tuple[str, str], policy: str
) -> None:
    stored, incoming = classes
    decision = decide(
        compared(relation, confidence, "b" if relation == "refines" else None),
        cosine,
        threshold=-1.0,
        policy=policy,
        provenance_stored=stored,
        provenance_incoming=incoming,
    )
    assert decision.reasons
    if decision.outcome == "merged":
        assert policy == "merge"
        assert relation == "same" or (relation == "refines" and stored == incoming)


@pytest.mark.parametrize(
    ("a", "b", "better"),
    [
        ("It expires after 5 minutes.", "The token expires after 5 minutes.", "b"),
        ("The token expires after 5 minutes.", "It probably expires after 5 minutes.", "a"),
        ("The token probably expires.", "The token expires.", "b"),
        ("The token expires.", "The token of gateway-eu expires after 5 minutes.", "b"),
        ("The token expires.", "The token expires.", "a"),
    ],
)
def test_better_wording_is_anchored_firm_and_specific(a: str, b: str, better: str) -> None:
    assert choose_better_wording(a, b, read(a), read(b)) == better


def test_near_duplicates_with_another_value_are_kept_apart_at_any_cosine() -> None:
    for a, b in (
        ("The quota is 10 GB.", "The quota is 20 GB."),
        ("The lease ends on 3 May.", "The lease ends on 4 May."),
        ("Guests may smoke.", "Guests may not smoke."),
        ("We run Kafka 3.6.", "We run Kafka 3.7."),
    ):
        assert outcome(compare(a, b), cosine=0.999) == ("kept_apart", "stored")
