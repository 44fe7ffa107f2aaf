"""One at a time, by name: locks that are held until the transaction ends."""

from __future__ import annotations

from django.db import connection


def one_at_a_time(name: str) -> None:
    """Wait until no other transaction holds the lock of this name, and hold it.

    The database keeps a hash of the name: two names may, very rarely, wait for each other.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
