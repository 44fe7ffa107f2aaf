"""Wishes, ideas, conditions and old sources are no facts, and nothing is derived from them."""

from __future__ import annotations

import pytest

from memories.core.claims import read
from memories.core.typed_answers import typed_answers
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "wish",
    [
        "The drivers want the depot to open at 6:00.",
        "Nobody wants the depot to open at 6:00.",
        "We discussed opening the depot at 6:00.",
        "The manager considers opening the depot at 6:00.",
        "Let's open the depot at 6:00.",
        "According to an old leaflet the depot opens at 6:00.",
        "The neighbours complained that the depot opens at 6:00.",
        "The drivers have asked for the depot to open at 6:00.",
        "Drivers keep asking for the depot to be opened at 6:00.",
        "Our tenant requested that the depot open at 6:00.",
        "The foreman hopes that the depot opens at 6:00.",
        "If the council agrees, the depot will open at 6:00.",
        "If we get the money, the depot opens at 6:00.",
    ],
)
def test_an_hour_that_somebody_wishes_for_is_no_conflict(wish: str) -> None:
    assert rules_of("The depot opens at 9:00.", wish, cosine=0.85) == []
    assert typed_answers(wish) == ()


@pytest.mark.parametrize(
    "wish",
    [
        "If the motion passes, the fee will be 80 euros.",
        "The union demands that the fee be 80 euros.",
        "A fee of 80 euros was discussed.",
        "The board discussed a fee of 80 euros.",
        "We considered a fee of 80 euros.",
        "According to last year's flyer, the fee is 80 euros.",
    ],
)
def test_an_amount_that_somebody_wishes_for_is_no_conflict(wish: str) -> None:
    assert rules_of("The fee is 100 euros.", wish, cosine=0.85) == []


@pytest.mark.parametrize(
    "text",
    [
        "If a child is ill, parents will call the school by 8:00.",
        "If you are on call, you will be phoned.",
        "We ask guests to leave by 10:00.",
        "Guests are asked to leave by 10:00.",
        "The form asks for 3 signatures.",
        "Club debates last 90 minutes.",
        "The desk considers a ticket stale after 14 days.",
        "The scheduler evaluates the rules every 5 minutes.",
        "If a guest insists that he paid, the clerk looks it up.",
        "The API expects the client to send a ping.",
        "Risks are discussed in the stand-up.",
        "According to the timetable the bus leaves at 9:00.",
    ],
)
def test_a_rule_in_force_is_a_fact(text: str) -> None:
    assert [claim.modality for claim in read(text).claims] == ["fact"]


def test_a_wish_may_be_told_late_in_a_sentence() -> None:
    text = "No map for the game: Anouk, the lead of the level team, wants players to find the way."
    assert read(text).claims[-1].modality == "proposal"


def test_of_whom_a_rule_is_said_is_no_wish() -> None:
    assert read("Members who want to leave write to Ana.").claims[0].modality == "fact"


def test_what_a_condition_limits_answers_no_plain_question() -> None:
    assert typed_answers("Over Easter the kiosk opens at 10:00.") == ()
    assert typed_answers("An additional tour starts at 15:30.") == ()
    assert typed_answers("The kiosk opens at 10:00.") != ()
