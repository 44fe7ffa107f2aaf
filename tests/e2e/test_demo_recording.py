"""The demo's recording against the services as they are: the story is played, and compared."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any

from engram.console.demo.loading import read_recording
from engram.console.demo.recording import record_story

# What a table's rows are compared by; of the others their number counts. Figures are left out:
# in their last digits processors differ.
SHOWN = {
    "memories.Memory": ("content", "scope", "forgotten_at", "superseded_at", "revision"),
    "memories.MemoryAnswer": ("question", "answer", "was"),
    "memories.Observation": ("content", "outcome"),
    "memories.MergeSuggestion": ("relation", "status"),
    "memories.Review": ("kind", "status"),
    "memories.Session": ("session_key", "prompt_count"),
    "conflicts.Conflict": ("kind", "status", "question", "reasoning"),
    "kernel.Event": ("type",),
}
# Tables whose number of rows may differ, too: whether a trained model passes its gates hangs on
# comparisons of figures, and in their last digits processors differ.
UNCOUNTED = {"predictor.ModelVersion"}


def outline(text: str) -> dict[str, Any]:
    """Return what a recording holds, whatever its ids."""
    head, *tables = (json.loads(line) for line in text.splitlines())
    found: dict[str, Any] = {"head": head}
    for table in tables:
        name, columns = table["table"], table["columns"]
        shown = [columns[column] for column in SHOWN.get(name, ())]
        rows = len(next(iter(columns.values())))
        found[name] = Counter(zip(*shown, strict=True)) if shown else rows
    return found


def test_shipped_recording_is_what_the_services_make_of_the_story(db: None) -> None:
    made = outline(gzip.decompress(record_story()).decode())
    shipped = outline(read_recording())
    advice = "run `make demo-record`, and commit the file that it writes"
    differing = {
        name: (made[name], shipped.get(name))
        for name in made.keys() | shipped.keys()
        if made.get(name) != shipped.get(name) and name not in UNCOUNTED
    }
    assert not differing, advice
    assert all(min(made[name], shipped[name]) > 0 for name in UNCOUNTED), advice
