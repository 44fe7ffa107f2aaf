"""Opposite words."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_side import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The north gate of the depot stays locked during deliveries.",
            "During deliveries at the depot we leave the north gate unlocked.",
        ),
    ],
)
def test_opposite_words_are_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The north gate of the depot stays locked during deliveries.",
            "During deliveries at the depot we leave the south gate unlocked.",
        ),
        (
            "The north gate of the depot stays locked in winter.",
            "During deliveries at the depot we leave the north gate unlocked.",
        ),
    ],
)
def test_another_part_and_another_condition_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
