"""A claim builds on something that is gone."""

from __future__ import annotations

import pytest

from conflicts.core.rules.gone_then_used import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Nightly reports are read from replica orion-2.",
            "Terraform destroyed orion-2 and its volume.",
        ),
        (
            "The spare key is with the Lindqvists next door.",
            "The Lindqvists moved to Malmö last month.",
        ),
    ],
)
def test_a_claim_on_something_gone_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements, cosine=0.5) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Nightly reports are read from replica orion-2.",
            "Terraform destroyed vega-7 and its volume.",
        ),
        (
            "Nightly reports are read from replica orion-2.",
            "orion-2 is shut for two weeks while the disks are swapped.",
        ),
        (
            "The ferry from Gorsk to Remol takes three hours.",
            "The place where Ana Kolb died is Remol.",
        ),
        ("The author of Winterling is Ana Kolb.", "Ana Kolb died in the city of Remol."),
        ("Ana Kolb's child is Bert Moser.", "Ana Kolb died in the city of Remol."),
        ("Ana Kolb is famous for Winterling.", "Ana Kolb died in the city of Remol."),
        ("Bert Moser's child is Ana Kolb.", "Ana Kolb died in the city of Remol."),
    ],
)
def test_a_successor_or_another_number_is_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements, cosine=0.5) == []


def test_a_change_that_shares_one_word_with_a_claim_replaces_nothing_in_it() -> None:
    leaning = "Boiler trouble at night is reported to Wanda Rehm."
    other = "Moved the boiler manuals to the new shelf."
    gone = "Wanda Rehm's last day was on Friday, her locker is empty."
    assert (RULE.id,) in rules_of(leaning, other, gone, cosine=0.45)
