"""The time of a turn: when a run stops reading, so that other workspaces are served."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

# A run reads at least so long, and as long as loading its story took, so that loading pays, also
# where a turn ends meanwhile.
LEAST_SECONDS_OF_READING = 2.0


class ReadingTime:
    """The time of a turn of `seconds` from now on; None never ends."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else monotonic() + seconds

    def is_over(self) -> bool:
        """Return whether the turn has ended."""
        return self._end is not None and monotonic() >= self._end

    def limit(self, prepared: float = 0.0) -> Callable[[], bool]:
        """Return what tells when reading that begins now, after `prepared` seconds, has to stop."""
        least = monotonic() + max(LEAST_SECONDS_OF_READING, prepared)
        return lambda: monotonic() >= least and self.is_over()
