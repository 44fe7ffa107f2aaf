"""Fit the calibration of drift, and measure it on each file of pairs with that of the others.

    PYTHONPATH=. python benchmarks/drift.py [PAIRS.jsonl ...] [--json OUT] [--predictions OUT.jsonl]

The pairs are those of `evaluate --drift`. Without files it reads `benchmarks/drift/`, the project's
own. For each file the weights of the evidence (`memories/core/drift/calibration.py`) are fitted on
the others; `fitted on all` has the weights that the product stores. Pairs of `AGAINST` count less:
their author wrote them against one feature, the share of the note that changed, so that all its
rewordings are small and most of its contradictions are in rewritten notes. What the features are
was decided with all files in view, which no protocol can take back.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import benchmarks.ground  # noqa: F401  sets Django up, before the product's modules are read
from engram.console.evaluation import drift, drift_pairs
from engram.console.evaluation.drift_fitting import labelled
from engram.console.evaluation.drift_pairs import ReadPair, read_pair
from engram.kernel.embedding import model_name
from memories.core.drift.calibration import CALIBRATIONS, Calibration
from memories.core.drift.estimate import Estimate
from memories.core.drift.evidence import FEATURES
from memories.core.drift.fitting import Labelled, fit
from memories.services.drift.reading import Estimator

OWN: Final = Path(__file__).parent / "drift"
UNTOUCHED: Final = frozenset(
    ["answers", "answers_2", "start", *(f"pairs_{number}" for number in range(3, 10))]
)  # measured by the stored weights, and never fitted on
AGAINST: Final = frozenset(["pairs_2"])
WEIGHT_OF_THOSE: Final = 0.6


@dataclass(frozen=True)
class Case:
    """A pair, and what it says about the weights; None where nothing is weighed."""

    pair: ReadPair
    label: Labelled | None


def read(path: Path, model: str, estimate: Estimate) -> list[Case]:
    """Read a file of pairs and measure their evidence."""
    weight = WEIGHT_OF_THOSE if path.stem in AGAINST else 1.0
    pairs = [read_pair(row, model) for row in drift_pairs.read(path)]
    return [Case(pair, labelled(pair, estimate, weight)) for pair in pairs]


def _fit(cases: Iterable[Case]) -> Calibration:
    base = CALIBRATIONS.get(model_name(), Calibration())
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


def main() -> None:
    """Measure each file with the weights of the others; print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--predictions", type=Path)
    options = parser.parse_args()
    files = options.files or [
        path for path in sorted(OWN.glob("*.jsonl")) if path.stem not in UNTOUCHED
    ]
    model = model_name()
    estimate = Estimator(model)
    cases = {path.stem: read(path, model, estimate) for path in files}
    report: dict[str, Any] = {"embedding model": model, "left out": {}}
    lines = []
    for name, own in cases.items():
        others = _fit([case for other, some in cases.items() if other != name for case in some])
        figures, predictions = judge(own, others, estimate)
        report["left out"][name] = {"metrics": figures, "weights": _weights(others)}
        lines += [{"file": name, **row} for row in predictions]
        shares = ", ".join(f"{key} {value['mean']:.3f}" for key, value in figures.items())
        print(f"{name:<16} {shares}")
    everything = _fit([case for some in cases.values() for case in some])
    report["fitted on all"] = _weights(everything)
    print("fitted on all", report["fitted on all"])
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    if options.predictions:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        options.predictions.write_text(text)


if __name__ == "__main__":
    main()
