"""The labelled transcripts of `evaluate --extraction`, and what an extractor made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from engram.console.evaluation.extractors import MODEL, Extractor
from engram.console.evaluation.lines import InputRow, read_rows, refuse_repeated_ids
from memories.core.extraction.overlap import overlaps


class KeepRow(InputRow):
    """A fact that is worth keeping."""

    fact: str = Field(min_length=1)
    quote: str = Field(min_length=1)


class RefuseRow(InputRow):
    """A statement that is not."""

    text: str = Field(min_length=1)
    reason: str = ""


class MemoryRow(InputRow):
    """A memory that the workspace has before the conversation."""

    text: str = Field(min_length=1)


class TranscriptRow(InputRow):
    """A transcript with its labels."""

    id: str
    transcript: str
    keep: list[KeepRow] = Field(default_factory=list)
    refuse: list[RefuseRow] = Field(default_factory=list)
    memories: list[MemoryRow] = Field(default_factory=list)
    requests: list[str] | None = None  # quotes of what a user asks to remember; None: not labelled


@dataclass(frozen=True, slots=True)
class Answered:
    """What an extractor made of a transcript."""

    row: TranscriptRow
    result: Mapping[str, Any]
    by: Extractor

    @property
    def lacks_model(self) -> bool:
        """Return whether rules read what a model should have read, all of it or a part."""
        is_by_model = self.result.get("read_by", MODEL) == MODEL and not self.result.get("note")
        return self.by.name == MODEL and not is_by_model

    @property
    def quotes(self) -> list[str]:
        """Return the quotes that it kept."""
        return [one["quote"] for one in self.result["kept"]]

    def hits(self, quote: str) -> bool:
        """Return whether a quote was kept."""
        return any(overlaps(quote, kept) for kept in self.quotes)

    def as_prediction(self) -> dict[str, Any]:
        """Return the row of the predictions file."""
        kept = [{n: one[n] for n in ("fact", "quote", "confidence")} for one in self.result["kept"]]
        refused = [{n: one[n] for n in ("text", "reason")} for one in self.result["refused"]]
        return {"id": self.row.id, "kept": kept, "refused": refused}


def read(path: Path) -> list[TranscriptRow]:
    """Read the transcripts."""
    rows = read_rows(path, TranscriptRow)
    refuse_repeated_ids(path, [row.id for row in rows])
    return rows
