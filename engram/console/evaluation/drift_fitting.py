"""Calibrate drift for the embedding model in use: `evaluate --drift PAIRS --calibrate`.

The pairs are judged in fifths, each by what was fitted to the others, so that the figures are of
pairs left out; the stored calibration is fitted to all. Pairs with one note are in one fifth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from engram.console.evaluation.drift_pairs import DriftRow, ReadPair
from engram.console.evaluation.lines import InputError
from engram.kernel.embedding import embed
from memories.core.drift.calibration import CALIBRATIONS, Calibration
from memories.core.drift.estimate import Estimate
from memories.core.drift.evidence import Evidence, evidence_of, is_reworded, weighty_edits
from memories.core.drift.fitting import Labelled, fit, with_bounds
from memories.core.drift.passages import statements_of, without_links
from memories.core.drift.pointers import is_pointer

FOLDS: Final = 5
LEAST: Final = 5  # of either label, with a changed support


def labelled(pair: ReadPair, estimate: Estimate, weight: float = 1.0) -> Labelled | None:
    """Return what a pair says about the weights; None where nothing is weighed, or not labelled."""
    evidence = None if pair.row.drifted is None else _evidence(pair, estimate)
    return Labelled(evidence, bool(pair.row.drifted), weight) if evidence else None


def _evidence(pair: ReadPair, estimate: Estimate) -> Evidence | None:
    text = without_links(pair.row.memory)
    edits = weighty_edits(text, pair.support, pair.after)
    if not edits or is_pointer(pair.row.memory, pair.row.tags):
        return None
    found = evidence_of(
        text, pair.support, edits, pair.after, estimate=estimate, answers=pair.row.told
    )
    return None if is_reworded(found) else found


def calibrate(
    pairs: Sequence[ReadPair], model: str, estimate: Estimate
) -> tuple[Calibration, list[Calibration]]:
    """Return the calibration fitted to all pairs, and for each pair the one fitted without it."""
    cases = [labelled(pair, estimate) for pair in pairs]
    for is_drifted in (True, False):
        n = sum(case is not None and case.is_drifted == is_drifted for case in cases)
        if n < LEAST:
            kind = "drifted" if is_drifted else "quiet"
            raise InputError(
                f"to calibrate takes {LEAST} {kind} pairs whose supporting statement changed:"
                f" these are {n}"
            )
    notes = {note: n for n, note in enumerate(dict.fromkeys(p.row.note_before for p in pairs))}
    folds = [notes[pair.row.note_before] % FOLDS for pair in pairs]
    base = CALIBRATIONS.get(model, Calibration())
    by_fold = {
        fold: fit([c for c, own in zip(cases, folds, strict=True) if c and own != fold], base)
        for fold in set(folds)
    }
    own, foreign = nearest_cosines([pair.row for pair in pairs], model)
    everything = with_bounds(fit([case for case in cases if case], base), own, foreign)
    return everything, [by_fold[fold] for fold in folds]


def nearest_cosines(rows: Sequence[DriftRow], model: str) -> tuple[list[float], list[float]]:
    """Return the cosines of memories to the nearest statement of their note, and of other notes."""
    vectors = embed([without_links(row.memory) or row.memory for row in rows], model)
    own: list[float] = []
    foreign: list[float] = []
    for note in dict.fromkeys(row.note_before for row in rows):
        said = [statement.in_context for statement in statements_of(note)]
        if not said:
            continue
        nearest = np.max(vectors @ embed(said, model).T, axis=1)
        for row, cosine in zip(rows, nearest, strict=True):
            (own if row.note_before == note else foreign).append(float(cosine))
    if not foreign:
        raise InputError("to calibrate takes pairs with more than one note")
    return own, foreign
