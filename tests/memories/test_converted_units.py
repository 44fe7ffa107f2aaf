"""Quantities that people convert into other units and round."""

from __future__ import annotations

import pytest

from memories.core.claims import compare

FORMS = ("The limit is {}.", "The limit on the ramp is at most {}.")


def relations(a: str, b: str) -> set[str]:
    return {
        compare(form.format(x), form.format(y)).relation
        for form in FORMS
        for x, y in ((a, b), (b, a))
    }


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("50 mph", "80 km/h"),
        ("62 mph", "100 km/h"),
        ("50 mph", "80.5 km/h"),
        ("150 pounds", "68 kg"),
        ("6 feet", "183 cm"),
        ("1,000 feet", "305 m"),
        ("26.2 miles", "42.2 km"),
        ("fifty mph", "80 km/h"),
    ],
)
def test_a_converted_value_is_left_to_people_as_they_round(a: str, b: str) -> None:
    assert relations(a, b) == {"different"}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("50 mph", "90 km/h"),
        ("50 mph", "80.4 km/h"),  # stated to the tenth, where 50 mph are 80.5
        ("62 mph", "101 km/h"),
        ("60 mph", "100 km/h"),
        ("6 feet", "180 cm"),
        ("80 km/h", "80.5 km/h"),
        ("50 mph", "50.4 mph"),
        ("100 cm", "1.01 m"),
        ("200 mph", "204 mph"),
    ],
)
def test_values_stated_more_exactly_or_in_like_units_exclude_each_other(a: str, b: str) -> None:
    assert relations(a, b) == {"contradicts"}
