"""An assistant's echo of the user: the user's words are kept, with the worth of either."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from memories.core.extraction.describing import Describing
from memories.core.extraction.echoes import find_echoes
from memories.core.extraction.extract import WORTH_FROM, extract
from memories.core.extraction.model_facts import Found, TranscriptText, accept_facts
from tests.growth import MOST_GROWTH, growth


def worth_of_assistants(features: Mapping[str, float]) -> float:
    """Return a worth by which only what an assistant says is kept."""
    return 0.0 if features["user"] else 0.9


@pytest.mark.parametrize(
    ("said", "echo"),
    [
        ("The deploy is on Friday.", "Noted, the deploy is on Friday."),
        ("The harvest begins in Lund.", "Got it: the harvest begins in Lund."),
        ("My rent is 900 euros.", "Right, your rent is 900 euros."),
        ("Keys go to Mrs Falk.", "Great, keys go to Mrs Falk then."),
    ],
)
@pytest.mark.parametrize("between", ["", "And the weather?\nAgent: Fine.\nUser: "])
def test_the_users_words_are_kept_in_place_of_an_echo(said: str, echo: str, between: str) -> None:
    found = extract(f"User: {said} {between}\nAgent: {echo}\n", worth_of_assistants)
    kept = [(one.role, one.fact.quote, one.fact.confidence) for one in found.kept]
    assert ("user", said, 0.9) in kept
    assert echo not in [quote for _, quote, _ in kept]
    assert [one.reason for one in found.refused if one.text == echo] == ["repeated"]
    assert all(one.worth >= WORTH_FROM for one in found.kept)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Is the deploy on Friday?", "The deploy is on Friday."),
        ("Maybe the deploy is on Friday.", "The deploy is on Friday."),
        ("The deploy is not on Friday.", "The deploy is on Friday."),
        ("The rent is 900 euros.", "The rent is 950 euros."),
        ("> The deploy is on Friday.", "The deploy is on Friday."),
        ("The deploy is on Friday.", "The deploy of the shop is on Friday and takes an hour."),
    ],
)
def test_what_says_something_else_is_no_echo(said: str, answer: str) -> None:
    found = extract(f"User: hi\n{said}\nAgent: {answer}\n", worth_of_assistants)
    assert [(one.role, one.fact.quote) for one in found.kept] == [("assistant", answer)]


def test_a_model_that_quotes_the_echo_is_given_the_users_words() -> None:
    text = TranscriptText(
        "User: The deploy is on Friday.\nAgent: Noted, the deploy is on Friday.\n"
    )
    passage = text.passages()[-1]
    quoted = Found(passage, "the deploy is on Friday", "The deploy is on Friday.", 1.0)
    [found] = accept_facts(text, [quoted]).kept
    assert (found.role, found.fact.quote) == ("user", "The deploy is on Friday.")
    assert (found.fact.confidence, found.fact.has_others_words) == (0.9, False)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Your rent is always 900 euros.", "Yes, my rent is always 900 euros."),
        ("The harvest begins in Lund.", "In Lund the harvest begins."),
    ],
)
def test_what_the_user_confirms_in_own_words_is_the_users(answer: str, said: str) -> None:
    found = extract(f"User: hi\nAgent: {answer}\nUser: {said}\n", worth_of_assistants)
    assert [(one.role, one.fact.quote) for one in found.kept] == [("user", said)]
    assert [one.reason for one in found.refused if one.text == answer] == ["repeated"]


@pytest.mark.parametrize(
    "said", ["The harvest begins in Lund.", "Maybe the harvest begins in Lund.", "Is that so?",
             "No, the harvest does not begin in Lund."]
)  # fmt: skip
def test_what_the_user_copies_or_doubts_stays_the_assistants(said: str) -> None:
    talk = f"User: hi\nAgent: The harvest begins in Lund.\nUser: {said}\n"
    found = extract(talk, worth_of_assistants)
    assert [one.role for one in found.kept] == ["assistant"]


@pytest.mark.parametrize("line", ["Bo owns payroll. ", "Ole owns the boats now. "])
def test_echoes_are_found_in_linear_time(line: str) -> None:
    def make(length: int) -> str:
        return f"User: {line * length}\nAgent: {'Bo owns payroll. ' * length}\n"

    def find(transcript: str) -> object:
        describing = Describing(transcript)
        return find_echoes(describing.describe_all(), describing.turns)

    assert growth(make, find, 100) < MOST_GROWTH
