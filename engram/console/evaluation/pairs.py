"""Evaluate the gate on pairs of similar statements: `--gate PAIRS`.

For each pair, `a` is committed, then `b` in the same scope by another agent, with the default
policy. Labels, where the file has them, are `relation` (same, refines, contradicts, different) or
`nli` (ENTAILMENT, NEUTRAL, CONTRADICTION).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from engram.console.evaluation.lines import InputRow, read_rows, refuse_repeated_ids
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.scratch import commit_rows, roll_back, scratch_workspace
from engram.kernel.models import Workspace
from memories.core.metrics import Interval, wilson
from memories.services.commit.commit import Committed
from memories.services.commit.draft import Draft

NOW = datetime(2025, 1, 1, tzinfo=UTC)
KEPT_TOGETHER = frozenset(["merged", "suggested", "duplicate"])
JOINED = frozenset(["merged", "duplicate"])


class PairRow(InputRow):
    """Two statements and how they relate."""

    id: str
    a: str = Field(min_length=1)
    b: str = Field(min_length=1)
    relation: Literal["same", "refines", "contradicts", "different"] | None = None
    nli: Literal["ENTAILMENT", "NEUTRAL", "CONTRADICTION"] | None = None

    @property
    def label(self) -> str:
        """Return the label, whichever the file has."""
        return self.relation or (self.nli or "").lower()


def run(path: Path, *, seed: int, advance: Callable[[int], object]) -> ModeResult:
    """Commit every pair and record the gate's decisions.

    Nothing is drawn at random: `seed` is there because every mode takes one.
    """
    pairs = read(path)
    predictions = []
    with scratch_workspace() as workspace:
        for pair in pairs:
            with roll_back():
                predictions.append(_row(pair, _commit_both(workspace, pair)))
            advance(1)
    return score(pairs, predictions)


def read(path: Path) -> list[PairRow]:
    """Read the pairs."""
    pairs = read_rows(path, PairRow)
    refuse_repeated_ids(path, [pair.id for pair in pairs])
    return pairs


def score(pairs: Sequence[PairRow], predictions: Sequence[Mapping[str, Any]]) -> ModeResult:
    """Return the gate's figures that the file's labels allow (Wilson intervals)."""

    def share(labels: set[str], is_hit: Callable[[Mapping[str, Any]], bool]) -> Interval:
        rows = zip(pairs, predictions, strict=True)
        hits = [is_hit(row) for pair, row in rows if pair.label in labels]
        return wilson(sum(hits), len(hits))

    contradictions = {"contradicts", "contradiction"}
    wanted = {
        "contradictions_merged": (contradictions, lambda r: r["outcome"] in JOINED, True),
        "contradictions_vetoed": (contradictions, lambda r: r["relation"] == "contradicts", False),
        "same_merged_or_suggested": ({"same"}, lambda r: r["outcome"] in KEPT_TOGETHER, False),
        "same_merged": ({"same"}, lambda r: r["outcome"] in JOINED, False),
        "refines_merged_or_suggested": (
            {"refines"},
            lambda r: r["outcome"] in KEPT_TOGETHER,
            False,
        ),
        "different_merged": ({"different"}, lambda r: r["outcome"] in JOINED, True),
        "different_suggested": ({"different"}, lambda r: r["outcome"] == "suggested", True),
        "entailments_vetoed": ({"entailment"}, lambda r: r["relation"] == "contradicts", True),
    }
    figures = {
        name: Figure(value, is_lower_better)
        for name, (labels, is_hit, is_lower_better) in wanted.items()
        if (value := share(labels, is_hit)).n
    }
    details: dict[str, Any] = {"pairs": len(pairs)}
    for what in ("relation", "outcome"):
        counts = Counter(
            (pair.label or "unlabelled", row[what] or "not compared")
            for pair, row in zip(pairs, predictions, strict=True)
        )
        details[f"label → {what}"] = {f"{a} → {b}": n for (a, b), n in sorted(counts.items())}
    return ModeResult("gate", figures, predictions, details)


def _commit_both(workspace: Workspace, pair: PairRow) -> Committed | None:
    first = Draft(content=pair.a, agent="stored")
    second = Draft(content=pair.b, agent="incoming")
    commit_rows(workspace, [first], now=NOW)
    return commit_rows(workspace, [second], now=NOW + timedelta(days=1))[0]


def _row(pair: PairRow, committed: Committed | None) -> dict[str, Any]:
    if committed is None:
        refused: dict[str, Any] = {"relation": None, "cosine": None, "reasons": []}
        return {"id": pair.id, "outcome": "refused"} | refused
    gate = committed.gate.as_record()
    return {
        "id": pair.id,
        "outcome": committed.outcome,
        "relation": gate["relation"],
        "cosine": gate["similarity"],
        "reasons": gate["reasons"],
    }
