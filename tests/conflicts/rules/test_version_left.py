"""An old claim names a version that a later text says was left."""

from __future__ import annotations

import pytest

from conflicts.core.rules.version_left import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "later",
    [
        "The migration to Postgres 17 is complete.",
        "Finished the migration to Postgres 17 last week.",
        "After the migration to Postgres 17, backups run nightly.",
        "Since the upgrade to Postgres 17 the reports are faster.",
    ],
)
def test_a_migration_to_another_version_is_found(later: str) -> None:
    assert rules_of("We run Postgres 14.", later, cosine=0.5) == [(RULE.id,)]


@pytest.mark.parametrize(
    ("older", "later"),
    [
        ("We run Postgres 14.", "The migration to Postgres 17 is planned for June."),
        ("We run Postgres 14.", "The migration to Postgres 14 took a weekend."),
        ("We run Postgres 14.", "The migration to Redis 7 took a weekend."),
        ("We run Postgres 14.", "We migrated to Postgres 17."),
        ("Moved from Postgres 12 to Postgres 14.", "The migration to Postgres 17 took a weekend."),
    ],
)
def test_a_plan_an_announcement_or_another_product_is_not(older: str, later: str) -> None:
    assert rules_of(older, later, cosine=0.5) == []


def test_a_version_that_is_stated_since_leaves_nothing_open() -> None:
    texts = ("We run Postgres 14.", "The migration to Postgres 17 took a weekend.",
             "The reports read Postgres 17.")  # fmt: skip
    assert (RULE.id,) not in rules_of(*texts, cosine=0.5)
