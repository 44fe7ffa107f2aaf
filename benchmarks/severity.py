"""Fit the weights of `conflicts/core/severity_by_meaning.py`, and measure them on pairs left out.

    PYTHONPATH=. python benchmarks/severity.py [--write]

`benchmarks/severity/pairs.jsonl` has pairs of contradicting statements, each with the severity that
a person gave it before any rule rated it, its author and its part: pairs of the parts `held`,
`held 2` and `held 3` are never fitted on. Printed are how many are rated as the person did, and how
many two levels off, by the words alone (`conflicts/core/severity.py`) and by words and meaning: on
each held part; on each of the other pairs, left out in turn; and on each author's by weights of the
others' alone. `--write` replaces `conflicts/core/severity.npz` by weights that were fitted on all
but the held pairs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")

import django

django.setup()

import numpy as np
from numpy.typing import NDArray

from conflicts.core.facts import Fact
from conflicts.core.severity import severity_of
from conflicts.core.severity_by_meaning import (
    LEVELS,
    WEIGHTS_FILE,
    middle_of,
    rate,
)
from conflicts.core.weights import Weights
from engram.kernel.embedding import embed_first_windows
from engram.kernel.minilm import NAME

PAIRS: Final = Path(__file__).parent / "severity" / "pairs.jsonl"
RIDGE: Final = 3.0  # of 0.5 to 5 the best on pairs left out, none two levels off
FITTED_ON: Final = "tune"
TOY: Final = os.environ.get("BENCH_SIZE") == "toy"

Pair = dict[str, Any]


def facts_of(pair: Pair) -> list[Fact]:
    """Return the statements of a pair as facts."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Fact(
            id=text, lineage=text, content=text, scope="", project="", agent="", session_key="",
            observed_at=at, provenance="assistant_derived",
        )
        for text in (pair["one"], pair["other"])
    ]  # fmt: skip


def fit(pairs: Sequence[Pair]) -> Weights:
    """Fit the weights; each level counts alike, however many pairs have it."""
    middles = [middle_of(pair["vectors"]) for pair in pairs]
    rows = np.array([middle for middle in middles if middle is not None])
    levels = np.array([LEVELS.index(pair["severity"]) for pair in pairs])
    counts = np.bincount(levels, minlength=len(LEVELS))
    share = np.sqrt(len(pairs) / len(LEVELS) / counts[levels])[:, None]
    mean = rows.mean(axis=0)
    design = share * np.hstack([rows - mean, np.ones((len(rows), 1))])
    wanted = share * np.eye(len(LEVELS))[levels]
    squares = design.T @ design + RIDGE * np.eye(design.shape[1])
    return Weights(NAME, mean, np.linalg.solve(squares, design.T @ wanted))


def by_words(pair: Pair) -> str:
    """Rate a pair by the lists of words alone."""
    return severity_of(facts_of(pair))


def by_meaning(weights: Weights) -> Callable[[Pair], str]:
    """Return what rates a pair by weights."""
    return lambda pair: rate(facts_of(pair), pair["vectors"], weights) or by_words(pair)


def measure(rated: Sequence[str], pairs: Sequence[Pair]) -> str:
    """Return how many are rated as the person did, and how many are two levels off."""
    off = [
        abs(LEVELS.index(one) - LEVELS.index(pair["severity"]))  # type: ignore[arg-type]
        for one, pair in zip(rated, pairs, strict=True)
    ]
    return f"{off.count(0)}/{len(off)}, two levels off {off.count(2)}"


def report(name: str, pairs: Sequence[Pair], meaning: Sequence[str]) -> None:
    """Print both ratings of some pairs."""
    words = measure([by_words(pair) for pair in pairs], pairs)
    print(f"{name}: by words {words}; by words and meaning {measure(meaning, pairs)}")


def main() -> None:
    """Measure, and with `--write` replace the weights."""
    pairs: list[Pair] = [json.loads(line) for line in PAIRS.read_text().splitlines()]
    found = np.asarray(
        embed_first_windows([pair[side] for pair in pairs for side in ("one", "other")], NAME)
    )
    vectors: NDArray[np.float64] = found.reshape(len(found), -1)  # short texts have one window
    for number, pair in enumerate(pairs):
        pair["vectors"] = [vectors[2 * number], vectors[2 * number + 1]]
    rest = [pair for pair in pairs if pair["part"] == FITTED_ON]
    weights = fit(rest)
    for part in sorted({pair["part"] for pair in pairs} - {FITTED_ON}):
        held = [pair for pair in pairs if pair["part"] == part]
        report(part, held, [by_meaning(weights)(pair) for pair in held])
    tried = rest[:6] if TOY else rest
    left_out = [by_meaning(fit([p for p in rest if p is not pair]))(pair) for pair in tried]
    report("each left out", tried, left_out)
    for author in sorted({pair["author"] for pair in pairs}):
        own = [pair for pair in pairs if pair["author"] == author]
        others = fit([pair for pair in pairs if pair["author"] != author])
        report(f"author {author}, by the others", own, [by_meaning(others)(p) for p in own])
    if "--write" in sys.argv:
        weights.save(WEIGHTS_FILE)


if __name__ == "__main__":
    main()
