"""Fit the calibrations of relevance, and measure them and the cut on kinds of text left out.

    PYTHONPATH=. python benchmarks/relevance.py gather DATA_FOLDER ROWS.jsonl
    PYTHONPATH=. python benchmarks/relevance.py fit ROWS.jsonl

`gather` stores each group of `benchmarks.ground.questions` and the demo's story in a scratch
workspace, recalls every question, and writes what was found. `fit` prints, for each kind of text,
the figures with the coefficients of the other kinds: calibration (a reliability table and the
expected error), and with the cut of `memories.core.relevance` the share of questions without an
answer that stay empty, recall@10 with and without it, and the precision of what is returned. Then
the coefficients of all kinds, which the product uses.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from benchmarks.ground import questions as of
from benchmarks.ground.database import own_database
from engram.console.demo.story import read_story
from engram.console.evaluation import probes
from engram.console.evaluation.retrieval import UNDATED, store
from engram.console.scratch import refresh_statistics, scratch_workspace
from engram.kernel.models import Workspace
from memories.core.relevance import (
    MAX_MEMORIES,
    MAX_TERMS,
    MIN_TERMS,
    Match,
    select,
    select_for_context,
)
from memories.services.recall.recall import Query, recall

Floats = NDArray[np.float64]
SHOWN = 10
FOUND_MAX = 20
RIDGE = 1e-3
EVIDENCE = ("RERANKED", "FIRST", "WORDS", "VECTOR")
TEXT_WEIGHT = 0.6
LEASTS = (0.04, 0.06, 0.08, 0.1, 0.15)
CONTEXT_LEASTS = (0.1, 0.12, 0.15, 0.2)


def gather(data: Path | None, out: Path) -> None:
    """Write a row for each question: its kind, what was found, and which of it is right."""
    with own_database(), out.open("w") as file:
        for row in _all_rows(data):
            file.write(json.dumps(row) + "\n")


def _all_rows(data: Path | None) -> Iterator[dict[str, Any]]:
    yield from _probe_rows()
    if data is None:
        return
    rng = random.Random(7)
    answers = data / "conflict_answers.jsonl"
    for name in ("", "_b", "_c"):
        stories = data / f"conflict_stories{name}.jsonl"
        yield from _rows(f"stories{name or '_a'}", of.story_groups(stories, answers, rng))
    yield from _rows("sessions", of.session_groups(data / "judge_sessions.jsonl", rng))
    for kind, name in (("conversations", "locomo"), ("passages", "multihop")):
        what = "memories" if name == "locomo" else "passages"
        memories = data / "public" / f"{name}_{what}.jsonl"
        questions = data / "public" / f"{name}_questions.jsonl"
        yield from _rows(kind, of.public_groups(memories, questions, rng))


def _rows(kind: str, groups: Sequence[of.Group]) -> Iterator[dict[str, Any]]:
    for number, group in enumerate(groups):
        with scratch_workspace() as workspace:
            times = [row.time for row in group.memories if row.time]
            now = max(times, default=UNDATED) + timedelta(hours=1)
            names = store(workspace, group.memories, now=now, advance=lambda _: None)
            refresh_statistics()
            for question in group.questions:
                found = _recall(workspace, question.text, now)
                labelled = [(set(names[i]), factors) for i, factors in found]
                yield _row(kind, question, labelled) | {"group": number}


def _probe_rows() -> Iterator[dict[str, Any]]:
    """Yield the probes, and questions about the story that it does not answer."""
    rows = probes.read(probes.PROBES)
    strange = Path(__file__).with_name("ground") / "unanswerable.txt"
    with probes.load_story(probes.PROBES, rows, read_story(), advance=lambda _: None) as story:
        asked = [
            of.Question(row.question, frozenset(story.name(label) for label in row.gold))
            for row in rows
            if row.gold and not (row.scope or row.project)
        ]
        asked += map(of.Question, strange.read_text().splitlines())
        for question in asked:
            found = _recall(story.workspace, question.text, probes.NOW)
            yield _row("probes", question, [({story.names[i]}, explain) for i, explain in found])


def _recall(workspace: Workspace, text: str, now: datetime) -> list[tuple[UUID, dict[str, Any]]]:
    query = Query(text, k=FOUND_MAX, min_score=None, is_recorded=False)
    found = recall(workspace, query, now=now).results
    return [(one.memory.id, one.explain) for one in found]


def _row(
    kind: str, question: of.Question, found: list[tuple[set[str], dict[str, Any]]]
) -> dict[str, Any]:
    first = [
        TEXT_WEIGHT * explain["text"] + (1 - TEXT_WEIGHT) * explain["vector"]
        for _, explain in found
    ]
    return {
        "kind": kind,
        "question": question.text,
        "gold": len(question.gold),
        "right": [
            1 if names & question.gold else -1 if names & question.unsure else 0
            for names, _ in found
        ],
        "RERANKED": [explain["own"] for _, explain in found],
        "FIRST": first,
        "WORDS": [explain["text"] for _, explain in found],
        "VECTOR": [explain["vector"] for _, explain in found],
        "fused": [explain["fused"] for _, explain in found],
        "memories": found[0][1]["memories"] if found else 0,
        "terms": found[0][1]["query_terms"] if found else 0,
    }


def fit(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Print the tables; return the figures of the kinds left out, and the coefficients."""
    rows = [row for row in rows if row["right"]]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    result: dict[str, Any] = {"left out": {}, "coefficients": {}}
    for evidence in EVIDENCE:
        result["coefficients"][evidence] = _regress(rows, evidence)
        for kind in kinds:
            others = [row for row in rows if row["kind"] != kind] or rows
            own = [row for row in rows if row["kind"] == kind]
            figures = _measure(own, _regress(others, evidence), evidence)
            result["left out"].setdefault(evidence, {})[kind] = figures
            print(evidence, kind, json.dumps(figures))
    by_size = result["coefficients"]["VECTOR"][2]
    contexts = [row for row in rows if row["kind"] == "sessions"]
    if contexts:
        result["coefficients"]["CONTEXT"] = _regress(contexts, "VECTOR", by_size=by_size)
        result["left out"]["CONTEXT"] = {"sessions": _measure_contexts(contexts, by_size)}
        print("CONTEXT", json.dumps(result["left out"]["CONTEXT"]))
    print(json.dumps(result["coefficients"], indent=1))
    return result


