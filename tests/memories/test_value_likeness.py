"""Which two values of one attribute may both hold."""

from __future__ import annotations

import pytest

from memories.core.claims import compare
from memories.core.value_likeness import may_be_one_name


@pytest.mark.parametrize(
    ("one", "other", "is_place"),
    [
        ("BMW", "Bayerische Motoren Werke", False),
        ("GPL", "GNU General Public License", False),
        ("USA", "United States", False),
        ("Mr. Fischer", "Walter Fischer", False),
        ("aluminum", "aluminium", False),
        ("Lyon", "France", True),
        ("J. Smith", "John Smith", False),
    ],
)
def test_names_that_may_be_one(one: str, other: str, *, is_place: bool) -> None:
    assert may_be_one_name(one, other, is_place=is_place)
    assert may_be_one_name(other, one, is_place=is_place)


@pytest.mark.parametrize(
    ("one", "other", "is_place"),
    [
        ("Lyon", "Paris", True),
        ("France", "Chile", True),
        ("Lyon", "France", False),  # a person may be called France
        ("IBM", "Bayerische Motoren Werke", False),
        ("Mr. Fischer", "Mrs. Keller", False),
        ("", "", False),
        ("..", "A", True),
    ],
)
def test_names_that_are_two(one: str, other: str, *, is_place: bool) -> None:
    assert not may_be_one_name(one, other, is_place=is_place)
    assert not may_be_one_name(other, one, is_place=is_place)


@pytest.mark.parametrize(
    ("a", "b", "is_contradiction"),
    [
        ("The bench is made of pine.", "The bench is made of wood.", False),
        ("The bench is made of pine.", "The bench is made of brass.", True),
        ("The keys are kept in the hall.", "The keys are kept in the grey cabinet.", False),
        ("The keys are kept in the hall.", "The keys are kept in the cellar.", True),
        ("The train is on platform 4.", "The train is on platform 4B.", False),
        ("The train is on platform 4.", "The train is on platform 8.", True),
        ("The minibus seats 12 people.", "The minibus seats 14 standing.", False),
        ("The minibus seats 12 people.", "The capacity of the minibus is 14.", True),
        ("The office was in Bonn.", "The office is in Cologne.", False),
        ("The file was stored in Lyon.", "The file is stored in Paris.", False),
    ],
)
def test_values_exclude_each_other_unless_one_may_be_the_other(
    a: str, b: str, *, is_contradiction: bool
) -> None:
    relations = {compare(a, b).relation, compare(b, a).relation}
    assert (relations == {"contradicts"}) is is_contradiction
    assert ("contradicts" in relations) is is_contradiction
