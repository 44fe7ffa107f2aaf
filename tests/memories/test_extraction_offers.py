"""What users answer to an assistant that remembers, or offers to, decides what is kept."""

from __future__ import annotations

import pytest

from memories.core.extraction.extract import Extraction, extract

SAID = "I see the dentist twice. My flat has no oven."


def answered(said: str, asked: str, answer: str) -> Extraction:
    """Read a conversation in which a user answers an assistant."""
    return extract(f"User: {said}\nAssistant: {asked}\nUser: {answer}\nAssistant: Right.\n")


def asked_for(found: Extraction) -> list[str]:
    """Return what is kept because the user wanted it."""
    return [one.fact.quote for one in found.kept if one.is_request]


def taken_back(found: Extraction) -> set[str]:
    """Return what is not to be stored."""
    return {one.text for one in found.refused if one.reason == "not_to_be_stored"}


@pytest.mark.parametrize("answer", ["yes please", "Sure, go ahead.", "Yes, and thank you!", "ok"])
@pytest.mark.parametrize(
    "offer", ["Shall I remember that?", "Should I note these things?", "Want me to save that?"]
)
def test_a_yes_to_an_offer_asks_for_what_was_said(offer: str, answer: str) -> None:
    assert asked_for(answered("The tests need Redis on port 6380.", offer, answer)) == [
        "The tests need Redis on port 6380."
    ]


@pytest.mark.parametrize(
    ("answer", "wanted", "unwanted"),
    [
        ("Only the oven.", {"My flat has no oven."}, {"I see the dentist twice."}),
        ("the second one, please", {"My flat has no oven."}, set()),
        ("The first part, yes. Not the oven.", {"I see the dentist twice."},
         {"My flat has no oven."}),
        ("dentist no, oven yes", {"My flat has no oven."}, {"I see the dentist twice."}),
        ("No, just the first.", {"I see the dentist twice."}, {"My flat has no oven."}),
        ("not the dentist", set(), {"I see the dentist twice."}),
        ("No.", set(), {"I see the dentist twice.", "My flat has no oven."}),
        ("I'd rather you didn't.", set(), {"I see the dentist twice.", "My flat has no oven."}),
    ],
)  # fmt: skip
def test_an_answer_may_be_about_a_part(answer: str, wanted: set[str], unwanted: set[str]) -> None:
    found = answered(SAID, "Shall I remember both?", answer)
    assert set(asked_for(found)) == wanted
    assert taken_back(found) - {answer} == unwanted


def test_a_clause_of_a_sentence_may_be_wanted_alone() -> None:
    said = "I weigh 92 kilos and I take metformin."
    found = answered(said, "Shall I remember that?", "Only the metformin.")
    assert asked_for(found) == ["I take metformin."]
    assert taken_back(found) == {"I weigh 92 kilos"}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Shall I remember that?", "ok so look for Tuesday"),
        ("Shall I remember that?", "Is there a fee?"),
        ("Shall I keep or drop it?", "Yes."),
        ("Shall I draft a note for them?", "Yes."),
        ("Shall I save the file?", "Yes."),
        ("Noted.", "Yes, thanks."),
    ],
)
def test_another_answer_asks_for_nothing(asked: str, answer: str) -> None:
    found = answered("The tests need Redis on port 6380.", asked, answer)
    assert asked_for(found) == []
    assert taken_back(found) == set()


def test_a_yes_asks_for_no_question_and_no_order() -> None:
    said = "Can you book a table? Call the bar first. Our group has 9 people."
    found = answered(said, "Shall I remember that?", "yes")
    assert asked_for(found) == ["Our group has 9 people."]


@pytest.mark.parametrize("answer", ["no, delete that", "not the back thing please, delete that"])
def test_what_was_noted_is_taken_back_by_name(answer: str) -> None:
    found = answered("My back hurts from this chair.", "I've noted both.", answer)
    assert "My back hurts from this chair." in taken_back(found)
