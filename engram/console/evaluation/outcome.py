"""The results of a run: figures with intervals, predictions to score again, and a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memories.core.metrics import Interval


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number with its 95 % interval."""

    value: Interval
    is_lower_better: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the figure in the format of the report."""
        return asdict(self.value) | {"lower_is_better": self.is_lower_better}


@dataclass(frozen=True, slots=True)
class ModeResult:
    """The result of one run of one mode."""

    mode: str
    figures: Mapping[str, Figure]
    predictions: Sequence[Mapping[str, Any]]
    # Figures by category and counts: reported, but never compared with a baseline.
    details: Mapping[str, Any] = field(default_factory=dict)


def report(outcome: ModeResult, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report that `--json` writes."""
    return {
        "mode": outcome.mode,
        "metrics": {name: figure.as_json() for name, figure in outcome.figures.items()},
        "details": dict(outcome.details),
        "provenance": dict(provenance),
    }


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write one JSON document."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_predictions(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write one JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def table(outcome: ModeResult) -> str:
    """Return the figures and details as aligned text."""
    width = max((len(name) for name in outcome.figures), default=0)
    lines = [
        f"{name:<{width}}  {_format(figure.value)}" for name, figure in outcome.figures.items()
    ]
    lines += [f"{name}: {_detail(value)}" for name, value in outcome.details.items()]
    return "\n".join(lines)


def _format(value: Interval) -> str:
    return f"{value.mean:6.3f}  [{value.low:.3f}, {value.high:.3f}]  n = {value.n}"


def _detail(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_detail(inner)}" for name, inner in value.items())
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value)
