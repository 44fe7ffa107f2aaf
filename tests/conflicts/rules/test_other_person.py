"""Different people for one task."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_person import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Overtime on the night line is approved by the plant supervisor.",
            "A yes from the payroll accountant is what overtime on the night line takes.",
        ),
    ],
)
def test_another_person_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Overtime on the night line is approved by the plant supervisor.",
            "The supervisor signs off overtime on the night line before noon.",
        ),
        (
            "Overtime on the night line is approved by the plant supervisor.",
            "Overtime on the night line is not approved by the accountant.",
        ),
    ],
)
def test_the_same_person_and_a_denial_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
