"""Measure the detective on each story file with settings chosen on the others.

    PYTHONPATH=. python benchmarks/leave_one_out.py [STORIES ...] [--answers ANSWERS]
        [--json OUT.json] [--predictions OUT.jsonl]

Without files it reads the examples of the rules, which proves that it works and measures nothing.

For each file the confidence from which findings are reported and the margin of questions are those
with the highest F0.5 on the other files; of equally good ones the middle one. Only these two
settings are chosen that way: the rules themselves were written with all files in view, which no
protocol can take back. Stories are read in process, without the gate, filed by subject as cards
are, and scored as `evaluate --conflicts` does.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import benchmarks.ground  # noqa: F401  sets Django up, before the product's modules are read
from conflicts.core.comparisons import Comparisons
from conflicts.core.detective import detect
from conflicts.core.facts import DetectiveSettings, Fact, Finding
from conflicts.core.findings import split_by_subject
from conflicts.core.identity import place
from conflicts.core.rules.registry import RULES
from conflicts.core.subjects import note_of
from engram.console.evaluation import stories
from engram.console.evaluation.outcome import ModeResult
from engram.console.evaluation.stories import StoryRow
from engram.console.evaluation.written_answers import NO_ANSWERS, read_answers
from engram.kernel.embedding import embed
from engram.kernel.minilm import NAME

CONFIDENCES = (0.5, 0.6, 0.7, 0.8)
MARGINS = (-0.06, -0.03, 0.0, 0.03, 0.06)
SEED = 0

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Read:
    """A story as the detective reads it."""

    row: StoryRow
    facts: list[Fact]
    vectors: Vectors
    questions: Mapping[str, Vectors]

    def cards(self, settings: DetectiveSettings) -> list[Finding]:
        """Return the findings that would open a card each."""
        found = detect(
            self.facts, self.vectors, now=self.row.now, settings=settings, questions=self.questions
        )
        notes = {fact.id: note_of(fact) for fact in self.facts}
        known = Comparisons()
        parts = [part for one in found for part in split_by_subject(one, notes, known)]
        notes |= {i: replace(notes[i], answer=told) for part in parts for i, told in part.answers}
        placed = place(
            parts,
            lineage_of={fact.id: fact.id for fact in self.facts},
            claim_of={fact.id: fact.content for fact in self.facts},
            open_cards=[],
            decided=[],
            is_other=lambda a, b: known.are_of_other_subjects(notes[a], notes[b]),
        )
        return [one.finding for one in placed if one.action == "open"]


def read(path: Path, answers: Path | None) -> list[Read]:
    """Read a file with its vectors."""
    rows = stories.read(path)
    told = read_answers(answers, path) if answers else NO_ANSWERS
    texts = {fact.content for row in rows for fact in row.facts}
    texts |= {answer.question for found in told.values() for answer in found}
    ordered = sorted(texts)
    vector_of = dict(zip(ordered, embed(ordered), strict=True))
    found = []
    for row in rows:
        facts = [
            Fact(
                fact.id, fact.id, fact.content, fact.scope, "", fact.agent, fact.session,
                fact.committed_at, "assistant_derived", answers=told.get((row.id, fact.id), ()),
            )
            for fact in row.facts
        ]  # fmt: skip
        questions = {a.question: vector_of[a.question] for fact in facts for a in fact.answers}
        vectors = np.stack([vector_of[fact.content] for fact in facts])
        found.append(Read(row, facts, vectors, questions))
    return found


def predictions(read_rows: Sequence[Read], settings: DetectiveSettings) -> list[dict[str, Any]]:
    """Return what the detective finds, a row a story."""
    return [
        {
            "id": one.row.id,
            "conflicts": [
                {"fact_ids": list(f.fact_ids), "kind": f.kind, "rule": f.rules[0]}
                for f in one.cards(settings)
            ],
        }
        for one in read_rows
    ]


def measure(read_rows: Sequence[Read], settings: DetectiveSettings) -> ModeResult:
    """Return the figures of some stories."""
    rows = [one.row for one in read_rows]
    return stories.score(rows, predictions(read_rows, settings), seed=SEED)


def choose(read_rows: Sequence[Read]) -> DetectiveSettings:
    """Return the settings with the highest F0.5: precision counts twice as much as recall.

    Equally good ones are neighbours: the middle one is the farthest from those that are worse.
    """

    def f_half(settings: DetectiveSettings) -> float:
        figures = measure(read_rows, settings).figures
        precision, recall = (figures[name].value.mean for name in ("precision", "recall"))
        return 1.25 * precision * recall / max(0.25 * precision + recall, 1e-9)

    candidates = [
        DetectiveSettings(min_confidence=confidence, question_margin=margin, embedding_model=NAME)
        for confidence, margin in product(CONFIDENCES, MARGINS)
    ]
    scores = [f_half(one) for one in candidates]
    best = [one for one, score in zip(candidates, scores, strict=True) if score == max(scores)]
    best.sort(key=lambda one: (one.min_confidence, one.question_margin))
    confidence = best[(len(best) - 1) // 2].min_confidence
    best = [one for one in best if one.min_confidence == confidence]
    return best[(len(best) - 1) // 2]


def write_examples(folder: Path) -> list[Path]:
    """Write two story files of the rules' examples; return their paths."""
    shown = [rule for rule in RULES if rule.example and not rule.answers]
    paths = [folder / "even.jsonl", folder / "odd.jsonl"]
    for at, path in enumerate(paths):
        rows = [
            {
                "id": rule.id,
                "now": "2026-03-01T00:00:00Z",
                "facts": [
                    {
                        "id": f"f{day}",
                        "content": text,
                        "committed_at": f"2026-01-{day:02}T09:00:00Z",
                    }
                    for day, text in enumerate(rule.example, start=1)
                ],
                "expected": [{"fact_ids": [f"f{day + 1}" for day in range(len(rule.example))]}],
            }
            for rule in shown[at::2]
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


def main() -> None:
    """Print a row for each file left out, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("stories", nargs="*", type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--predictions", type=Path)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        paths = options.stories or write_examples(Path(folder))
        files = {path: read(path, options.answers) for path in paths}
    report, rows = {}, []
    for path, own in files.items():
        others = [one for other, found in files.items() if other != path for one in found]
        settings = choose(others) if others else DetectiveSettings(embedding_model=NAME)
        result = measure(own, settings)
        rows += [{"file": path.name, **row} for row in result.predictions]
        figures = {
            name: {"mean": f.value.mean, "low": f.value.low, "high": f.value.high}
            for name, f in result.figures.items()
        }
        chosen = {"min_confidence": settings.min_confidence, "margin": settings.question_margin}
        report[path.name] = {"settings": chosen, "figures": figures, "details": result.details}
        shown = "  ".join(
            f"{name} {f['mean']:.3f} [{f['low']:.2f}, {f['high']:.2f}]"
            for name, f in figures.items()
        )
        print(f"{path.name}: {shown}  {chosen}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    if options.predictions:
        options.predictions.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
