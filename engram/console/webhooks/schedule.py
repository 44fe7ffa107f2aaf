"""When a delivery is tried again or given up, and when an endpoint rests or is disabled."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

# The pauses after the first attempt, the second and so on: two days and a half in all.
PAUSES: Final = tuple(
    timedelta(seconds=seconds)
    for seconds in (10, 60, 300, 1_800, 7_200, 21_600, 43_200, 57_600, 86_400)
)
ATTEMPTS_MAX: Final = len(PAUSES) + 1
SENT_WITHIN: Final = timedelta(days=3)  # what waits longer is given up
FIRST_REST: Final = timedelta(seconds=1)
LONGEST_REST: Final = timedelta(minutes=10)
FAILURES_MAX: Final = 20  # in a row, and
FAILING_FOR: Final = timedelta(days=1)  # for so long: then the endpoint is disabled
GONE: Final = 410  # the status of a target that wants nothing more


def pause(attempts: int, spread: float) -> timedelta | None:
    """Return how long to wait after so many failed attempts; None: the delivery is given up.

    `spread` (0..1) is drawn by the caller: it lengthens the pause by up to a fifth, so that what
    failed together is not tried again together.
    """
    if attempts >= ATTEMPTS_MAX:
        return None
    return PAUSES[max(attempts, 1) - 1] * (1 + 0.2 * spread)


def rest(failures: int, retry_after: int) -> timedelta:
    """Return how long an endpoint is left alone after so many failures in a row.

    `retry_after` are the seconds that its answer asked for. While it rests nothing is sent to it,
    so a target that stalls takes little of the workers' time, however much waits for it.
    """
    own = FIRST_REST * (1 << min(failures - 1, 20))
    return min(max(own, timedelta(seconds=retry_after)), LONGEST_REST)


def is_hopeless(failures: int, failing_for: timedelta, status: int | None) -> bool:
    """Return whether an endpoint is to be disabled."""
    return status == GONE or (failures >= FAILURES_MAX and failing_for >= FAILING_FOR)
