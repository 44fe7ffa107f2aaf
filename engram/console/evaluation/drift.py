"""`evaluate --drift`: does a changed note flag the memories that it no longer carries?

Each pair is a memory with its note before and after an edit. The support is read from the note
before; both versions are then judged against it, as the background check does. A flag on the note
before is a false one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from engram.console.evaluation.levels import DRIFT, levels_met
from engram.console.evaluation.lines import InputRow, read_rows, refuse_repeated_ids
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.kernel.embedding import model_name
from memories.core.answers import Answer
from memories.core.drift.calibration import Calibration, calibration_of
from memories.core.drift.passages import statements_of
from memories.core.drift.support import Scored, Support, support_of
from memories.core.drift.verdict import Estimate, Verdict, has_drifted
from memories.core.metrics import wilson
from memories.services.drift.reading import estimator, score_statements


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


def run(path: Path, *, seed: int, advance: Callable[[int], object]) -> ModeResult:
    """Judge every pair; nothing is drawn at random, `seed` is there as every mode takes one."""
    model = model_name()
    calibration, estimate = calibration_of(model), estimator(model)
    rows, predictions = read(path), []
    for row in rows:
        pair = read_pair(row, model)
        predictions.append(predict(pair, calibration, estimate))
        advance(1)
    found = figures(rows, predictions)
    details = {
        "embedding model": model,
        "threshold": calibration.threshold if calibration else "not calibrated: claims only",
        "pairs": len(rows),
        "levels": levels_met(found, DRIFT),
    }
    return ModeResult("drift", found, predictions, details)


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


def predict(pair: ReadPair, calibration: Calibration | None, estimate: Estimate) -> dict[str, Any]:
    """Return the row of predictions of a pair."""
    before, after = (
        pair.judge(present, calibration, estimate) for present in (pair.before, pair.after)
    )
    return {
        "id": pair.row.id,
        "before": before.is_drifted,
        "after": after.is_drifted,
        "distance_before": round(before.distance, 4),
        "distance_after": round(after.distance, 4),
        "evidence": round(after.evidence, 4),
        "reasons": list(after.reasons),
    }


def figures(rows: Sequence[DriftRow], predictions: Sequence[dict[str, Any]]) -> dict[str, Figure]:
    """Return precision and recall on the note after, and flags on the note before.

    Where a memory contradicts its note from the start, both notes are the same, and a flag on the
    one before is right.
    """
    judged = [
        (row.drifted, found["after"])
        for row, found in zip(rows, predictions, strict=True)
        if row.drifted is not None
    ]
    flagged = [is_drifted for is_drifted, is_flagged in judged if is_flagged]
    drifted = [is_flagged for is_drifted, is_flagged in judged if is_drifted]
    quiet = [is_flagged for is_drifted, is_flagged in judged if not is_drifted]
    before = [
        found["before"]
        for row, found in zip(rows, predictions, strict=True)
        if not (row.drifted and row.note_before == row.note_after)
    ]
    found = {
        "precision": Figure(wilson(sum(flagged), len(flagged))),
        "recall": Figure(wilson(sum(drifted), len(drifted))),
        "quiet_flagged": Figure(wilson(sum(quiet), len(quiet)), is_lower_better=True),
        "before_flagged": Figure(wilson(sum(before), len(before)), is_lower_better=True),
    }
    return {name: figure for name, figure in found.items() if figure.value.n}
