"""Ways in which two texts of one sentence contradict each other."""

from __future__ import annotations

import pytest

from conflicts.core.rules.one_sentence import RULES
from memories.core.claims import Contradiction, compare
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    ("way", "older", "newer"),
    [
        ("number", "Seats cost $5 a month.", "Seats cost $7 a month."),
        ("version", "The depot runs Kafka 3.6.", "The depot runs Kafka 3.9."),
        ("date", "The fair opens on 4 May.", "The fair opens on 11 May."),
        ("time", "Standup is at 9:30.", "Standup is at 10:30."),
        ("choice", "The depot's guide is in French.", "The depot's guide is in English."),
        ("opposites", "The side gate is locked.", "The side gate is unlocked."),
        ("negation", "The export holds names.", "The export does not hold names."),
        ("owner", "Ana approves the refunds.", "Boris approves the refunds."),
        ("number", "The coins are counted by 3 people.", "The coins are counted by 5 people."),
        (
            "pairing",
            "Guides wear red, stewards yellow.",
            "Stewards wear red, guides yellow.",
        ),
        (
            "order",
            "The hall is swept before the chairs are set up.",
            "The chairs are set up first, and the hall is swept afterwards.",
        ),
    ],
)
def test_a_contradiction_is_found_by_its_way(way: Contradiction, older: str, newer: str) -> None:
    assert compare(older, newer).contradiction == way
    assert rules_of(older, newer, cosine=0.8) == [(RULES[way].id,)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Seats cost $5 a month.", "Seats cost 5 dollars a month."),
        ("The fee excludes VAT.", "The fee is without VAT."),
        ("The train to Gdansk stops at platform 4.", "The bus to Gdansk stops at platform 4."),
        ("The search timeout is 30 s.", "The search timeout is 30000 ms."),
        ("12 bees were counted at the hive.", "15 bees were counted at the hive."),
    ],
)
def test_what_agrees_or_speaks_of_other_things_is_not(older: str, newer: str) -> None:
    assert rules_of(older, newer, cosine=0.8) == []


def test_only_a_contradiction_names_a_way() -> None:
    assert compare("Seats cost $5.", "Seats cost $5.").contradiction is None
    assert compare("Seats cost $5.", "The fair opens on 4 May.").contradiction is None


def test_the_way_belongs_to_the_reasons_whatever_the_order() -> None:
    one, other = "Billing runs on PostgreSQL 15.", "Billing runs on PostgreSQL 17."
    assert compare(one, other).contradiction == compare(other, one).contradiction == "version"


def test_two_people_in_one_role_contradict_each_other_however_far_their_vectors_are() -> None:
    leads = "Marta Oliveira leads the translation group."
    assert rules_of(leads, "The translation group is headed by Piet Jansen.", cosine=0.4) == [
        ("ambiguity.owner",)
    ]
    assert rules_of(leads, "The translation desk is headed by Piet Jansen.", cosine=0.4) == []
