"""How much memory the embedded database may keep pages in."""

from __future__ import annotations

import os
from pathlib import Path

# A page that the server has to fetch from outside of its own memory costs some 20 microseconds, and
# a recall among 100,000 memories reads a thousand. It takes the memory as it comes to use it.
LEAST_MB, MOST_MB = 128, 1024
SHARE = 8  # one part in so many
_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
_MEBIBYTE = 2**20


def shared_buffers_mb(memory_mb: int) -> int:
    """Return what the server is given on a machine, or in a container, of so much memory."""
    return min(max(memory_mb // SHARE, LEAST_MB), MOST_MB)


def memory_mb(limits: tuple[Path, ...] = _LIMITS) -> int:
    """Return the memory of the machine, or of the container when that has less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([machine, *filter(None, map(_limit, limits))]) // _MEBIBYTE


def _limit(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None
