"""Different amounts of one unit in other words."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_number import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The largest upload to the archive is 25 MB.",
            "The archive takes uploads up to 50 MB.",
        ),
        (
            "Files of up to 25 MB go into the archive.",
            "What is sent to the archive may have 50 MB.",
        ),
        ("The queue has 8 workers.", "The queue is served with 4 workers."),
    ],
)
def test_another_amount_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements, cosine=0.8) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The largest upload to the archive is 25 MB.",
            "The archive takes uploads up to 25 MB.",
        ),
        (
            "The freezer of the archive is set to 2 °C.",
            "In the archive the freezer stays at 36 °F.",
        ),
        (
            "Keys of lockers are valid for 90 days.",
            "Keys of lockers are renewed five days before they end.",
        ),
        (
            "Build time of the shop is at 38 minutes.",
            "Build time of the shop is at 9 minutes.",
        ),
        ("Quay 1 has 6 benches.", "At Quay 1 there are 2 benches with a roof."),
        ("Roof B carries 48 panels.", "There are 72 panels on roof C."),
        ("Incubator 1 is set to 37 degrees.", "Incubator 2 runs at 28 degrees for the yeast."),
    ],
)
def test_a_measured_value_a_rounding_an_offset_and_a_part_are_not(
    statements: tuple[str, ...],
) -> None:
    assert rules_of(*statements, cosine=0.8) == []
