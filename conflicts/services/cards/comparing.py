"""Run transactions that need comparisons of claims without comparing while locks are held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from conflicts.core.comparisons import LookUps
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.models import Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace, release_connection

T = TypeVar("T")

MOST_TRIES: Final = 10
CHANGED = "These memories change faster than they are compared; try again."


def with_comparisons(workspace: Workspace, work: Callable[[LookUps], T]) -> T:
    """Run `work` in one transaction and return its result.

    `work` looks comparisons up. When one is missing, the transaction is rolled back, which releases
    its locks; the missing pairs are compared, and `work` runs again. So comparisons never make
    other writers wait, and texts that changed meanwhile are compared again. `work` must be
    repeatable.
    """
    known = LookUps()
    for _ in range(MOST_TRIES):
        try:
            with in_workspace(workspace):
                done = work(known)
                known.demand_known()
                return done
        except Exception:
            if not known.is_missing:  # else the error may result from a missing comparison
                raise
        release_connection()
        known.compare_missed()
    raise StaleError(CHANGED, cause=CHANGED_MEANWHILE)
