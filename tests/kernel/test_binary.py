"""Numbers as one parameter, written at once."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.db import connection, transaction

from engram.kernel.binary import Packed, PackedVector, binary_cursor, pack_ids, pack_texts
from engram.kernel.models import Workspace
from engram.kernel.planning import searching, writing

CASES: list[tuple[str, str, list[Any]]] = [
    ("float8", "f8", [0.1, -1e300, 5e-324, float("inf"), 0.0]),
    ("int", "i4", [1, -(2**31), 2**31 - 1]),
    ("bool", "?", [True, False, True]),
    ("float8", "f8", []),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "code", "numbers"), CASES)
def test_packed_numbers_arrive_as_they_were(kind: str, code: str, numbers: list[Any]) -> None:
    with binary_cursor() as cursor:
        packed = Packed(np.array(numbers, code))
        cursor.execute(f"SELECT %(numbers)b::{kind}[]", {"numbers": packed})
        assert cursor.fetchone() == (numbers,)


@pytest.mark.django_db
def test_what_is_missing_among_packed_numbers_is_no_number() -> None:
    with binary_cursor() as cursor:
        packed = Packed(np.array([None, 1.5], "f8"))
        cursor.execute(
            "SELECT array_agg(nullif(n, 'NaN')) FROM unnest(%(n)b::float8[]) AS n", {"n": packed}
        )
        assert cursor.fetchone() == ([None, 1.5],)


@pytest.mark.django_db
def test_packed_vectors_arrive_as_they_were() -> None:
    vector = np.array([0.1, -1e-38, 3e38], np.float32)
    with binary_cursor() as cursor:
        cursor.execute("SELECT (%(vector)s::vector)::real[]", {"vector": PackedVector(vector)})
        assert cursor.fetchone() == (vector.tolist(),)


@pytest.mark.django_db
@pytest.mark.parametrize("count", [0, 1, 3])
def test_packed_ids_arrive_as_they_were(count: int) -> None:
    ids = [uuid4() for _ in range(count)]
    with binary_cursor() as cursor:
        cursor.execute("SELECT %(ids)s::uuid[]", {"ids": pack_ids(ids)})
        assert cursor.fetchone() == (ids,)


@pytest.mark.django_db
@pytest.mark.parametrize("texts", [[], [""], ["a", "naïve \u4e16", 'a,"b"{}\\NULL', "NULL"]])
def test_packed_texts_arrive_as_they_were(texts: list[str]) -> None:
    with binary_cursor() as cursor:
        cursor.execute("SELECT %(texts)s::text[]", {"texts": pack_texts(texts)})
        assert cursor.fetchone() == (texts,)


@pytest.mark.django_db
def test_packed_ids_are_read_before_the_statement_is_sent() -> None:
    """A queryset that is read in between would wait for its own connection."""
    read: list[str] = []

    class Ids(list[UUID]):
        def __iter__(self) -> Iterator[UUID]:
            read.append("ids")
            return super().__iter__()

    packed = pack_ids(Ids([uuid4()]))
    assert read == ["ids"]
    with binary_cursor() as cursor:
        cursor.execute("SELECT cardinality(%(ids)s::uuid[])", {"ids": packed})
        assert cursor.fetchone() == (1,)
    assert read == ["ids"]


@pytest.mark.django_db
def test_statements_with_literals_in_between_do_not_prevent_preparing() -> None:
    with transaction.atomic():
        for number in range(150):  # more than psycopg counts
            with connection.cursor() as plain:
                plain.execute(f"SELECT {number}")
            if number % 149 == 0:
                with binary_cursor(prepares=True) as cursor:
                    cursor.execute("SELECT 1 AS rare, %s::int", [2])
        with connection.cursor() as plain:
            plain.execute(
                "SELECT count(*) FROM pg_prepared_statements"
                " WHERE statement LIKE 'SELECT 1 AS rare%%'"
            )
            assert plain.fetchone() == (1,)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("block", [searching, writing])
def test_the_server_keeps_the_plan_of_a_prepared_statement(
    block: Callable[..., AbstractContextManager[None]],
) -> None:
    workspace = Workspace.objects.create(slug="acme", name="Acme")
    name = f"id_{block.__name__}"  # a connection that lives longer keeps the other block's plan
    with block(workspace):
        for _ in range(3):
            with binary_cursor(prepares=True) as cursor:
                cursor.execute(
                    f"SELECT id AS {name} FROM kernel_workspace WHERE id = %s",  # noqa: S608
                    [workspace.pk],
                )
                assert cursor.fetchone() == (workspace.pk,)
        with connection.cursor() as plain:
            plain.execute(
                "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
                " WHERE statement LIKE %s",
                [f"SELECT id AS {name} FROM%"],
            )
            assert plain.fetchone() == (3, 0)


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


@pytest.mark.django_db
def test_a_connection_does_not_keep_the_parameters_of_statements() -> None:
    with transaction.atomic(), binary_cursor(prepares=True) as prepared:
        prepared.execute("SELECT 1 AS kept, %s::int", [2])
        tracemalloc.start()
        try:
            for number in range(20):
                with connection.cursor() as plain:
                    plain.execute("SELECT length(%s)", [f"{number:0>1000000}"])
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert kept < 4_000_000


@pytest.mark.django_db
def test_no_statement_is_prepared_for_a_pooler(settings: Any) -> None:
    settings.PREPARES_STATEMENTS = False
    with transaction.atomic(), binary_cursor(prepares=True) as cursor:
        for _ in range(3):
            cursor.execute("SELECT 1 AS pooled, %s::int", [2])
        cursor.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%AS pooled%%'"
        )
        assert cursor.fetchone() == (0,)
