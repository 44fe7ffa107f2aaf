"""How the database is emptied after a test that commits: rows are deleted where there are any.

Django truncates all tables, each with new files for all of its indexes, and makes content types and
permissions again: ten times as much work as most tests do themselves.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import TransactionTestCase

MOST_BYTES = (
    4 * 2**20
)  # to delete more takes longer than to truncate; it counts what is deleted too
KEPT = ("django_migrations", "django_content_type", "auth_permission")  # as migrations left them
TABLES = """
    SELECT oid::regclass::text, relrowsecurity, pg_relation_size(oid) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT relname = ANY(%s)
"""
# Row-level security shows the rows of one workspace at a time.
DELETE = """
DO $$
DECLARE
    served uuid;
BEGIN
    FOR served IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', served::text, true);
        {confined}
    END LOOP;
    PERFORM set_config('engram.workspace', '', true);
    {others}
END
$$;
"""


def use(patch: pytest.MonkeyPatch) -> None:
    """Empty the database this way after every test that commits."""
    patch.setattr(TransactionTestCase, "_fixture_teardown", _empty)


def _empty(_case: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(TABLES, [list(KEPT)])
        tables = cursor.fetchall()
        if sum(size for _, _, size in tables) > MOST_BYTES:
            cursor.execute("TRUNCATE " + ", ".join(name for name, _, _ in tables))
            return
        deletes: dict[bool, list[str]] = {True: [], False: []}
        for name, is_confined, size in tables:
            if size:
                deletes[is_confined].append(f"DELETE FROM {name};")  # noqa: S608
        confined, others = (" ".join(deletes[kind]) for kind in (True, False))
        cursor.execute(DELETE.format(confined=confined, others=others))
