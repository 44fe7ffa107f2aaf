"""Advisory locks by name, held until the transaction ends.

The database uses a hash of the name: two names can collide, very rarely.
"""

from __future__ import annotations

from django.db import connection


def one_at_a_time(name: str) -> None:
    """Wait for the advisory lock of this name, and hold it until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def share(name: str) -> None:
    """Wait until nobody holds this lock alone, and share it until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", [name])
