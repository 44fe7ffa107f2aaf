"""Ways that exclude each other."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_way import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Call notes of the clinic are kept in the archive after discharge.",
            "The clinic deletes call notes after discharge.",
        ),
    ],
)
def test_excluding_ways_are_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Call notes of the clinic are kept in the archive.",
            "The clinic deletes call notes without a signature.",
        ),
        (
            "Call notes of the clinic are retained for 14 days.",
            "The clinic deletes call notes after 14 days.",
        ),
    ],
)
def test_another_condition_and_the_same_value_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
