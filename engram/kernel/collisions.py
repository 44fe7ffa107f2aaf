"""Writers that met in the database: which errors mean that one of them has to try again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import DatabaseError

from engram.kernel.causes import WRITTEN_MEANWHILE
from engram.kernel.refusals import StaleError

P = ParamSpec("P")
R = TypeVar("R")

AGAIN = "Another caller wrote the same meanwhile; try again."
ATTEMPTS = 3  # how often a transaction is begun when other writers are faster
_DEADLOCK = "40P01"
_SERIALIZATION = "40001"
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
    return is_deadlock(error) or _state(error) in {_SERIALIZATION, *_TAKEN_OR_GONE}


def retry_on_collision(work: Callable[P, R]) -> Callable[P, R]:
    """Do the work of one transaction again when another writer was faster; refuse it after a few.

    Within an outer transaction only its own savepoint is undone, with the locks taken in there.
    """

    @wraps(work)
    def retrying(*args: P.args, **kwargs: P.kwargs) -> R:
        for attempt in range(ATTEMPTS):
            try:
                return work(*args, **kwargs)
            except DatabaseError as error:
                if not is_collision(error):
                    raise
                if attempt == ATTEMPTS - 1:
                    raise StaleError(AGAIN, cause=WRITTEN_MEANWHILE) from error
        raise AssertionError  # the loop returns or raises

    return retrying
