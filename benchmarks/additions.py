"""Fit the weights of `conflicts/core/answers/additions.py`, and measure them on authors left out.

    PYTHONPATH=. python benchmarks/additions.py [PAIRS] [--write]

A line of `benchmarks/additions/pairs.jsonl` is a question with two answers, the two notes that give
them, and whether both can be true (`both_true`), by its `author`. Printed are, for each author by
weights of the others alone, and for all: the share of pairs that may both be true and are
recognised, and that of contradictions taken for such pairs; also by the forms of the questions
alone (`conflicts/core/answers/several.py`). With PAIRS, lines of the same form, also what the
weights say of those. `--write` replaces `conflicts/core/answers/additions.npz` by weights fitted on
all authors.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

import benchmarks.ground  # noqa: F401  sets Django up, before the product's modules are read
from conflicts.core.answers.additions import (
    LEAST,
    WEIGHTS_FILE,
    AnswerPair,
    Floats,
    Weights,
    features_of,
)
from conflicts.core.answers.several import asks_of_past_events, has_several_answers
from engram.kernel.embedding import embed
from engram.kernel.minilm import NAME

PAIRS: Final = Path(__file__).parent / "additions" / "pairs.jsonl"
PENALTY: Final = 0.3  # of the squared weights; of 0.1 to 3 the best on authors left out
STEPS: Final = 30
TOY_PAIRS: Final = 60

Row = dict[str, Any]


def read(path: Path) -> tuple[list[Row], Floats, Floats]:
    """Read a file: its rows, their features (n, k), and 1 where both answers can be true (n,)."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if os.environ.get("BENCH_SIZE") == "toy":
        rows = rows[:: max(len(rows) // TOY_PAIRS, 1)]
    questions = embed([row["question"] for row in rows])
    texts = np.asarray(embed([text for row in rows for text in row["texts"]]))
    features = [
        features_of(
            AnswerPair(
                (row["question"],) * 2,
                tuple(row["answers"]),
                tuple(row["texts"]),
                np.asarray([question, question], dtype=float),
                told.astype(float),
            )
        )
        for row, question, told in zip(
            rows, questions, texts.reshape(len(rows), 2, -1), strict=True
        )
    ]
    return rows, np.asarray(features), np.asarray([row["both_true"] for row in rows], dtype=float)


def fit(features: Floats, wanted: Floats) -> Weights:
    """Fit a logistic regression with squared penalty by Newton's method."""
    mean = features.mean(axis=0)
    design = np.hstack([features - mean, np.ones((len(features), 1))])
    penalty = PENALTY * np.eye(design.shape[1])
    penalty[-1, -1] = 1e-6
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ weights, -30.0, 30.0)))
        slope = design.T @ (chance - wanted) + penalty @ weights
        curve = (design * (chance * (1.0 - chance))[:, None]).T @ design + penalty
        weights -= np.linalg.solve(curve, slope)
    return Weights(NAME, mean, weights)


def show(name: str, recognised: Floats, wanted: Floats) -> None:
    """Print the shares of the pairs and of the contradictions that are said to be both true."""
    pairs, others = wanted == 1, wanted == 0
    print(
        f"{name}: {int(recognised[pairs].sum())} of {pairs.sum()} pairs recognised "
        f"({recognised[pairs].mean():.2f}), {int(recognised[others].sum())} of {others.sum()} "
        f"contradictions taken for such ({recognised[others].mean():.2f})"
    )


def judge(weights: Weights, features: Floats) -> Floats:
    """Return 1 for each row of features (n, k) whose answers may both be true (n,)."""
    return np.asarray([weights.estimate(row) >= LEAST for row in features], dtype=float)


def by_forms(rows: Sequence[Row]) -> Floats:
    """Return what the forms of the questions alone tell of each row (n,)."""
    asked = (row["question"] for row in rows)
    return np.asarray(
        [has_several_answers(q) or asks_of_past_events(q) for q in asked], dtype=float
    )


def main() -> None:
    """Measure, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", nargs="?", type=Path, help="pairs that are not fitted on")
    parser.add_argument("--write", action="store_true", help=f"replace {WEIGHTS_FILE.name}")
    options = parser.parse_args()
    rows, features, wanted = read(PAIRS)
    authors = np.asarray([row["author"] for row in rows])
    found = np.zeros(len(rows))
    for author in np.unique(authors):
        own = authors == author
        found[own] = judge(fit(features[~own], wanted[~own]), features[own])
        show(f"{author}, by the others' weights", found[own], wanted[own])
    show("all, each by the others' weights", found, wanted)
    show("all, by the forms of the questions", by_forms(rows), wanted)
    weights = fit(features, wanted)
    if options.pairs:
        others, unseen, expected = read(options.pairs)
        show("unseen, by all weights", judge(weights, unseen), expected)
        show("unseen, by the forms of the questions", by_forms(others), expected)
    if options.write:
        weights.save(WEIGHTS_FILE)


if __name__ == "__main__":
    main()
