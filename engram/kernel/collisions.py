"""Classify database errors of concurrent writers, and retry their transactions."""

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
ATTEMPTS = 3  # attempts at a transaction
_DEADLOCK = "40P01"
_SERIALIZATION = "40001"
# Violations of unique and foreign key constraints. Not-null and check violations (23502, 23514) are
# bugs.
_TAKEN_OR_GONE = frozenset({"23503", "23505", "23P01"})


def _state(error: DatabaseError) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


def is_deadlock(error: DatabaseError) -> bool:
    """Return whether the database aborted the transaction because of a deadlock."""
    return _state(error) == _DEADLOCK


def is_collision(error: DatabaseError) -> bool:
    """Return whether a concurrent writer caused the error; the transaction is rolled back."""
    return is_deadlock(error) or _state(error) in {_SERIALIZATION, *_TAKEN_OR_GONE}


def retry_on_collision(work: Callable[P, R]) -> Callable[P, R]:
    """Retry the work of one transaction after collisions; raise `StaleError` after ATTEMPTS.

    Within an outer transaction only the savepoint is rolled back, with its locks.
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
