"""Transactions that need comparisons of claims: compared before, looked up under the locks."""

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
CHANGED = "What this is about changes faster than it is compared; try again."


def with_comparisons(workspace: Workspace, work: Callable[[LookUps], T]) -> T:
    """Do the work of one transaction, and return what it returns.

    What it asks of the comparisons and nobody has compared yet undoes the transaction and gives
    its locks back; then it is compared, and the work begins anew. So a text that changed meanwhile
    is compared again, and no comparison is made while other writers wait. The work must be able
    to run twice.
    """
    known = LookUps()
    for _ in range(MOST_TRIES):
        try:
            with in_workspace(workspace):
                done = work(known)
                known.demand_known()
                return done
        except Exception:
            if not known.is_missing:  # else it may come of an answer that was not known
                raise
        release_connection()
        known.compare_missed()
    raise StaleError(CHANGED, cause=CHANGED_MEANWHILE)
