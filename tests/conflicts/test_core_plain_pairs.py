"""Two plain statements in a nearly empty workspace: flagged or not, whatever else is noted."""

from __future__ import annotations

import pytest

from conflicts.core.cues import Cue, cues
from conflicts.core.detective import detect
from tests.conflicts.test_core_detective import NOW, similar, story, summary

BACKUPS = (
    "Nightly backups of db-main start at 02:15 UTC.",
    "Nightly backups of db-main start at 03:45 UTC.",
)


@pytest.mark.parametrize("days", [0, 20])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The zebra flag is enabled in production.", "The zebra flag is disabled in production."),
        ("Seats cost $5 a month.", "Seats cost $7 a month."),
        ("Standup is at 9:30.", "Standup is at 10:30."),
        ("Use tabs in Go code.", "Use spaces in Go code."),
        ("Gate seven opens at 6 am.", "Gate seven opens at 8 am."),
        BACKUPS,
    ],
)
def test_plain_contradiction_is_found(a: str, b: str, days: int) -> None:
    facts = story(a, b, days=days)
    assert summary(detect(facts, similar(facts, 0.65), now=NOW)) == [("ambiguity", ("f0", "f1"))]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Nightly backups of alpha-db start at 02:15 UTC.", BACKUPS[1]),
        ("Theta retries three times.", "Theta2 retries five times."),
        ("The alpha-db keeps 3 replicas.", "The beta-db keeps 5 replicas."),
        ("Backups of web-1 start at 02:15.", "Backups of web-2 start at 03:15."),
        ("The fund is 50% owned by Ana.", "The fund is 0.5 owned by Ana."),
    ],
)
def test_things_of_other_names_do_not_clash(a: str, b: str) -> None:
    facts = story(a, b)
    assert detect(facts, similar(facts, 0.87), now=NOW) == []


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ("db-main was upgraded to PostgreSQL 17 over the weekend.", [("ambiguity", ("f0", "f2"))]),
        ("The nightly backups of db-main were moved to 03:45 UTC.", []),
    ],
)
def test_only_a_change_of_the_matter_settles(
    between: str, found: list[tuple[str, tuple[str, ...]]]
) -> None:
    facts = story(BACKUPS[0], between, BACKUPS[1])
    assert summary(detect(facts, similar(facts), now=NOW)) == found


def test_being_enabled_is_a_state_and_having_been_is_a_change() -> None:
    assert Cue.SWITCH not in cues("The flag is disabled in production.")
    assert Cue.SWITCH in cues("The flag was disabled in production.")
