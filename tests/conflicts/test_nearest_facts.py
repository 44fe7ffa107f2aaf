"""A change and a claim belong together where hardly another fact is nearer to either."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from conflicts.core.facts import DetectiveSettings, Fact
from conflicts.core.timeline import Timeline
from tests.conflicts.test_functional_relations import findings

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def timeline(cosines: list[float]) -> Timeline:
    """Return facts without common words, each with a cosine to the first one."""
    facts = [
        Fact(str(i), str(i), f"word{i}", "", "", "a", "", NOW + timedelta(hours=i), "user_stated")
        for i in range(len(cosines) + 1)
    ]
    rows = [(1.0, 0.0), *((cosine, np.sqrt(1 - cosine**2)) for cosine in cosines)]
    return Timeline(facts, np.array(rows, dtype=np.float32), DetectiveSettings())


def test_a_fact_is_among_the_nearest_until_enough_others_are_nearer() -> None:
    known = timeline([0.9, 0.8, 0.7, 0.6])
    assert known.is_among_nearest(0, 3, 3)  # two are nearer
    assert not known.is_among_nearest(0, 4, 3)
    assert known.is_among_nearest(0, 4, 4)


def test_facts_as_near_do_not_count() -> None:
    known = timeline([0.8, 0.8, 0.8])
    assert all(known.is_among_nearest(0, other, 1) for other in (1, 2, 3))


def test_both_facts_have_to_be_among_the_nearest_of_each_other() -> None:
    known = timeline([0.9, 0.8, 0.7])  # to the last one the two others are nearer than the first
    assert known.is_among_nearest(0, 3, 3)
    assert known.is_among_nearest(3, 0, 3)
    assert not known.are_among_nearest(3, 0, 2)


RETURN = (
    "The storefront keeps carts in Memcached.",
    "Moved the storefront carts from Memcached to Valkey.",
    "Cart lookups of the storefront read Memcached.",
)
# One word is in all three; the first is of another matter than the change.
BY_CHANCE = (
    "New icons go into the Fennick package only after Odile Brandt has approved them.",
    "Saskia Brandt's phone has taken over the small hours of billing from Dov Marchetti's.",
    "Odile Brandt has approved fourteen new icons for the Fennick package.",
)
ABOUT_THE_CHANGE = tuple(
    f"Saskia Brandt's phone rings in the small hours of billing {how}."
    for how in ("twice a week", "on feast days", "until six", "for the EU", "at the first alarm")
)


def reversals(texts: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [found.fact_ids for found in findings(texts) if found.kind == "reversal"]


def test_a_return_is_found_among_facts_about_other_things() -> None:
    assert reversals((*RETURN, *ABOUT_THE_CHANGE)) == [("0", "1", "2")]


def test_a_word_in_common_makes_no_return_where_other_facts_are_nearer() -> None:
    assert reversals(BY_CHANCE) != []
    assert reversals((*BY_CHANCE, *ABOUT_THE_CHANGE)) == []


def test_what_many_facts_name_may_still_be_gone() -> None:
    """Ten facts are nearer to the end than the one that leans on what ended."""
    near = (f"The legacy API has {number} endpoints." for number in range(2, 12))
    texts = ["The mobile app calls the legacy API.", *near, "The legacy API was retired in March."]
    assert ("0", "11") in [found.fact_ids for found in findings(texts) if found.kind == "stale"]
