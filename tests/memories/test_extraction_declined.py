"""What its speaker asks to remember and then declines, and words that only look like that."""

from __future__ import annotations

import pytest

from memories.core.extraction.declining import declines
from memories.core.extraction.extract import extract
from tests.growth import MOST_GROWTH, growth
from tests.memories.test_extraction_rules import kept

OVEN = "User: Remember that Ole bakes.\nAgent: ok\nUser: Remember that the oven runs on gas."


@pytest.mark.parametrize(
    "words",
    [
        "On second thought, no.",
        "On second thoughts, better not.",
        "No, don't.",
        "No no, please don't.",
        "Don't bother.",
        "Hmm, actually no.",
        "Wait, no!",
        "Actually, scratch that.",
        "Actually, leave it out.",
        "Thinking about it, let's not.",
        "I've changed my mind.",
        "Come to think of it, no need.",
        "Sorry, drop that one.",
        "No, please delete it.",
        "Oh, skip it, thanks.",
    ],
)
@pytest.mark.parametrize("between", [" ", "\nAgent: Noted.\nUser: "])
def test_what_was_asked_before_is_taken_back(words: str, between: str) -> None:
    found = extract(f"{OVEN}{between}{words}\nAgent: Fine.\n")
    assert [one.fact.text for one in found.kept] == ["Ole bakes."]
    declined = {one.reason for one in found.refused if "oven" in one.text or one.text == words}
    assert declined == {"not_to_be_stored"}


@pytest.mark.parametrize(
    "said",
    [
        "Remember that the oven runs on gas, no wait, don't.",
        "Remember that the oven runs on gas - actually, no.",
        "Remember that the oven runs on gas. Thanks!\nAgent: Noted.\nUser: On second thought, no.",
        "Remember that the oven runs on gas.\nAgent: Shall I really keep that?\nUser: No, don't.",
        "Remember that the oven runs on gas.\nAgent: Shall I save it for later?\nUser: No need.",
    ],
)
def test_it_is_taken_back_in_its_sentence_and_behind_other_words(said: str) -> None:
    assert kept(f"User: {said}\nAgent: Fine.\n") == []


@pytest.mark.parametrize(
    "said",
    [
        "No problem.",
        "Oh no!",
        "No, the dough needs an hour.",
        "Don't burn yourself.",
        "Please remove it.",
        "Delete that.",
        "Leave it.",
        "Actually, it is an old one.",
        "On second thought, we eat at noon.",
        "\nAgent: Shall I heat it?\nUser: No, don't.",
        "\nAgent: Noted. Should I order flour?\nUser: On second thought, no.",
        "\nAgent: Noted. Shall I save it to the README, too?\nUser: No need.",
        "\nAgent: Noted. Should I log it in the ticket?\nUser: No, don't.",
        "\nAgent: Noted. Shall I keep this tray?\nUser: No, don't.",
        "\nBo: No, don't.",
    ],
)
def test_other_words_leave_what_was_asked(said: str) -> None:
    talk = f"Bo: hi\nBo: hello there\n{OVEN} {said}\nAgent: Fine.\n"
    assert "The oven runs on gas." in kept(talk)


def test_what_a_request_quotes_takes_nothing_back() -> None:
    assert kept("User: Remember that Bo said: actually, no.\nAgent: Noted.\n") == [
        "Bo said: actually, no."
    ]


@pytest.mark.parametrize(
    "words", ["On second thought, no.", "No, don't.", "Actually, don't.", "I changed my mind."]
)
def test_such_words_are_no_memory_by_themselves(words: str) -> None:
    assert declines(words)
    assert kept(f"Agent: The tram is late.\nUser: {words}\nAgent: Noted.\n") == []
    assert kept(f"User: We should always bake at night. {words}\nAgent: Noted.\n") == []


@pytest.mark.parametrize("line", ["Remember that Ole bakes. ", "Thanks. No, don't. "])
def test_declined_requests_are_found_in_linear_time(line: str) -> None:
    def make(length: int) -> str:
        return f"User: {line * length}\nAgent: ok\n" * 2 + "User: No, don't.\n" * length

    assert growth(make, extract, 200) < MOST_GROWTH