def _measure_contexts(rows: Sequence[dict[str, Any]], by_size: float) -> dict[str, Any]:
    """Return the figures of the cut for contexts, each group with the others' coefficients.

    The groups have one size, so that its coefficient (`by_size`) is that of all kinds of text.
    """
    found, ordered = [], []
    for group in sorted({row["group"] for row in rows}):
        others = [row for row in rows if row["group"] != group]
        beta = np.array(_regress(others, "VECTOR", by_size=by_size))
        for row in (row for row in rows if row["group"] == group):
            ordered.append(row)
            found.append(1 / (1 + np.exp(-_design(row, "VECTOR") @ beta)))
    figures: dict[str, Any] = _reliability(ordered, found)
    for least in CONTEXT_LEASTS:
        kept = [np.array(select_for_context(list(p), least=least)) for p in found]
        figures[f"at {least}"] = _figures_of_cut(ordered, kept)
    return figures


def _regress(
    rows: Sequence[dict[str, Any]], evidence: str, *, by_size: float | None = None
) -> list[float]:
    """Return intercept and coefficients; each kind of text has the same weight.

    `by_size` is the coefficient of the number of memories, where the rows cannot give it.
    """
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row["kind"]] = sizes.get(row["kind"], 0) + len(row["right"])
    design, right, weight = [], [], []
    for row in rows:
        known = np.array(row["right"]) >= 0
        design.append(_design(row, evidence)[known])
        right.append(np.array(row["right"], float)[known])
        weight.append(np.full(known.sum(), 1 / sizes[row["kind"]]))
    x, y, w = np.concatenate(design), np.concatenate(right), np.concatenate(weight)
    w *= len(w) / w.sum()
    free = np.array([True, True, by_size is None, True])
    beta, ridge = np.array([0.0, 0.0, by_size or 0.0, 0.0]), np.diag([0.0, *[RIDGE] * 3])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ beta))
        gradient = x.T @ (w * (p - y)) + ridge @ beta
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + ridge
        beta[free] -= np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
    return [round(float(value), 3) for value in beta]


