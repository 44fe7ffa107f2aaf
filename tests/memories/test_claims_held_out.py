"""Pairs of other domains, written before the rules were tuned on: no memory is lost by merging."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memories.core.claims import compare
from memories.core.gate import CLEARLY_DIFFERENT

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "claims_held_out.jsonl").read_text().splitlines()
]


def of(relation: str) -> list[object]:
    return [
        pytest.param(row["a"], row["b"], id=row["id"])
        for row in PAIRS
        if row["relation"] == relation
    ]


@pytest.mark.parametrize(("a", "b"), of("contradicts") + of("different"))
def test_what_contradicts_or_differs_is_never_merged(a: str, b: str) -> None:
    for found in (compare(a, b), compare(b, a)):
        assert found.relation in ("contradicts", "different")


@pytest.mark.parametrize(("a", "b"), of("different"))
def test_two_facts_never_contradict(a: str, b: str) -> None:
    assert compare(a, b).relation == "different"


@pytest.mark.parametrize(("a", "b"), of("same") + of("refines"))
def test_the_same_in_other_words_never_contradicts(a: str, b: str) -> None:
    assert compare(a, b).relation != "contradicts"


def test_most_contradictions_are_seen() -> None:
    found = [
        compare(row["a"], row["b"]).relation for row in PAIRS if row["relation"] == "contradicts"
    ]
    assert found.count("contradicts") >= 15


def test_refinements_name_the_more_specific_text_or_are_left_to_people() -> None:
    found = [compare(row["a"], row["b"]) for row in PAIRS if row["relation"] == "refines"]
    # What narrows a claim or adds words of which nothing is known is left to people.
    assert [c.more_specific for c in found if c.relation == "refines"].count("b") >= 2
    assert {c.more_specific for c in found} <= {"b", None}
    assert all(c.relation == "refines" or c.confidence < CLEARLY_DIFFERENT for c in found)
