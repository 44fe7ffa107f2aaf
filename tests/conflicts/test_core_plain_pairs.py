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
        ("Postgres is backed up at noon.", "Redis is backed up at noon."),
        ("The train to Gdansk stops at platform 4.", "The bus to Gdansk stops at platform 4."),
        ("Kafka is monitored by Zabbix.", "RabbitMQ is monitored by Zabbix."),
        ("The car is parked behind the shed.", "The bike is parked behind the shed."),
        ("Coffee is free in building 7.", "Tea is free in building 7."),
        ("Postgres runs on host db-1.", "Redis runs on host db-1."),
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


WITHOUT = [
    "The price excludes VAT.",
    "The price does not include VAT.",
    "VAT is not included in the price.",
    "VAT is not part of the price.",
    "VAT is excluded from the price.",
    "The price is without VAT.",
    "There is no VAT in the price.",
    "VAT was removed from the price.",
]


@pytest.mark.parametrize("cosine", [0.6, 0.85])
@pytest.mark.parametrize("newer", WITHOUT)
@pytest.mark.parametrize("older", WITHOUT[:6])
def test_what_is_said_not_to_be_there_is_no_claim_that_its_end_takes_away(
    older: str, newer: str, cosine: float
) -> None:
    facts = story(older, newer)
    assert detect(facts, similar(facts, cosine), now=NOW) == []
    alone = story(older)
    assert detect(alone, similar(alone, cosine), now=NOW) == []


@pytest.mark.parametrize(
    ("older", "newer", "kind"),
    [
        ("The price excludes VAT.", "The price includes VAT.", "ambiguity"),
        ("The price includes VAT.", "The price excludes VAT.", "ambiguity"),
        ("The price of the Pro plan includes VAT.", "There is no VAT in the Pro plan.", "stale"),
        ("Pack the red scanner without its box.", "The red scanner was stolen.", "stale"),
    ],
)
def test_what_is_said_to_be_there_still_is(older: str, newer: str, kind: str) -> None:
    facts = story(older, newer)
    assert [found for found, _ in summary(detect(facts, similar(facts, 0.7), now=NOW))] == [kind]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The backup excludes the logs folder.", "The backup does not include the logs folder."),
        ("The backup does not include the logs folder.", "The backup excludes the logs folder."),
        ("The quote excludes travel costs.", "Travel costs are not included in the quote."),
    ],
)
def test_opposite_words_of_which_one_is_denied_make_one_claim(older: str, newer: str) -> None:
    facts = story(older, newer)
    assert detect(facts, similar(facts, 0.85), now=NOW) == []
