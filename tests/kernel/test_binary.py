"""Numbers as one parameter, written at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction

from engram.kernel.binary import Packed, binary_cursor, packing_cursor

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


@pytest.mark.django_db
def test_only_statements_that_ask_for_it_are_prepared() -> None:
    def prepared(statement: str) -> int:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s",
                [f"{statement}%"],
            )
            return int(cursor.fetchone()[0])

    with transaction.atomic():
        for _ in range(10):
            with binary_cursor(prepares=True) as cursor:
                cursor.execute("SELECT 1 AS kept, %s::int", [2])
                assert cursor.fetchone() == (1, 2)
            with binary_cursor() as cursor:
                cursor.execute("SELECT 1 AS planned, %s::int", [2])
                assert cursor.fetchone() == (1, 2)
        assert prepared("SELECT 1 AS kept") == 1
        assert prepared("SELECT 1 AS planned") == 0
