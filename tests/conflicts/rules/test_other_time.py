"""Different hours in other words."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_time import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The bakery's doors open at 6:30 for customers.",
            "Customers can enter the bakery from 7:15.",
        ),
    ],
)
def test_another_hour_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements, cosine=0.8) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The bakery opens at 6:30 for customers.",
            "For customers the bakery closes at 18:15.",
        ),
        (
            "On Sundays customers can enter the bakery from 8:00.",
            "The bakery's doors open at 6:30 for customers.",
        ),
        (
            "The bakery's doors open at 6:30 for customers.",
            "Customers can enter the bakery from 6:30.",
        ),
        (
            "The bakery's doors open at half past six for customers.",
            "Customers can enter the bakery from 6:30.",
        ),
    ],
)
def test_the_hours_of_two_sides_or_days_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements, cosine=0.8) == []
