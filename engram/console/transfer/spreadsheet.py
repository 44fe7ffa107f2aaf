"""Write the recallable memories of a workspace as CSV (RFC 4180), for people's spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from datetime import datetime
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

from engram.console.transfer.writing import new_file, one_snapshot
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryTag

COLUMNS = (
    "id", "content", "scope", "project", "kind", "provenance", "confidence", "importance",
    "is_pinned", "source", "agent", "session_key", "revision", "observed_at", "expires_at",
    "created_at", "updated_at",
)  # fmt: skip
# Spreadsheets calculate cells that begin so; some read the wide forms alike.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
MEMORIES_A_READ = 500


def write_csv(
    workspace: Workspace,
    path: Path,
    *,
    now: datetime,
    advance: Callable[[int], object] = lambda rows: None,
) -> int:
    """Write a file that only its owner may read, whole or not at all; return its memories.

    Only what a recall could return at `now`: nothing that is hidden or forgotten. Every cell is
    quoted, so that none falls apart at another separator, and a text that a spreadsheet would
    calculate begins with an apostrophe. Raise `FileExistsError` for an existing file.
    """
    count = 0
    with new_file(path) as raw:
        # With a byte order mark: else Excel does not take it for UTF-8.
        text = TextIOWrapper(raw, encoding="utf-8-sig", newline="", write_through=True)
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        writer.writerow([*COLUMNS, "tags"])
        with one_snapshot(), in_workspace(workspace):
            for rows in _rows(now):
                writer.writerows([defused(value) for value in row] for row in rows)
                count += len(rows)
                advance(len(rows))
        text.detach()
    return count


def defused(value: Any) -> str:
    """Return the text of a cell that no spreadsheet calculates."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _rows(now: datetime) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows of the current workspace with their tags, some at a time."""
    memories = Memory.objects.recallable(now).order_by("created_at", "pk")
    read = memories.values_list(*COLUMNS).iterator(chunk_size=MEMORIES_A_READ)
    while some := list(islice(read, MEMORIES_A_READ)):
        tags: dict[Any, list[str]] = {}
        found = MemoryTag.objects.filter(memory__in=[row[0] for row in some])
        for memory_id, tag in found.order_by("tag").values_list("memory_id", "tag"):
            tags.setdefault(memory_id, []).append(tag)
        yield [(*row, "; ".join(tags.get(row[0], []))) for row in some]
