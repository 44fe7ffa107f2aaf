"""One affirms what the other denies."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_polarity import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Interns have access to the production database of billing.",
            "Access to the production billing database is never given to interns.",
        ),
    ],
)
def test_a_denial_in_other_words_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Managers have access to the production database of billing.",
            "Access to the production billing database is never given to accountants.",
        ),
    ],
)
def test_what_other_people_may_is_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
