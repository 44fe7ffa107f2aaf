"""A denied value clashes with the same value, and with no other."""

from __future__ import annotations

import pytest

from memories.core.claims import compare, read
from memories.core.measures import Quantity, denial
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        ("Renting a kayak costs 11 euros.", "Renting a kayak does not cost 51 euros."),
        ("The museum closes at 20:00.", "The museum does not close at 22:00."),
        ("The server room is at 19 degrees.", "The server room is not at 25 degrees."),
        ("The night bus leaves at 23:40.", "The night bus doesn't leave at 00:10."),
        ("The vet's surgery starts at 8:30.", "The vet's surgery never starts at 9:30."),
        ("The tax return is due on 31 July.", "The tax return is not due on 30 September."),
        ("The webhook times out after 10 s.", "The webhook never times out after 60 s."),
        ("A class has 24 pupils.", "No class has 30 pupils."),
        ("The guide to hall two is in French.", "The guide to hall two is not in English."),
        ("The ferry carries 60 cars.", "The ferry cannot carry 90 cars."),
        ("The cafeteria opens at 11:00.", "It is wrong that the cafeteria opens at 10:00."),
        ("The greenhouse is watered at 6:15.", "It's not true that it is watered at 7:45."),
    ],
)
def test_another_value_that_is_denied_is_no_conflict(statements: tuple[str, str]) -> None:
    assert rules_of(*statements, cosine=0.85) == []


@pytest.mark.parametrize(
    "statements",
    [
        ("The night bus leaves at 23:40.", "The night bus does not leave at 23:40."),
        ("Trial accounts last 14 days.", "Trial accounts do not last 14 days."),
        ("Guest passes last 30 days.", "Guest passes never last more than 14 days."),
    ],
)
def test_the_same_value_and_a_denied_bound_are(statements: tuple[str, str]) -> None:
    assert len(rules_of(*statements, cosine=0.85)) == 1


def test_a_denial_in_front_turns_a_statement_of_one_clause_round() -> None:
    assert not read("It is a myth that the tower leans.").claims[0].polarity
    assert read("It is not true that the tower does not lean.").claims[0].polarity
    found = compare("The tower leans to the left.", "It is false that the tower leans to the left.")
    assert found.contradiction == "negation"


def test_the_denial_of_a_bound_is_the_opposite_bound() -> None:
    over = Quantity(5, "s", "5 s", "least", is_strict=True)
    assert denial(over) == Quantity(5, "s", "5 s", "most")
    assert denial(Quantity(5, "s", "5 s")) is None
    assert denial(Quantity(5, "s", "5 s", "most")) is None
