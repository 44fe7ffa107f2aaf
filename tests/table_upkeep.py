"""Vacuum the tables of the test database between modules, and never analyse them.

Autovacuum does both whenever its minute comes: in the midst of a test whose rows nobody else sees
yet. The planner then takes full tables for empty, for all tests that follow: one count of what
waits, of some milliseconds, took two seconds on each page of a walk.
"""

from __future__ import annotations

from django.db import connection

MOST_PAGES = 16  # a table of this size is read in no time, whatever rows in it are dead
_LEAVE_ALONE = """
DO $$
DECLARE
    owned regclass;
BEGIN
    FOR owned IN
        SELECT oid FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relpersistence = 'p'
    LOOP
        EXECUTE format(
            'ALTER TABLE %s SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)', owned
        );
    END LOOP;
END
$$;
"""
_GROWN = """
    SELECT oid::regclass::text FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND pg_relation_size(oid) > %s * current_setting('block_size')::int
"""


def take_over() -> None:
    """Keep autovacuum off the tables of the test database."""
    with connection.cursor() as cursor:
        cursor.execute(_LEAVE_ALONE)


def vacuum_grown() -> None:
    """Remove dead rows from the tables that have grown; outside of a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_GROWN, [MOST_PAGES])
        if grown := [name for (name,) in cursor.fetchall()]:
            cursor.execute("VACUUM (SKIP_LOCKED) " + ", ".join(grown))
