"""A change and a claim belong together where hardly another fact is nearer to either."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

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
CHANCE = (
    "Night shift at Dock East starts at 22:00 and has eleven people.",
    "The night shift now hands over to the day shift in the Maple room.",
    "The night shift at Dock East has its meal at one.",
)
# Nearer to the change than what another shift does.
ABOUT_THE_CHANGE = (
    "The day shift takes over from the night shift in the Maple room.",
    "In the Maple room the night shift and the day shift hand over in ten minutes.",
    "The handover of the night shift in the Maple room is led by the shift lead.",
    "Day shift and night shift hand over with a checklist, in the Maple room.",
    "The handover in the Maple room ends when the day shift has signed.",
)


def test_a_return_is_found_among_facts_about_other_things() -> None:
    [found] = findings([*RETURN, *ABOUT_THE_CHANGE])
    assert found.kind == "reversal"
    assert found.fact_ids == ("0", "1", "2")


@pytest.mark.parametrize("others", [ABOUT_THE_CHANGE])
def test_a_common_word_makes_no_return_where_others_are_nearer(others: tuple[str, ...]) -> None:
    assert [one for one in findings([*CHANCE, *others]) if one.kind == "reversal"] == []
