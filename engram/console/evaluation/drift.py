"""`evaluate --drift`: does a changed note flag the memories that it no longer carries?

Each pair is a memory with its note before and after an edit. The support is read from the note
before; both versions are then judged against it, as the background check does. A flag on the note
before is a false one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from engram.console.evaluation.drift_fitting import calibrate
from engram.console.evaluation.drift_pairs import DriftRow, ReadPair, read, read_pair
from engram.console.evaluation.levels import DRIFT, levels_met
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.kernel.embedding import model_name
from memories.core.drift.calibration import Calibration
from memories.core.drift.estimate import Estimate
from memories.core.metrics import wilson
from memories.services.drift.calibrations import calibration_of, store_calibration
from memories.services.drift.reading import Estimator


def run(
    path: Path,
    *,
    seed: int,
    advance: Callable[[int], object],
    calibrated_at: datetime | None = None,
) -> ModeResult:
    """Judge every pair.

    Nothing is drawn at random, `seed` is there as every mode takes one. With `calibrated_at` each
    is judged by a calibration that is fitted to others of the file; what is fitted to all of them
    is stored for the model.
    """
    model = model_name()
    estimate = Estimator(model)
    rows, pairs = read(path), []
    for row in rows:
        pairs.append(read_pair(row, model))
        advance(1)
    details: dict[str, Any] = {"embedding model": model, "pairs": len(rows)}
    if calibrated_at:
        fitted, fitted_without = calibrate(pairs, model, estimate)
        details["calibration"] = asdict(fitted) | {
            "stored": store_calibration(model, fitted, now=calibrated_at).name
        }
        by_pair: Sequence[Calibration | None] = fitted_without
    else:
        known = calibration_of(model)
        by_pair = [known for _ in pairs]
        details["threshold"] = known.threshold if known else "not calibrated: claims only"
    judged = zip(pairs, by_pair, strict=True)
    predictions = [predict(pair, calibration, estimate) for pair, calibration in judged]
    found = figures(rows, predictions)
    details["levels"] = levels_met(found, DRIFT)
    return ModeResult("drift", found, predictions, details)


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
