"""The pairs of `evaluate --drift`: a memory with its note before and after an edit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from engram.console.evaluation.lines import InputRow, read_rows, refuse_repeated_ids
from memories.core.answers import Answer
from memories.core.drift.calibration import Calibration
from memories.core.drift.estimate import Estimate
from memories.core.drift.passages import statements_of
from memories.core.drift.support import Scored, Support, support_of
from memories.core.drift.verdict import Verdict, has_drifted
from memories.services.drift.reading import score_statements


class AnswerRow(InputRow):
    """A question that the memory answers."""

    question: str
    answer: str


class DriftRow(InputRow):
    """A memory, the note that it links before and after an edit, and whether it drifted."""

    id: str
    memory: str
    note_before: str
    note_after: str
    drifted: bool | None = None
    tags: tuple[str, ...] = Field(default=())
    answers: tuple[AnswerRow, ...] = Field(default=())

    @property
    def told(self) -> tuple[Answer, ...]:
        """Return what the memory answers."""
        return tuple(Answer(one.question, one.answer) for one in self.answers)


@dataclass(frozen=True, slots=True)
class ReadPair:
    """A pair with the cosines of both versions of its note."""

    row: DriftRow
    support: Support
    before: Sequence[Scored]
    after: Sequence[Scored]

    def judge(self, present: Sequence[Scored], calibration: Calibration | None,
              estimate: Estimate) -> Verdict:  # fmt: skip
        """Return the verdict on one version of the note."""
        return has_drifted(
            self.row.memory,
            self.support,
            present,
            calibration=calibration,
            estimate=estimate,
            tags=self.row.tags,
            answers=self.row.told,
        )


def read(path: Path) -> list[DriftRow]:
    """Read the pairs."""
    rows = read_rows(path, DriftRow)
    refuse_repeated_ids(path, [row.id for row in rows])
    return rows


def read_pair(row: DriftRow, model: str) -> ReadPair:
    """Embed a pair."""
    (before,), (after,) = (
        score_statements([row.memory], statements_of(note), model)
        for note in (row.note_before, row.note_after)
    )
    return ReadPair(row, support_of(row.memory, before, row.told), before, after)
