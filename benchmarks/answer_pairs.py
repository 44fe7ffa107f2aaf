"""Count which pairs of notes open a card, and fit and measure what tells additions from them.

    PYTHONPATH=. python benchmarks/answer_pairs.py [PAIRS ...] [--write]

A line of PAIRS is two notes, each with a question that it answers and the answer, whether the two
`contradict` each other, and an `author`. Without files those of `benchmarks/answer_pairs/` are
read. Each pair is read by the detective as a workspace by itself, and printed are the
contradictions and the others that open a card, by file.

`conflicts/core/answers/additions.py` is fitted on `additions.jsonl`. Printed are, for each of its
authors by weights of the others alone, the pairs of which both notes may be true and that are
recognised, and the contradictions taken for such; also by the forms of the questions alone
(`conflicts/core/answers/several.py`). `--write` replaces `additions.npz` by weights fitted on all.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

import benchmarks.ground  # noqa: F401  sets Django up, before the product's modules are read
from conflicts.core.answers.additions import (
    LEAST,
    WEIGHTS_FILE,
    AnswerPair,
    estimate,
    features_of,
)
from conflicts.core.answers.several import asks_of_past_events, has_several_answers
from conflicts.core.detective import detect
from conflicts.core.facts import DetectiveSettings, Fact
from conflicts.core.weights import Floats, Weights
from engram.kernel.embedding import embed
from engram.kernel.minilm import NAME
from memories.core.answers import Answer

FOLDER: Final = Path(__file__).parent / "answer_pairs"
FITTED: Final = FOLDER / "additions.jsonl"
SHIPPED: Final = (FITTED, FOLDER / "questions.jsonl")
PENALTY: Final = 0.3  # of the squared weights; of 0.1 to 3 the best on authors left out
STEPS: Final = 30
TOY_PAIRS: Final = 60
BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)

Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    """Read a file of pairs; a part of it at toy size."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    is_toy = os.environ.get("BENCH_SIZE") == "toy"
    return rows[:: max(len(rows) // TOY_PAIRS, 1)] if is_toy else rows


def embedded(rows: Sequence[Row], field: str) -> Floats:
    """Return the unit vectors (n, 2, dim) of a field of both notes."""
    texts = [note[field] for row in rows for note in row["notes"]]
    return np.asarray(embed(texts), dtype=float).reshape(len(rows), 2, -1)


def opens_card(row: Row, questions: Floats, texts: Floats) -> bool:
    """Return whether the detective finds something between the two notes, ten days apart."""
    facts = [
        Fact(
            id=str(n), lineage=str(n), content=note["text"], scope="", project="", agent="",
            session_key=f"s{n}", observed_at=BEGIN + timedelta(days=10 * n),
            provenance="assistant_derived", answers=(Answer(note["question"], note["answer"]),),
        )
        for n, note in enumerate(row["notes"])
    ]  # fmt: skip
    asked = {n["question"]: v for n, v in zip(row["notes"], questions.astype("f4"), strict=True)}
    return bool(
        detect(
            facts, texts.astype("f4"), now=BEGIN + timedelta(days=60),
            settings=DetectiveSettings(embedding_model=NAME), questions=asked,
        )
    )  # fmt: skip


def features(rows: Sequence[Row], questions: Floats, texts: Floats) -> Floats:
    """Return what the weights read of each pair (n, k)."""
    return np.asarray(
        [
            features_of(
                AnswerPair(_both(row, "question"), _both(row, "answer"), _both(row, "text"), q, t)
            )
            for row, q, t in zip(rows, questions, texts, strict=True)
        ]
    )


def _both(row: Row, field: str) -> tuple[str, str]:
    first, second = (note[field] for note in row["notes"])
    return first, second


def fit(rows: Floats, wanted: Floats) -> Weights:
    """Fit a logistic regression with squared penalty by Newton's method."""
    mean = rows.mean(axis=0)
    design = np.hstack([rows - mean, np.ones((len(rows), 1))])
    penalty = PENALTY * np.eye(design.shape[1])
    penalty[-1, -1] = 1e-6
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ weights, -30.0, 30.0)))
        slope = design.T @ (chance - wanted) + penalty @ weights
        curve = (design * (chance * (1.0 - chance))[:, None]).T @ design + penalty
        weights -= np.linalg.solve(curve, slope)
    return Weights(NAME, mean, weights)


def show(name: str, said: Floats, contradict: Floats, what: str) -> None:
    """Print of how many contradictions and of how many other pairs something is said."""
    counts = Counter(zip(contradict.astype(bool), said.astype(bool), strict=True))
    parts = [
        f"{counts[kind, True]} of {counts[kind, True] + counts[kind, False]} {noun}"
        for kind, noun in ((True, "contradictions"), (False, "pairs that are both true"))
    ]
    print(f"{name}: {what} {' and '.join(parts)}")


def measure_additions(rows: Sequence[Row], found: Floats, contradict: Floats) -> None:
    """Print what weights and forms say of pairs that may both be true."""
    authors = np.asarray([row["author"] for row in rows])
    said = np.zeros(len(rows))
    for author in np.unique(authors):
        own = authors == author
        weights = fit(found[~own], 1 - contradict[~own])
        said[own] = [estimate(weights, row) >= LEAST for row in found[own]]
        show(f"{author}, by the others' weights", said[own], contradict[own], "both true")
    show("all, each by the others' weights", said, contradict, "both true")
    asked = [row["notes"][0]["question"] for row in rows]
    forms = np.asarray([has_several_answers(q) or asks_of_past_events(q) for q in asked], float)
    show("all, by the forms of the questions", forms, contradict, "both true")


def main() -> None:
    """Measure, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", nargs="*", type=Path, default=SHIPPED)
    parser.add_argument("--write", action="store_true", help=f"replace {WEIGHTS_FILE.name}")
    options = parser.parse_args()
    for path in options.pairs:
        rows = read(path)
        asked, told = embedded(rows, "question"), embedded(rows, "text")
        contradict = np.asarray([row["contradict"] for row in rows], dtype=float)
        if path == FITTED:
            found = features(rows, asked, told)
            measure_additions(rows, found, contradict)
            if options.write:
                fit(found, 1 - contradict).save(WEIGHTS_FILE)
        cards = [opens_card(*row) for row in zip(rows, asked, told, strict=True)]
        show(path.name, np.asarray(cards, float), contradict, "cards about")


if __name__ == "__main__":
    main()
