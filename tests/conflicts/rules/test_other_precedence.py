"""Different sources win."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_precedence import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "If opening hours differ, the register is the master and the map is overwritten "
            "from it.",
            "Opening hours: what the shop typed in the map wins and is pushed into the register.",
        ),
    ],
)
def test_two_winners_are_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "If opening hours differ, the register is the master and the map is overwritten "
            "from it.",
            "Opening hours: the register prevails, whatever the map had is overwritten.",
        ),
    ],
)
def test_one_winner_is_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
