"""What a speaker corrects in a later turn is not kept; what only differs is."""

from __future__ import annotations

import pytest

from memories.core.extraction.extract import extract
from tests.growth import MOST_GROWTH, growth
from tests.memories.test_extraction_rules import kept

HEARD = "\nAssistant: Understood.\nUser: "


@pytest.mark.parametrize(
    ("said", "later", "corrected"),
    [
        ("We ship on Mondays.", "sorry, Wednesdays.", "We ship: Wednesdays."),
        ("We always cook for five guests.", "Six guests, actually.",
         "We always cook for six guests."),
        ("The gate is always locked at 9.", "Hold on, it's always locked at 10.",
         "The gate: it's always locked at 10."),
        ("The keys are changed every 30 days.", "I just checked, they are changed every 45 days.",
         "The keys: they are changed every 45 days."),
        ("Our shop is on the second floor.", "I was wrong, our shop is on the third floor.",
         "Our shop is on the third floor."),
        ("My son is allergic to eggs.", "Wait, it's milk he's allergic to, not eggs.",
         "The user said: My son: it's milk he's allergic to, not eggs."),
        ("We use Redis for the cache.", "We use Valkey for the cache, not Redis.",
         "We use Valkey for the cache, not Redis."),
        ("Ana owns the billing service.", "Actually, Bo owns the billing service.",
         "Bo owns the billing service."),
        ("The choir meets on Tuesdays.", "The choir meets on Thursdays from now on.",
         "The choir meets on Thursdays from now on."),
    ],
)  # fmt: skip
def test_a_correction_in_the_next_turn_takes_the_place_of_the_fact(
    said: str, later: str, corrected: str
) -> None:
    found = extract(f"User: {said}{HEARD}{later}\nAssistant: Fine.\n")
    assert [one.fact.text for one in found.kept] == [corrected]
    assert {one.reason for one in found.refused if one.text == said} == {"not_to_be_stored"}


@pytest.mark.parametrize(
    ("said", "asked", "later"),
    [
        ("I run on Mondays.", "Only then?", "I run on Thursdays too."),
        ("My mother lives in Ghent.", "And your father?", "My father lives in Bruges."),
        ("We deploy on Fridays.", "When is the freeze?", "Sorry, Thursdays."),
        ("We deploy on Fridays.", "Is the freeze on Monday?", "No, on Thursday."),
        ("We use Redis for the cache.", "Noted.", "We use Postgres for the queue, not Redis."),
        ("My sister lives in Bergen.", "Noted.", "Actually, my brother lives in Oslo."),
        ("We deploy on Fridays.", "Noted.", "sorry, I'm late for a call"),
        ("We deploy on Fridays.", "So on Thursdays?", "No, it's Fridays."),
    ],
)
def test_what_is_no_correction_leaves_the_fact(said: str, asked: str, later: str) -> None:
    assert said in " ".join(kept(f"User: {said}\nAssistant: {asked}\nUser: {later}\n"))


def test_a_correction_of_another_speaker_takes_nothing_back() -> None:
    talk = "Ines: We deploy on Fridays.\nBot: Noted.\nTomas: sorry, Thursdays.\n"
    assert "not_to_be_stored" not in {one.reason for one in extract(talk).refused}


def test_a_request_is_corrected_by_no_mere_statement() -> None:
    talk = f"User: Remember that the choir meets on Tuesdays.{HEARD}"
    stated = kept(f"{talk}The choir meets on Thursdays from now on.\n")
    assert "The choir meets on Tuesdays." in stated
    asked = kept(f"{talk}Remember that the choir meets on Thursdays from now on.\n")
    assert asked == ["The choir meets on Thursdays from now on."]


def test_reading_later_corrections_takes_linear_time() -> None:
    def make(size: int) -> str:
        return f"User: I have two dogs.{HEARD}sorry, three dogs.\nAgent: ok\n" * size

    assert growth(make, extract, 60) < MOST_GROWTH
