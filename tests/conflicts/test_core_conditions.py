"""What is said of another thing, of another deed or under another condition excludes nothing."""

from __future__ import annotations

import pytest

from conflicts.core.conditions import are_parted
from conflicts.core.detective import detect
from conflicts.core.statements import read
from tests.conflicts.test_core_detective import NOW, similar, story, summary

_COHERENT = [
    ("Backups of the billing database are stored in Frankfurt.",
     "Backups of the billing database older than 90 days are deleted."),
    ("The import API accepts uploads up to 20 MB.",
     "The import API rejects uploads without a checksum."),
    ("Support tickets are accepted in the portal.",
     "Support tickets are rejected without an order number."),
    ("The release notes are written by hand.",
     "The release notes are published automatically."),
    ("Session tokens are checked on the server.",
     "Session tokens are stored in the browser."),
    ("The vegan menu at Bistro Orso costs 12 euros.",
     "Bistro Orso serves steak on Fridays."),
    ("Guests of the Lindenhof hotel get breakfast in the mornings.",
     "Guests of the Lindenhof hotel may use the sauna at night."),
    ("The swimming pool is heated in winter.",
     "The swimming pool bar has a freezer for ice cream."),
    ("Travel expenses of the sales team are refunded within a week.",
     "Travel expenses of the sales team are not refunded without a receipt."),
    ("Parcels are accepted at the depot.",
     "Parcels are rejected if their label cannot be read."),
    ("Drafts of the report are kept in the archive.",
     "Drafts of the report are deleted unless the editor marks them."),
]  # fmt: skip

_CONTRADICTING = [
    ("Release notes are written by hand.", "Release notes are written automatically."),
    ("Uploads without a checksum are rejected.", "Uploads without a checksum are accepted."),
    ("Backups older than 90 days are deleted.", "Backups older than 90 days are kept."),
    ("The pool is not heated in winter.", "The pool is heated in winter."),
    ("Expenses without a receipt are not refunded.", "Expenses without a receipt are refunded."),
]  # fmt: skip


def found(older: str, newer: str) -> list[str]:
    facts = story(older, newer)
    return [kind for kind, _ in summary(detect(facts, similar(facts, 0.8), now=NOW))]


@pytest.mark.parametrize(("a", "b"), _COHERENT)
def test_other_deed_thing_or_condition_is_no_ambiguity(a: str, b: str) -> None:
    assert found(a, b) == []
    assert found(b, a) == []


@pytest.mark.parametrize(("a", "b"), _CONTRADICTING)
def test_one_deed_under_one_condition_is_an_ambiguity(a: str, b: str) -> None:
    assert found(a, b) == ["ambiguity"]
    assert found(b, a) == ["ambiguity"]


@pytest.mark.parametrize(
    ("a", "b", "is_parted"),
    [
        ("Deposits are refunded if we cancel early.", "Deposits are kept.", True),
        ("Deposits are refunded if we cancel early.", "Deposits are kept in any case.", False),
        ("Deposits are refunded if we cancel early.", "Early cancelling forfeits deposits.", False),
        ("Events arrive more than once.", "Events arrive a single time.", False),
        ("Invoices below 50 euros are paid at once.", "Invoices are paid in May.", True),
    ],
)
def test_condition_parts_unless_told_by_both_or_of_no_matter(
    a: str, b: str, *, is_parted: bool
) -> None:
    first, second = map(read, story(a, b))
    assert are_parted(first, second) == are_parted(second, first) == is_parted
