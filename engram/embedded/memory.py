"""Choose `shared_buffers` of the embedded database."""

from __future__ import annotations

import os
from pathlib import Path

# A page outside the server's buffers costs some 20 microseconds, and a recall among 100,000
# memories reads a thousand. The memory is only taken when it is used.
LEAST_MB, MOST_MB = 128, 1024
SHARE = 8  # the fraction is 1 / SHARE
_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
_MEBIBYTE = 2**20


def shared_buffers_mb(memory_mb: int) -> int:
    """Return `shared_buffers` in MB for a machine or container with this memory."""
    return min(max(memory_mb // SHARE, LEAST_MB), MOST_MB)


def memory_mb(limits: tuple[Path, ...] = _LIMITS) -> int:
    """Return the memory of the machine in MB, or of the container if that is less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([machine, *filter(None, map(_limit, limits))]) // _MEBIBYTE


def _limit(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None
