"""What a speaker corrects at once is not kept; what they say instead is."""

from __future__ import annotations

import pytest

from memories.core.extraction.extract import extract
from tests.growth import MOST_GROWTH, growth
from tests.memories.test_extraction_rules import kept

CODE = "User: Remember that the gate code is 4411."


@pytest.mark.parametrize(
    ("said", "corrected"),
    [
        ("Remember that I prefer tea. Actually, coffee.", "The user said: I prefer: coffee."),
        ("Remember that I prefer tea. Remember that. Actually, coffee.",
         "The user said: I prefer: coffee."),
        ("Remember the gate code is 4411. No wait, 4412.", "The gate code is 4412."),
        ("Remember the gate code is 4411. Wait. No. 4412.", "The gate code is 4412."),
        ("Remember the gate code is 4411. No wait, 4412. Sorry, 4413.", "The gate code is 4413."),
        ("Remember that we meet on Tuesday. Sorry, I meant Wednesday.", "We meet: Wednesday."),
        ("Remember that the order is for 20 boxes. Make that 25.", "The order is for 25 boxes."),
        ("Remember that the key is kept in the shed. Oops, the attic.",
         "The key is kept: the attic."),
        ("Remember that I can't eat nuts. Correction: shellfish.",
         "The user said: I can't eat: shellfish."),
        ("Remember that the shop opens at 9. Actually, it opens at 10.",
         "The shop: it opens at 10."),
        ("Remember that Ola feeds the hens. Actually, Nils feeds the hens.",
         "Nils feeds the hens."),
        ("Remember that the bus stops at gate 7. Sorry, it's 9.", "The bus: it's 9."),
        ("Remember that the pool is locked on Mondays. Actually, it's locked on Fridays.",
         "The pool: it's locked on Fridays."),
        ("Remember that the tap is on row 3. Sorry, that should be row 4.", "The tap is: row 4."),
        ("Remember the earth is flat. No, it's round.", "The earth: it's round."),
        ("Remember that Ana owns billing. Sorry, Ana owns payroll.", "Ana owns payroll."),
        ("From now on we deploy on Fridays. Sorry, Thursdays.",
         "From now on we deploy: Thursdays."),
    ],
)  # fmt: skip
def test_the_correction_is_kept_in_place_of_what_it_corrects(said: str, corrected: str) -> None:
    found = extract(f"User: {said}\n")
    assert [one.fact.text for one in found.kept] == [corrected]
    assert found.kept[0].fact.quote in said
    assert "not_to_be_stored" in {one.reason for one in found.refused}


@pytest.mark.parametrize(
    ("said", "corrected"),
    [
        ("the rent is 900 euros a month with heating. Wait, 950.",
         "The rent is 950 euros a month with heating."),
        ("the pier is 90 m long. Actually, 95.", "The pier is 95 m long."),
        ("the flat is 4 rooms and 80 m2. Sorry, 5.", ""),
        ("Anna leads sales. No wait, Bert.", ""),
        ("Nadia lives in Malta. No, Cyprus.", ""),
        ("Lena feeds the cats and Tom waters the plants. Sorry, Jan.", ""),
        ("the lease ends in May 2027. Actually, June.", ""),
        ("our host is Hetzner. Actually, Scaleway.", "Our host is: Scaleway."),
    ],
)  # fmt: skip
def test_a_correction_loses_no_word_of_what_it_corrects(said: str, corrected: str) -> None:
    [fact] = [one.fact for one in extract(f"User: Remember that {said}\n").kept]
    assert fact.text == (corrected or f"The user asked to remember: “{said}”")
    assert (fact.confidence == 1.0) == bool(corrected)


def test_a_correction_of_an_order_is_quoted_with_it() -> None:
    assert kept("User: Remember to call Bo at 5. Make that 6.\n") == [
        "The user asked to remember: “to call Bo at 5. Make that 6.”"
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Actually, I have a question.",
        "Actually, thanks.",
        "Wait, one more thing.",
        "Sorry, typo.",
        "Sorry, the phone rang.",
        "No, stop.",
        "Make that work on phones.",
        "Actually, the gate is also heavy.",
        "I meant to ask you about lunch.",
        "Actually, what was it before?",
        "Wait, coffee is ready.",
        "Oh no, the train!",
    ],
)
def test_words_that_correct_nothing_leave_what_was_said(said: str) -> None:
    assert kept(f"{CODE} {said}\n") == ["The gate code is 4411."]


def test_only_plain_words_correct_the_turn_before() -> None:
    later = f"{CODE}\nAgent: Noted: 4421.\nUser: "
    assert kept(f"{later}Sorry, I meant 4412.\n") == ["The gate code is 4412."]
    assert kept(f"{later}No, it's 4411.\n") == ["The gate code is 4411."]
    asked = f"{CODE}\nAgent: How many keys?\nUser: "
    assert "The gate code is 4." in kept(f"{asked}Correction: 4.\n")


@pytest.mark.parametrize(
    ("said", "corrected"),
    [
        ("No, it's round. Remember that instead.", "The earth: it's round."),
        ("Remember instead that the earth is round.", "The earth is round."),
        ("Instead, remember that the earth is round.", "The earth is round."),
        ("Remember that the earth is a ball instead.", "The earth is a ball instead."),
    ],
)
def test_what_is_to_be_remembered_instead_replaces_the_request_before(
    said: str, corrected: str
) -> None:
    talk = "User: Remember that Bo rows.\nAgent: ok\nUser: Please remember the earth is flat.\n"
    assert kept(f"{talk}Agent: Hm.\nUser: {said}\n") == ["Bo rows.", corrected]


def test_instead_of_something_replaces_no_request() -> None:
    said = "User: Remember that Ada drinks milk.\nAgent: ok\nUser: Remember that Ada {}.\n"
    assert len(kept(said.format("eats rye instead of wheat"))) == 2
    assert len(kept("User: Remember that Bo rows. Remember that the pump is off instead.\n")) == 2


@pytest.mark.parametrize("line", ["Wait. No. ", "No, it's 4. ", "Remember that instead. "])
def test_many_corrections_are_read_in_linear_time(line: str) -> None:
    def make(length: int) -> str:
        return f"{CODE} {line * length}\nAgent: ok\nUser: {line * length}\n"

    assert growth(make, extract, 100) < MOST_GROWTH
