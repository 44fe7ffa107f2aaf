"""A few rows of each input file, to prove that every part of the comparison runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TURNS = (
    ("Ana", "I moved to Lisbon in March and found a flat near the river."),
    ("Ben", "My sister has a bakery in Oslo, she makes rye bread."),
    ("Ana", "The billing service runs on PostgreSQL 17 now."),
    ("Ben", "I will run the marathon in Tallinn in September."),
)
QUESTIONS = (("Where does Ana live?", 0), ("What does Ben's sister do?", 1))
PAIRS = (
    (
        "contradicts",
        "Nightly backups are kept for 30 days.",
        "Nightly backups are kept for 7 days.",
    ),
    ("same", "The API listens on port 8443.", "Port 8443 is where the API listens."),
    ("compatible", "The API listens on port 8443.", "The API is written in Go."),
)


def write(folder: Path) -> None:
    """Write the files of a data folder."""
    (folder / "public").mkdir(parents=True)
    turns = [
        {"id": f"t{i}", "conv": "toy", "session": 1, "seq": i, "speaker": speaker, "text": text}
        for i, (speaker, text) in enumerate(TURNS)
    ]
    questions = [
        {"id": f"q{i}", "conv": "toy", "question": question, "gold": [f"t{turn}"]}
        for i, (question, turn) in enumerate(QUESTIONS)
    ]
    pairs = [
        {"id": f"p{i}", "label": label, "a": a, "b": b} for i, (label, a, b) in enumerate(PAIRS)
    ]
    facts = [
        {"id": f"f{i}", "content": content, "committed_at": f"2025-01-0{i + 1}T12:00:00Z"}
        for i, content in enumerate(PAIRS[0][1:])
    ]
    expected = [{"fact_ids": ["f0", "f1"], "kind": "ambiguity"}]
    story = {"id": "s0", "now": "2025-02-01T12:00:00Z", "facts": facts, "expected": expected}
    _write(folder / "public" / "locomo_memories.jsonl", turns)
    _write(folder / "public" / "locomo_questions.jsonl", questions)
    _write(folder / "relation_pairs.jsonl", pairs)
    _write(folder / "conflict_stories.jsonl", [story])


def _write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
