"""Different days of a month in other words."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_day_of_month import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Fuel bills are sent on the first of the month.",
            "Fuel bills go out on the 15th of each month.",
        ),
    ],
)
def test_another_day_of_the_month_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Fuel bills are sent on the first of the month.",
            "Fuel bills go out on the 1st of each month.",
        ),
        (
            "Fuel bills are sent on the first of the month.",
            "Fuel bills go out on the 15th of each quarter.",
        ),
    ],
)
def test_the_same_day_and_another_period_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
