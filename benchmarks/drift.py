"""Fit the calibration of drift, and measure it on each file of pairs with that of the others.

    PYTHONPATH=. python benchmarks/drift.py [PAIRS.jsonl ...] [--json OUT] [--predictions OUT.jsonl]

The pairs are those of `evaluate --drift`. Without files it reads `benchmarks/drift/`, the project's
own. For each file the weights of the evidence (`memories/core/drift/calibration.py`) are fitted on
the others; `fitted on all` has the weights that the product stores, and with those the files of
`UNTOUCHED` are measured. Pairs of `AGAINST` count less: their author wrote them against one
feature, the share of the note that changed, so that all its rewordings are small and most of its
contradictions are in rewritten notes. What the features are was decided with all files in view,
which no protocol can take back.

Each file is also measured with ten more sentences in both versions of each note
(`benchmarks/ground/drift_padding.py`), of which neither a label nor a verdict should depend. Copies
with neutral ones are among what is fitted on, drawn by another seed than those that are measured.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import benchmarks.ground  # noqa: F401  sets Django up, before the product's modules are read
from benchmarks.ground.drift_padding import KINDS, padded
from engram.console.evaluation import drift, drift_pairs
from engram.console.evaluation.drift_fitting import labelled
from engram.console.evaluation.drift_pairs import DriftRow, ReadPair, read_pair
from engram.kernel.embedding import model_name
from memories.core.drift.calibration import CALIBRATIONS, Calibration
from memories.core.drift.estimate import Estimate
from memories.core.drift.evidence import FEATURES
from memories.core.drift.fitting import Labelled, fit
from memories.services.drift.reading import Estimator

IS_FULL = os.environ.get("BENCH_SIZE", "full") == "full"
OWN: Final = Path(__file__).parent / "drift"
UNTOUCHED: Final = frozenset(
    ["answers", "answers_2", "start", *(f"pairs_{number}" for number in range(3, 10))]
)  # measured by the weights that are fitted on the others, and never fitted on
AGAINST: Final = frozenset(["pairs_2"])
WEIGHT_OF_THOSE: Final = 0.6
FITTED_SEED, MEASURED_SEED = 1, 2


@dataclass(frozen=True)
class Case:
    """A pair, and what it says about the weights; None where nothing is weighed."""

    pair: ReadPair
    label: Labelled | None


@dataclass(frozen=True)
class File:
    """The pairs of a file: as they are, with longer notes to fit on, and by kind to measure."""

    plain: Sequence[Case]
    lengthened: Sequence[Case]
    by_kind: Mapping[str, Sequence[Case]]


def read(path: Path, model: str, estimate: Estimate) -> File:
    """Read a file of pairs and measure their evidence."""
    rows = drift_pairs.read(path)
    weight = WEIGHT_OF_THOSE if path.stem in AGAINST else 1.0

    def cases(rows: Sequence[DriftRow]) -> list[Case]:
        pairs = [read_pair(row, model) for row in rows]
        return [Case(pair, labelled(pair, estimate, weight / 2)) for pair in pairs]

    return File(
        cases(rows),
        () if path.stem in UNTOUCHED else cases(padded(rows, "neutral", FITTED_SEED)),
        {kind: cases(padded(rows, kind, MEASURED_SEED)) for kind in KINDS},
    )


def _fit(files: Iterable[File]) -> Calibration:
    base = CALIBRATIONS.get(model_name(), Calibration())
    cases = [case for file in files for case in (*file.plain, *file.lengthened)]
    return fit([case.label for case in cases if case.label], base)


def judge(
    cases: Sequence[Case], calibration: Calibration, estimate: Estimate
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the figures and predictions of a file."""
    rows = [case.pair.row for case in cases]
    predictions = [drift.predict(case.pair, calibration, estimate) for case in cases]
    found = drift.figures(rows, predictions)
    return {name: figure.as_json() for name, figure in found.items()}, predictions


def _weights(calibration: Calibration) -> dict[str, float]:
    named: Mapping[str, float] = dict(zip(FEATURES, calibration.weights, strict=True))
    return {**named, "bias": calibration.bias}


def measure(
    name: str, file: File, calibration: Calibration, estimate: Estimate
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the figures of a file, also with longer notes, and its predictions; print them."""
    metrics, predictions = judge(file.plain, calibration, estimate)
    longer = {kind: judge(some, calibration, estimate)[0] for kind, some in file.by_kind.items()}
    for kind, figures in {"": metrics, **longer}.items():
        shares = ", ".join(f"{key} {value['mean']:.3f}" for key, value in figures.items())
        print(f"{f'{name} {kind}':<24} {shares}")
    lines = [{"file": name, **row} for row in predictions]
    return {"metrics": metrics, "with longer notes": longer}, lines


def main() -> None:
    """Measure each file with the weights of the others; print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--predictions", type=Path)
    options = parser.parse_args()
    own = sorted(OWN.glob("*.jsonl"))
    few = [path for path in own if path.stem not in UNTOUCHED][:2]
    paths = options.files or (own if IS_FULL else few)
    model = model_name()
    estimate = Estimator(model)
    every = {path.stem: read(path, model, estimate) for path in paths}
    fitted_on = {name: file for name, file in every.items() if name not in UNTOUCHED}
    everything = _fit(fitted_on.values())
    report: dict[str, Any] = {"embedding model": model, "left out": {}, "untouched": {}}
    lines = []
    for name, file in every.items():
        others = _fit(some for other, some in fitted_on.items() if other != name)
        by, part = (others, "left out") if name in fitted_on else (everything, "untouched")
        figures, predictions = measure(name, file, by, estimate)
        report[part][name] = {**figures, "weights": _weights(by)}
        lines += predictions
    report["fitted on all"] = _weights(everything)
    print("fitted on all", report["fitted on all"])
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    if options.predictions:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        options.predictions.write_text(text)


if __name__ == "__main__":
    main()
