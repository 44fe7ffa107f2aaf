"""Measure what commits ask in a workspace of many statements on the same matters.

    PYTHONPATH=. python benchmarks/asking_dense.py [PAIRS.jsonl ...] [--json OUT.json]

Commits the statements of labelled pairs (`benchmarks/likelihood.py` has the format) into one
workspace: each `a`, later the statements `b` about it that contradict nothing, up to four of them,
and of every fourth `a` one that contradicts it. So nearly every statement has look-alikes, which is
much denser than what people write. A question is right if one of its two statements contradicts the
other by its label. Each part of 500 commits: questions a commit, the share of right ones, and of
how many contradictions one is asked; with the threshold of the product, and with one that does not
rise with what was asked lately.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from benchmarks.ground.asks import Restraint, score_neighbours
from benchmarks.ground.database import own_database
from engram.console.scratch import commit_rows, scratch_workspace
from memories.core import asking
from memories.services.commit import nearby
from memories.services.commit.draft import Draft

BEGAN: Final = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
APART: Final = timedelta(minutes=10)
PART: Final = 500  # commits of a row of the result
MOST_BESIDE: Final = 4  # statements about one matter that contradict nothing
EVERY: Final = 4  # one contradiction for so many matters
CALM: Final = ("compatible", "not_a_claim", "refines", "updates")
TOY: Final = [
    {"id": "X-1-0", "a": "Ana waters the roof garden.", "b": "Ben waters the roof garden.",
     "label": "contradicts"},
    {"id": "X-1-1", "a": "Ana waters the roof garden.", "b": "The roof garden has a new hose.",
     "label": "compatible"},
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """What is committed: its text, the matter it is about, and whether it contradicts that."""

    text: str
    matter: str
    contradicts: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """The pairs of a commit that reach the lowest threshold: scores, and which are right."""

    is_contradiction: bool
    scores: Sequence[float]
    right: Sequence[bool]


def draw(rows: Sequence[Mapping[str, str]], seed: int) -> list[Statement]:
    """Return the statements of labelled pairs in random order, those about an `a` after it."""
    rng = random.Random(seed)
    matters: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    for row in rows:
        matters[row["id"].rpartition("-")[0], row["a"]].append(row)
    placed: list[tuple[float, Statement]] = []
    for number, ((name, text), pairs) in enumerate(sorted(matters.items())):
        start = rng.random()
        calm = [row for row in pairs if row["label"] in CALM]
        chosen = rng.sample(calm, min(len(calm), MOST_BESIDE))
        against = [row for row in pairs if row["label"] == "contradicts"]
        if number % EVERY == 0 and against:
            chosen.append(rng.choice(against))
        placed.append((start, Statement(text, name, contradicts=False)))
        placed += [
            (rng.uniform(start, 1.0), Statement(row["b"], name, row["label"] == "contradicts"))
            for row in chosen
        ]
    return [statement for _, statement in sorted(placed, key=lambda one: one[0])]


def gather(statements: Sequence[Statement]) -> Iterator[Asked]:
    """Commit the statements; yield what each commit could ask."""
    told: dict[UUID, list[Statement]] = defaultdict(list)
    with scratch_workspace() as workspace:
        for number, statement in enumerate(statements):
            now = BEGAN + number * APART
            [result] = commit_rows(
                workspace, [Draft(content=statement.text, observed_at=now)], now=now
            )
            if result is None or result.memory is None:
                yield Asked(statement.contradicts, (), ())
                continue
            found = [
                one
                for one in score_neighbours(workspace, result)
                if one.score >= asking.WORTH_ASKING
            ]
            yield Asked(
                statement.contradicts,
                [one.score for one in found],
                [_is_right(statement, told[one.rated.pair.memory.id]) for one in found],
            )
            told[result.memory.id].append(statement)


def _is_right(statement: Statement, others: Sequence[Statement]) -> bool:
    """Return whether one of the two contradicts the other, which is on the same matter."""
    same = [one for one in others if one.matter == statement.matter]
    against = any(one.contradicts for one in same)
    return bool(same) and statement.contradicts != against


def measure(found: Sequence[Asked], *, is_restrained: bool) -> list[dict[str, Any]]:
    """Return the figures of each part."""
    restraint = Restraint()
    rows: list[dict[str, Any]] = []
    part: dict[str, int] = defaultdict(int)
    for number, one in enumerate(found, 1):
        least = asking.WORTH_ASKING + (restraint.rise if is_restrained else 0.0)
        pairs = zip(one.scores, one.right, strict=True)
        right = [is_right for score, is_right in pairs if score >= least][: nearby.MOST]
        restraint.add(len(right))
        part["asked"] += len(right)
        part["right"] += sum(right)
        part["contradictions"] += one.is_contradiction
        part["shown"] += one.is_contradiction and any(right)
        if number % PART == 0 or number == len(found):
            commits = (number - 1) % PART + 1
            rows.append(
                {
                    "memories": number,
                    "questions_per_commit": round(part["asked"] / commits, 3),
                    "right": round(part["right"] / max(part["asked"], 1), 3),
                    "contradictions_shown": f"{part['shown']}/{part['contradictions']}",
                }
            )
            part.clear()
    return rows


def main() -> None:
    """Measure the statements of files, or of two pairs that show that it works."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("pairs", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [json.loads(line) for path in options.pairs for line in path.open()] or TOY
    with own_database():
        found = list(gather(draw(rows, seed=0)))
    result = {
        "product": measure(found, is_restrained=True),
        "threshold that does not rise": measure(found, is_restrained=False),
    }
    for title, table in result.items():
        print(title, *map(json.dumps, table), sep="\n  ")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
