"""Different days in other words."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_date import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Bin collection for the annex is on Tuesday.",
            "The annex bins are emptied on Thursdays.",
        ),
        (
            "The audit of the annex starts on 3 March 2027.",
            "For the annex the audit was fixed for 17 March 2027.",
        ),
    ],
)
def test_another_day_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Bin collection for the annex is on Tuesday.",
            "The annex bins are emptied on Tuesdays.",
        ),
        (
            "Monday's soup in the annex is lentil.",
            "The annex has tomato soup on Tuesday.",
        ),
        ("The annex is open on weekdays.", "The annex is open from Monday to Friday."),
        ("Parking is free on Sundays.", "Parking costs 3 euros on weekdays."),
        (
            "North field: winter barley, sown 28 September.",
            "The barley looks ripe, the contractor comes on 9 July for the north field.",
        ),
    ],
)
def test_the_same_day_and_two_named_days_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
