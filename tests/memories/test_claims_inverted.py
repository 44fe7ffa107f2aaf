"""A subject behind its verb is the subject all the same."""

from __future__ import annotations

import pytest

from memories.core.claims import compare, read


@pytest.mark.parametrize(
    ("plain", "inverted"),
    [
        ("The ladders stand behind the shed.", "Behind the shed stand the ladders."),
        ("The keys hang next to the door.", "Next to the door hang the keys."),
        ("The bakery stands opposite the church.", "Opposite the church stands the bakery."),
        ("The boiler is behind the kitchen.", "Behind the kitchen is the boiler."),
        ("A cache sits above the database.", "Above the database sits a cache."),
        ("The tomb of the king lies under the dome.", "Under the dome lies the tomb of the king."),
    ],
)
def test_another_order_is_no_exchange_of_roles(plain: str, inverted: str) -> None:
    assert compare(plain, inverted).relation != "contradicts"
    one, other = (read(text).claims[0] for text in (plain, inverted))
    assert {(t.key, t.region, t.prep) for t in one.terms if one.verb} == {
        (t.key, t.region, t.prep) for t in other.terms if one.verb
    }


def test_an_exchange_in_another_order_is_found() -> None:
    found = compare(
        "The boiler stands behind the kitchen.", "Behind the boiler stands the kitchen."
    )
    assert found.contradiction == "roles"
