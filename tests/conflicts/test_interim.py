"""What is so on an occasion, or for the time being, leaves the standing rule alone."""

from __future__ import annotations

import pytest

from conflicts.core.cues import Cue, cues
from conflicts.core.occasions import is_of_other_time
from conflicts.core.statements import read
from tests.conflicts.rules.stories import rules_of
from tests.conflicts.test_core_detective import story


@pytest.mark.parametrize(
    "interim",
    [
        "Over Easter the kiosk opens at 12:00.",
        "Over the bank holiday weekend the kiosk opens at 12:00.",
        "On New Year's Eve the kiosk opens at 12:00.",
        "Next week the kiosk opens at 12:00.",
        "Exceptionally the kiosk opens at 12:00 tomorrow.",
        "Because of the fair, the kiosk opens at 12:00 this Sunday.",
        "As long as the door is stuck the kiosk opens at 12:00.",
        "This week, while the lift is repaired, the kiosk opens at 12:00.",
        "In January the kiosk opens at 12:00.",
    ],
)
def test_an_interim_hour_is_no_conflict(interim: str) -> None:
    assert rules_of("The kiosk opens at 9:00.", interim, cosine=0.85) == []


@pytest.mark.parametrize(
    "statements",
    [
        ("Over Easter the kiosk opens at 10:00.", "Over Easter the kiosk opens at 11:00."),
        ("In January the kiosk opens at 10:00.", "In January the kiosk opens at 11:00."),
    ],
)
def test_two_hours_of_one_occasion_are(statements: tuple[str, str]) -> None:
    assert len(rules_of(*statements, cosine=0.85)) == 1


def test_an_occasion_in_front_is_of_another_time() -> None:
    plain, absent = story("Olga signs the bills.", "In Olga's absence Ruben signs the bills.")
    assert is_of_other_time(read(plain), read(absent))
    assert is_of_other_time(read(absent), read(plain))
    assert not is_of_other_time(read(absent), read(plain), asked="Who signs in Olga's absence?")


@pytest.mark.parametrize(
    "text",
    [
        "Next week we move the carts from Redis to Valkey.",
        "This week the old lift was taken down.",
        "The audit of next week's release is done.",
    ],
)
def test_what_happens_in_a_week_is_not_bounded_by_it(text: str) -> None:
    assert Cue.TEMPORARY not in cues(text)
