"""A value that was changed is stated again."""

from __future__ import annotations

import pytest

from conflicts.core.rules.value_returns import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The storefront keeps carts in Memcached.",
            "Moved the storefront carts from Memcached to Valkey.",
            "Cart lookups of the storefront read Memcached.",
        ),
        (
            "shop-web installs with yarn, the lock file is in git.",
            "Moved shop-web to pnpm, the image kept failing.",
            "Run yarn install for shop-web before the tests.",
        ),
    ],
)
def test_an_old_value_stated_again_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The storefront keeps carts in Memcached.",
            "Moved the storefront carts from Memcached to Valkey.",
            "Valkey lost carts, so the storefront went back to Memcached on purpose.",
            "Cart lookups of the storefront read Memcached.",
        ),
        (
            "The storefront keeps carts in Memcached.",
            "Moved the storefront carts from Memcached to Valkey.",
            "Cart lookups of the storefront read Valkey.",
        ),
        (
            "The same key with another body answers 422, for refunds as for charges.",
            "The currency of a refund equals that of the charge, there is no field for it.",
            "Charges keep their idempotency keys for 7 days, longer than refunds do.",
        ),
    ],
)
def test_an_announced_return_and_an_update_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
