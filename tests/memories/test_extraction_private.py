"""What its speaker keeps off the record: beside the request, in a later turn, or everything."""

from __future__ import annotations

import pytest

from memories.core.extraction.extract import extract
from tests.growth import MOST_GROWTH, growth
from tests.memories.test_extraction_rules import kept

FERRY = "User: Remember that the ferry to Lorn leaves at nine."


@pytest.mark.parametrize(
    "request_text",
    [
        "Wait, no, please don't save that.",
        "Never mind, don't keep it.",
        "Oh, I shouldn't have told you; don't note that.",
        "Sorry, that's private, don't store it.",
        "That must not end up in your notes.",
        "Erase that from your memory.",
        "Delete what I just said.",
        "Forget I said anything.",
        "I'd rather you didn't record that.",
    ],
)
@pytest.mark.parametrize(
    "between", [" ", "\nAgent: Noted: the ferry to Lorn leaves at nine.\nUser: "]
)
def test_a_request_not_to_store_is_about_what_was_said_before(
    request_text: str, between: str
) -> None:
    found = extract(f"User: Remember that Ole rows.\nAgent: ok\n{FERRY}{between}{request_text}\n")
    assert [one.fact.text for one in found.kept] == ["Ole rows."]
    said = {one.reason for one in found.refused if "ferry" in one.text}
    assert said == {"not_to_be_stored"}


def test_a_later_turn_is_about_all_of_the_turn_before() -> None:
    said = "User: From now on Bo rows. Remember that Ada steers.\nAgent: ok\nUser: {}\n"
    assert len(kept(said.format("Thanks!"))) == 2
    assert kept(said.format("That was off the record, by the way.")) == []


@pytest.mark.parametrize(
    "request_text",
    [
        "Don't store anything from this chat.",
        "Please remember nothing of what we discuss today.",
        "This whole conversation is off the record.",
        "Our chat today must not be saved.",
        "None of this should be remembered.",
        "Keep this session out of your memory.",
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_nothing_is_kept_of_a_conversation_that_is_to_be_private(
    request_text: str, is_first: bool
) -> None:
    asks, says = f"User: {request_text}\nAgent: Sure.\n", f"{FERRY}\nAgent: Noted.\n"
    if is_first:
        says = says.replace("Remember that", "From now on")
    assert kept(says) != []
    found = extract(asks + says if is_first else says + asks)
    assert found.kept == ()
    assert {one.reason for one in found.refused} == {"not_to_be_stored"}


def test_what_is_asked_later_is_kept_of_a_private_conversation() -> None:
    said = f"User: Don't store anything from this chat. From now on Bo rows.\nAgent: ok\n{FERRY}\n"
    assert kept(said) == ["The ferry to Lorn leaves at nine."]


@pytest.mark.parametrize(
    "said",
    [
        "Don't tell him that.",
        "\nAgent: Shall I store the log as well?\nUser: No, don't do that.",
        "\nAgent: ok\nUser: Don't keep anything in the fridge of the lab.",
        "\nAgent: I don't store anything from this chat.",
        "\nAgent: ok\nUser: Don't store this: my fee is 90.",
        "Calls with Bern must not be recorded by the office.",
    ],
)
def test_words_that_keep_nothing_private_leave_what_was_said(said: str) -> None:
    assert "The ferry to Lorn leaves at nine." in kept(f"{FERRY} {said}\n")


@pytest.mark.parametrize("line", ["Don't save that. ", "From now on Bo rows. "])
def test_many_requests_not_to_store_are_read_in_linear_time(line: str) -> None:
    def make(length: int) -> str:
        asks = "Don't save that. " * length
        return f"User: {line * length}\nAgent: ok\nUser: {asks}\n"

    assert growth(make, extract, 200) < MOST_GROWTH
