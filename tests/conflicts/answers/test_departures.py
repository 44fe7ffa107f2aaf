"""Who is gone from a place is gone as an answer, too: not a namesake, nor somebody elsewhere."""

from __future__ import annotations

import pytest

from conflicts.core.answers.departures import fuller_names, is_elsewhere, read_departure
from memories.core.answers import Answer
from memories.core.topic_words import stems
from tests.conflicts.answers.test_findings import rules

CAKE = "There was cake for {} on Friday."
WHOSE_BIKES = "Who fixes the bikes?"


@pytest.mark.parametrize(
    ("question", "name", "place"),
    [
        ("Does Mireille still work at the club?", "Mireille", "club"),
        ("Is Tomasz still at the clinic?", "Tomasz", "clinic"),
        ("Does Berta Holm still work for the sailing club?", "Berta Holm", "sailing club"),
        ("Is Enno still a member of the band?", "Enno", "band"),
        ("Is Priya still employed at Northwind?", "Priya", "Northwind"),
        ("Is Sunniva still employed by the hotel?", "Sunniva", "hotel"),
        ("Is Lena Fuchs still on the finance team?", "Lena Fuchs", "finance team"),
        ("Does Signe work at the plant nursery?", "Signe", "plant nursery"),
        ("Is Arash still part of the compiler group?", "Arash", "compiler group"),
        ("Does Reifen Holzer still exist in Linz?", "Reifen Holzer", "Linz"),
        ("Is Dr. Weiss still here?", "Weiss", ""),
    ],
)
def test_a_question_of_who_is_still_there_names_them(question: str, name: str, place: str) -> None:
    found = read_departure(question)
    assert found is not None
    assert found.name == frozenset(stems(name))
    assert found.place == frozenset(stems(place))
    assert not found.takes_part


@pytest.mark.parametrize(
    "question",
    [
        "Does Anna still drive the van?",
        "Does Anna still work from home?",
        "Does Anna still work at night?",
        "Does Anna still work on Mondays?",
        "Is Lena still at the dentist?",
        "Is Lena still on call?",
        "Does Redis still work for the sessions?",
        "Is the lift still in the north wing?",
    ],
)
def test_other_questions_tell_of_nobody_who_left(question: str) -> None:
    assert read_departure(question) is None


@pytest.mark.parametrize(
    ("text", "asked", "who", "question"),
    [
        ("Rule changes need a nod from Mireille.", "Who approves rule changes?", "Mireille",
         "Does Mireille still work at the club?"),
        ("The choir's fees go to Tilo.", "Who collects the choir's fees?", "Tilo",
         "Does Tilo still sing in the choir?"),
        ("The alarm code is known to Ragnar.", "Who knows the alarm code?", "Ragnar",
         "Does Ragnar still work for the archive?"),
        ("Notes of the orchestra are copied by Fenja.", "Who copies the orchestra's notes?",
         "Fenja", "Does Fenja still play in the orchestra?"),
    ],
)  # fmt: skip
def test_what_somebody_was_who_left_is_stale(
    text: str, asked: str, who: str, question: str
) -> None:
    older = (text, Answer(asked, who))
    gone = (CAKE.format(who), Answer(question, "no", was="yes"))
    assert rules(older, gone) == ["stale.answer-gone"]


@pytest.mark.parametrize(
    ("text", "asked", "who", "question"),
    [
        ("Anna Berg checks the dinghies.", "Who checks the dinghies?", "Anna Berg",
         "Does Anna Novak still work at the bar?"),
        ("Juniors of the sailing club go to Mireille.", "Who trains the juniors of the club?",
         "Mireille", "Does Mireille still work at the bakery?"),
        ("The altos of the choir follow Tilo.", "Who leads the altos of the choir?", "Tilo",
         "Is Tilo still a member of the board?"),
        ("The bikes are fixed by Fenja.", "Who fixes the bikes?", "Fenja",
         "Does Fenja still play in the orchestra?"),
        ("Ragnar is to be asked about the museum's lights.", "Who knows the museum's lights?",
         "Ragnar", "Does Ragnar still work for the archive?"),
        ("At Globex one asks Priya.", "Who is the contact at Globex?", "Priya",
         "Is Priya still employed at Northwind?"),
    ],
)  # fmt: skip
def test_namesakes_and_other_places_are_not_meant(
    text: str, asked: str, who: str, question: str
) -> None:
    gone = ("There was cake on Friday.", Answer(question, "no", was="yes"))
    assert rules((text, Answer(asked, who)), gone) == []


def test_a_first_name_that_two_people_have_is_neither() -> None:
    facts = (
        ("Anna Berg checks the dinghies.", Answer("Who checks the dinghies?", "Anna Berg")),
        ("Anna Klein counts the till.", Answer("Who counts the till?", "Anna Klein")),
    )
    gone = (CAKE.format("Anna"), Answer("Does Anna still work here?", "no", was="yes"))
    assert "stale.answer-gone" not in rules(*facts, gone)
    assert rules(facts[0], gone) == ["stale.answer-gone"]


def test_the_place_of_a_thing_that_is_gone_is_no_part_of_it() -> None:
    older = ("Mirrors run on host vega.", Answer("Where do mirrors run?", "host vega"))
    asked = "Does host vega still exist in the Dublin rack?"
    gone = ("It was carried to the dump.", Answer(asked, "no", was="yes"))
    assert rules(older, gone) == ["stale.answer-gone"]


def test_who_is_confirmed_for_something_later_is_relied_on() -> None:
    gone = (CAKE.format("Fenja"), Answer("Does Fenja still work here?", "no", was="yes"))
    later = ("Confirmed for the Lunds: Fenja fixes their bikes.", Answer(WHOSE_BIKES, "Fenja"))
    assert rules(gone, later) == ["stale.answer-gone"]
    still = ("Confirmed: Fenja stays and fixes the bikes.", Answer(WHOSE_BIKES, "Fenja"))
    assert rules(gone, still) == []


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Is the Northwind portal still available?", "in Northwind", ["stale.answer-gone"]),
        ("Is the Northwind app still available?", "Northwind's", ["stale.answer-gone"]),
        ("Is the Northwind printer still available?", "in Northwind", []),
    ],
)
def test_what_a_name_is_of_may_be_left_out_where_it_says_little(
    question: str, answer: str, expected: list[str]
) -> None:
    gone = ("Logins of Northwind are dead.", Answer(question, "no", was="yes"))
    used = (
        "Lena follows her yield in Northwind.",
        Answer("Where does Lena see her yield?", answer),
    )
    assert rules(gone, used) == expected


def test_what_stands_behind_a_name_and_where_it_is() -> None:
    anna = frozenset(stems("Anna"))
    assert fuller_names(anna, ["Anna Berg checks.", "Ask Anna."]) == {frozenset(stems("Berg"))}
    club = frozenset(stems("club"))
    assert is_elsewhere(club, "She trains at the school.")
    assert not is_elsewhere(club, "She trains the club's juniors at the school.")
    assert not is_elsewhere(club, "She knows the code.")


@pytest.mark.parametrize("text", ["It is over.", "No.", "Over.", "Not any more."])
def test_a_text_without_a_word_of_its_own_may_tell_of_an_end(text: str) -> None:
    approves = Answer("Who approves rule changes?", "Mireille")
    left = Answer("Does Mireille still work here?", "no", was="yes")
    asked = ("Rule changes need a nod from Mireille.", approves)
    assert rules(asked, (text, left)) == ["stale.answer-gone"]