def _design(row: dict[str, Any], evidence: str) -> Floats:
    match = np.array(row[evidence], float)
    size = np.full(len(match), np.log(min(max(row["memories"], 1), MAX_MEMORIES)))
    return np.stack(
        [
            np.ones(len(match)),
            match,
            size,
            np.full(len(match), np.log1p(min(max(row["terms"], MIN_TERMS), MAX_TERMS))),
        ],
        axis=1,
    )


def _measure(rows: Sequence[dict[str, Any]], beta: list[float], evidence: str) -> dict[str, Any]:
    found = [1 / (1 + np.exp(-_design(row, evidence) @ np.array(beta))) for row in rows]
    figures: dict[str, Any] = _reliability(rows, found)
    answered = [row for row in rows if row["gold"]]
    figures["answered"], figures["unanswerable"] = len(answered), len(rows) - len(answered)
    figures["recall@10"] = _recall_at_10(
        answered, [np.ones(len(r["right"]), bool) for r in answered]
    )
    for least in LEASTS:
        kept = []
        for row, p in zip(rows, found, strict=True):
            fused = row["fused"] if evidence == "RERANKED" else row[evidence]
            matches = [Match(float(a), b) for a, b in zip(p, fused, strict=True)]
            kept.append(np.array(select(matches, least=least)))
        figures[f"at {least}"] = _figures_of_cut(rows, kept)
    return figures


def _figures_of_cut(
    rows: Sequence[dict[str, Any]], kept: Sequence[NDArray[np.bool_]]
) -> dict[str, float | None]:
    """Return the share of empty answers where none is right, recall@10, and the precision."""
    empty = [not k.any() for row, k in zip(rows, kept, strict=True) if not row["gold"]]
    pairs = [(row, k) for row, k in zip(rows, kept, strict=True) if row["gold"]]
    shown = [np.array(row["right"])[:SHOWN][k[:SHOWN]] for row, k in pairs]
    right, wrong = (sum((s == value).sum() for s in shown) for value in (1, 0))
    return {
        "empty": round(float(np.mean(empty)), 3) if empty else None,
        "answered": round(float(np.mean([k.any() for _, k in pairs])), 3) if pairs else None,
        "recall@10": _recall_at_10([row for row, _ in pairs], [k for _, k in pairs]),
        "precision": round(float(right / max(1, right + wrong)), 3),
    }


def _recall_at_10(rows: Sequence[dict[str, Any]], kept: Sequence[NDArray[np.bool_]]) -> float:
    shares = [
        (np.array(row["right"])[:SHOWN][k[:SHOWN]] == 1).sum() / row["gold"]
        for row, k in zip(rows, kept, strict=True)
    ]
    return round(float(np.mean(shares)), 3) if shares else 0.0


def _reliability(rows: Sequence[dict[str, Any]], found: Sequence[Floats]) -> dict[str, Any]:
    """Return the expected calibration error, and mean and share that is right in each tenth."""
    right = np.concatenate([np.array(row["right"]) for row in rows])
    p = np.concatenate(found)[right >= 0]
    right = right[right >= 0]
    tenths = np.minimum((p * 10).astype(int), 9)
    table = {
        f".{tenth}": [
            int((tenths == tenth).sum()),
            round(float(p[tenths == tenth].mean()), 3),
            round(float(right[tenths == tenth].mean()), 3),
        ]
        for tenth in np.unique(tenths)
    }
    error = sum(n * abs(mean - share) for n, mean, share in table.values()) / len(p)
    return {"calibration_error": round(error, 3), "reliability": table}


def main(arguments: Sequence[str]) -> None:
    """Run a command; without one gather the demo's story alone, and fit."""
    if not arguments:
        with TemporaryDirectory() as folder:
            rows = Path(folder) / "rows.jsonl"
            gather(None, rows)
            main(["fit", str(rows)])
    elif arguments[0] == "gather":
        gather(Path(arguments[1]), Path(arguments[2]))
    else:
        lines = Path(arguments[1]).read_text().splitlines()
        print(json.dumps(fit([json.loads(line) for line in lines])))


if __name__ == "__main__":
    main(sys.argv[1:])
