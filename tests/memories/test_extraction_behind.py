"""Requests to remember that name what stands beside them without saying it."""

from __future__ import annotations

import pytest

from memories.core.extraction.extract import extract
from tests.memories.test_extraction_asked import requested
from tests.memories.test_extraction_requests import only

PIER = "The pier is closed to lorries."


@pytest.mark.parametrize(
    "asked",
    [
        "Please make sure you remember this next time.",
        "Please make sure to remember that in future.",
        "Please keep that in mind for next week.",
        "Please remember that next time.",
        "Remember it going forward.",
        "Remember this from now on, please.",
        "Keep it in mind for when we talk again.",
        "In future, please remember that.",
        "You'll need that later, so remember it.",
        "You'll need that later. Remember it.",
        "It is important, so keep it in mind.",
        "Remember that, will you?",
        "Please note that down, ok?",
        "Keep that.",
        "Please keep this.",
        "Remember where the pier is.",
        "Remember what I just told you.",
        "Remember it, please.",
    ],
)
def test_a_request_that_says_only_when_or_why_is_about_the_sentence_before(asked: str) -> None:
    assert only(f"User: {PIER} {asked}\n") == (PIER, 1.0)


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("My name is Ines. Remember my name.", "The user said: My name is Ines."),
        ("I'm Ines. Remember my name.", "The user said: I'm Ines."),
        ("I sit in office 5-12. Remember where I sit.", "The user said: I sit in office 5-12."),
        ("My dog is called Bertil. Remember his name.", "The user said: My dog is called Bertil."),
        ("Our vet is called Bo. Remember his name, please.", "Our vet is called Bo."),
        ("Our mill is in Tonder. Remember where our mill is.", "Our mill is in Tonder."),
        ("The ferry costs 40 euros. Remember how much it costs.", "The ferry costs 40 euros."),
        ("The pump is P-204. Remember that number.", "The pump is P-204."),
        ("Can you note down my preference? I prefer tea.", "The user said: I prefer tea."),
        ("I'm new. Could you save our address? We live at Ny 4.", "We live at Ny 4."),
        ("I live at Ny 4. Can you note down my address?", "The user said: I live at Ny 4."),
    ],
)
def test_a_name_for_what_is_said_beside_it_is_no_fact(said: str, fact: str) -> None:
    assert only(f"User: {said}\n") == (fact, 1.0)


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("It rained. Remember my name is Ines.", ["The user said: my name is Ines."]),
        ("It rained. Remember my dog Bertil.", ["The user said: my dog Bertil."]),
        ("I left. Remember my address: Ny 4.", ["The user said: my address: Ny 4."]),
        ("It rained. Remember where the key is: in the hut.", ["Where the key is: in the hut."]),
        ("It rained. Remember that next week we are shut.", ["Next week we are shut."]),
        ("It rained. Remember that in future bills go to Bo.", ["In future bills go to Bo."]),
        ("It rained. Remember that from now on bills go to Bo.", ["From now on bills go to Bo."]),
        ("It rained. Remember who runs the mill.", ["Who runs the mill."]),
        ("The mill is old. Remember its roof leaks.", ["The mill is old. Its roof leaks."]),
        ("The gate is not shut. Remember the gate is shut.", ["The gate is shut."]),
        ("I prefer tea. Can you note down my preference? I have to go.",
         ["The user said: I prefer tea."]),
        ("Can you note down my preference? Do you know it?", []),
        ("Can you remember my name? I told you.", []),
        ("Can you save my draft? I need it.", []),
        ("Is the pier shut? Remember that, will you?", []),
        ("Is the pier shut? Remember that.", []),
        ("Rename the header. Keep that.", []),
        ("Rename the header, keep that.", []),
        ("That's fine. Keep that.", []),
        ("The header works. Keep it.", []),
        ("The tests pass. Commit it.", []),
        ("The tests pass. Commit now.", []),
        ("I need it in May, so remember that.", ["The user said: I need it in May"]),
        ("The test is red. Keep that branch.", []),
        ("Do you remember that, will you?", []),
        ("Remember that next time.", []),
    ],
)  # fmt: skip
def test_a_request_that_says_something_keeps_that(said: str, facts: list[str]) -> None:
    assert requested(said) == facts


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("Please log that the kiln was relined.", ["The kiln was relined."]),
        ("Kindly log that Petra leads the night shift.", ["Petra leads the night shift."]),
        ("Please retain the info that the pier is shut.", ["The pier is shut."]),
        ("Please keep this in your notes for our next chats: Bo paints.", ["Bo paints."]),
        ("remember: the room is 204, ok?", ["The room is 204"]),
        ("Remember that the lab is in wing D, will you?", ["The lab is in wing D"]),
        ("Log that the job failed.", []),
        ("Log that into the console.", []),
        ("Remember the room, right?", []),
    ],
)
def test_more_forms_of_requests(said: str, facts: list[str]) -> None:
    assert requested(said) == facts


def test_a_name_of_nothing_that_was_said_is_kept_with_little_confidence() -> None:
    assert only("User: Remember my birthday.\n") == ("The user said: my birthday.", 0.5)
    assert requested("Can you note down my birthday?") == []


def test_what_a_request_is_about_counts_as_it_was_said() -> None:
    assert only("User: Maybe the pier is shut. Remember that.\n")[1] == 0.8
    assert only("User: Buy tar. Remember that.\n") == (
        "The user asked to remember: “Buy tar.”", 0.5
    )  # fmt: skip


def test_what_the_assistant_said_is_no_name_for_it() -> None:
    found = extract("Agent: Your mill is in Tonder.\nUser: Remember where our mill is.\n")
    assert [one.fact.text for one in found.kept if one.is_request] == ["Where our mill is."]
