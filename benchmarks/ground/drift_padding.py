"""Lengthen the notes of drift pairs by sentences that are the same in both versions.

A label stays true: nothing that the memory says is touched. `neutral` sentences are about other
matters than any pair (`benchmarks/drift/neutral.txt`), `related` ones are from the other notes of
the same file, so that many of them are as near to the memory as those of its own note.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final

from engram.console.evaluation.drift_pairs import DriftRow
from memories.core.drift.passages import statements_of
from memories.core.front_matter import read_properties

NEUTRAL: Final = tuple((Path(__file__).parents[1] / "drift/neutral.txt").read_text().splitlines())
SENTENCES: Final = 10
KINDS: Final = ("neutral", "related")


def padded(rows: Sequence[DriftRow], kind: str, seed: int) -> list[DriftRow]:
    """Return copies of pairs with ten sentences of a kind before or after both versions."""
    said = {row.note_before: [one.text for one in statements_of(row.note_before)] for row in rows}
    return [_padded(row, _sentences(row, said, kind), seed) for row in rows]


def _sentences(row: DriftRow, said: dict[str, list[str]], kind: str) -> list[str]:
    if kind == "neutral":
        return list(NEUTRAL)
    others = [text for note, texts in said.items() if note != row.note_before for text in texts]
    own = f"{row.note_before}\n{row.note_after}"
    return sorted({text for text in others if text not in own})


def _padded(row: DriftRow, sentences: Sequence[str], seed: int) -> DriftRow:
    draw = Random(f"{seed}:{row.id}")
    items = "\n".join(f"- {text}" for text in draw.sample(sentences, SENTENCES))
    is_before = draw.random() < 0.5

    def put(note: str) -> str:
        body = read_properties(note).body
        head = note[: len(note) - len(body)] if note.endswith(body) else ""
        return f"{head}{items}\n\n{body}" if is_before else f"{note}\n\n{items}\n"

    return row.model_copy(
        update={"note_before": put(row.note_before), "note_after": put(row.note_after)}
    )
