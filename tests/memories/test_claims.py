"""The face of claim comparison."""

from __future__ import annotations

from memories.core.claims import compare, read


def test_same_text_apart_from_case_is_same() -> None:
    assert compare("The cache is on.", "the  CACHE is on.").relation == "same"


def test_changed_number_contradicts() -> None:
    comparison = compare("The request timeout is 30 seconds.", "The request timeout is 60 seconds.")
    assert comparison.relation == "contradicts"
    assert comparison.pair == (0, 0)


def test_read_splits_sentences_into_claims() -> None:
    claims = read("We use Redis. The cache is big.").claims
    assert [claim.text for claim in claims] == ["We use Redis.", "The cache is big."]
