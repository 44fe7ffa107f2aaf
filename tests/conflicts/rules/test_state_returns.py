"""A named state that comes back unannounced."""

from __future__ import annotations

import pytest

from conflicts.core.rules.state_returns import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Phase of pier 4: survey",
            "Phase of pier 4: piling",
            "Phase of pier 4: survey",
        ),
        (
            "The status of ticket 9 is open",
            "Ticket 9 has status closed",
            "The status of ticket 9 is open",
        ),
    ],
)
def test_a_state_that_comes_back_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Phase of pier 4: survey",
            "Phase of pier 4: piling",
            "Phase of pier 4: decking",
        ),
        (
            "Phase of pier 4: survey",
            "Phase of pier 4: piling",
            "Phase of pier 4: survey again",
        ),
        (
            "Phase of pier 4: survey",
            "Phase of pier 5: piling",
            "Phase of pier 4: survey",
        ),
    ],
)
def test_progress_and_an_announced_return_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
