"""Talks with the memories that they contradict plainly, and look-alikes that contradict nothing.

The rules were adjusted to the errors of the part `seen`. The part `unseen` was measured before its
errors were read: 4 of 11 were found, and none that was none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Talk:
    """Memories, what was said, and the numbers of the memories that this contradicts."""

    memories: Sequence[str]
    transcript: str
    contradicted: Sequence[int] = ()


def read_talks(part: str) -> list[Talk]:
    """Return the talks of a part of the file."""
    lines = Path(__file__).with_suffix(".jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [Talk(*list(row.values())[1:]) for row in rows if row["part"] == part]
