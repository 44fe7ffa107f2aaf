"""Who announces a change: one that is less trusted than what it changes is asked about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conflicts.core.detective import Fact, detect
from tests.conflicts.test_core_detective import NOW, similar, story, summary

ANNOUNCED = [
    ("Supplier X is paid into account DE11.",
     "Supplier X is now paid into account DE99 instead of DE11."),
    ("The mine shift starts at 5:00.", "Correction: the mine shift starts at 8:00, not 5:00."),
    ("The budget is 5000 euros.", "Correction: the budget is 9000 euros, not 5000 euros."),
    ("Invoices go to Ida.", "Invoices now go to Mallory instead of Ida."),
    ("The bakery opens at 7:00.", "The bakery now opens at 9:00 instead of 7:00."),
]  # fmt: skip


def written(a: str, b: str, before: str, after: str) -> list[Fact]:
    older, newer = story(a, b)
    return [replace(older, provenance=before), replace(newer, provenance=after)]


@pytest.mark.parametrize(("a", "b"), ANNOUNCED)
def test_a_change_announced_by_somebody_less_trusted_is_asked_about(a: str, b: str) -> None:
    facts = written(a, b, "user_stated", "assistant_derived")
    assert summary(detect(facts, similar(facts, 0.8), now=NOW)) == [("ambiguity", ("f0", "f1"))]


@pytest.mark.parametrize(("a", "b"), ANNOUNCED)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("user_stated", "user_stated"),
        ("assistant_derived", "assistant_derived"),
        ("assistant_derived", "user_stated"),
    ],
)
def test_a_change_announced_by_somebody_as_trusted_settles(
    a: str, b: str, before: str, after: str
) -> None:
    facts = written(a, b, before, after)
    assert detect(facts, similar(facts, 0.8), now=NOW) == []


def test_a_later_note_of_somebody_less_trusted_settles_no_open_question() -> None:
    texts = (
        "The mine shift starts at 5:00.",
        "The mine shift starts at 7:00.",
        "Decided: the mine shift starts at 7:00.",
    )
    first, second, third = story(*texts)
    facts = [replace(first, provenance="user_stated"), second, third]
    found = summary(detect(facts, similar(facts, 0.8), now=NOW))
    assert any({"f0", "f1"} <= set(ids) for _, ids in found)
    trusted = [first, second, third]
    assert detect(trusted, similar(trusted, 0.8), now=NOW) == []
