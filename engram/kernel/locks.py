"""Advisory locks by name, held until the transaction ends."""

from __future__ import annotations

from django.db import connection


def one_at_a_time(name: str) -> None:
    """Wait for the advisory lock of this name, and hold it until the transaction ends.

    The database uses a hash of the name: two names can collide, very rarely.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
