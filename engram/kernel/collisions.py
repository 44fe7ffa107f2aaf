"""Writers that met in the database: which errors mean that one of them has to try again."""

from __future__ import annotations

from django.db import DatabaseError

AGAIN = "Another caller wrote the same meanwhile; try again."
_DEADLOCK = "40P01"
# A value that must be unique is taken, or what a row refers to is gone. A value that no column
# takes (23502, 23514) is a mistake of ours.
_TAKEN_OR_GONE = frozenset({"23503", "23505", "23P01"})


def _state(error: DatabaseError) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


def is_deadlock(error: DatabaseError) -> bool:
    """Tell whether the database ended this transaction because two waited for each other."""
    return _state(error) == _DEADLOCK


def is_collision(error: DatabaseError) -> bool:
    """Tell whether another writer was faster, so that nothing of this one stays."""
    return is_deadlock(error) or _state(error) in _TAKEN_OR_GONE
