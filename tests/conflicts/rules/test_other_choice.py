"""Members of one kind."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_choice import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The guide to hall two is written in French.",
            "For hall two there is a guide in English.",
        ),
    ],
)
def test_another_member_of_a_kind_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Postgres is backed up at noon by Zabbix.",
            "Redis is backed up at noon by Zabbix.",
        ),
        (
            "The guide to hall two is written in French.",
            "For hall two there is a guide in French.",
        ),
    ],
)
def test_two_subjects_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
