"""Write the recallable memories of a workspace as JSON Lines, as `import_memories` reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from itertools import islice
from typing import Any

from engram.console.transfer.writing import one_snapshot
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.answers import MAX_ANSWERS
from memories.models import Memory
from memories.serializers.memory import present

# Fields of a commit. Ids and links between memories are in the archive only.
FIELDS = (
    "content", "scope", "project", "kind", "provenance", "confidence", "importance", "tags",
    "agent", "session_key", "pinned", "metadata", "source", "observed_at", "expires_at",
)  # fmt: skip
MEMORIES_A_READ = 500


def write_lines(workspace: Workspace, write: Callable[[str], object], *, now: datetime) -> int:
    """Hand over a line for each memory that a recall could return at `now`; return their number.

    The oldest comes first. Of the answers go along what writers wrote, as many as a commit takes:
    an import reads the others from the statement again.
    """
    count = 0
    with one_snapshot(), in_workspace(workspace):
        memories = Memory.objects.recallable(now).order_by("created_at", "pk")
        read = memories.iterator(chunk_size=MEMORIES_A_READ)
        while some := list(islice(read, MEMORIES_A_READ)):
            for memory in present(some):
                write(json.dumps(_line(memory), ensure_ascii=False) + "\n")
            count += len(some)
    return count


def _line(memory: dict[str, Any]) -> dict[str, Any]:
    written = [
        {name: answer[name] for name in ("question", "answer", "was")}
        for answer in memory["answers"]
        if answer["source"] == "written"
    ]
    return {name: memory[name] for name in FIELDS} | {"answers": written[:MAX_ANSWERS]}
