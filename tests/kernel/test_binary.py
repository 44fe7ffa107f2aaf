"""Numbers as one parameter, written at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engram.kernel.binary import Packed, packing_cursor

CASES: list[tuple[str, str, list[Any]]] = [
    ("float8", "f8", [0.1, -1e300, 5e-324, float("inf"), 0.0]),
    ("int", "i4", [1, -(2**31), 2**31 - 1]),
    ("bool", "?", [True, False, True]),
    ("float8", "f8", []),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "code", "numbers"), CASES)
def test_packed_numbers_arrive_as_they_were(kind: str, code: str, numbers: list[Any]) -> None:
    with packing_cursor() as cursor:
        packed = Packed(np.array(numbers, code))
        cursor.execute(f"SELECT %(numbers)b::{kind}[]", {"numbers": packed})
        assert cursor.fetchone() == (numbers,)


@pytest.mark.django_db
def test_what_is_missing_among_packed_numbers_is_no_number() -> None:
    with packing_cursor() as cursor:
        packed = Packed(np.array([None, 1.5], "f8"))
        cursor.execute(
            "SELECT array_agg(nullif(n, 'NaN')) FROM unnest(%(n)b::float8[]) AS n", {"n": packed}
        )
        assert cursor.fetchone() == ([None, 1.5],)
