"""Count which second values of functional relations open cards, and which cards hold strangers.

    PYTHONPATH=. python benchmarks/functional.py [RELATIONS LOOKALIKES] [--json OUT.json]

A line of the first file is a statement with its `relation`, `subject` and `value`; a subject has
one value at a time, so that two values of one relation and subject are a contradiction. All
statements are one workspace. A card that holds statements of two matters holds a stranger. No two
lines of the second file contradict each other. Without files the 21 sets of
`benchmarks/stories/` are read, at toy size one of them.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import benchmarks.ground  # noqa: F401  sets Django up, before the product's modules are read
from conflicts.core.detective import detect
from conflicts.core.facts import Fact
from engram.kernel.embedding import embed
from memories.core.metrics import wilson

STORIES = Path(__file__).parent / "stories"
SETS = 1 if os.environ.get("BENCH_SIZE") == "toy" else 21
SHIPPED = [
    (STORIES / f"relations_{n}.jsonl", STORIES / f"lookalikes_{n}.jsonl")
    for n in range(1, SETS + 1)
]
BEGIN = datetime(2025, 6, 1, tzinfo=UTC)
Row = Mapping[str, str]


def cards_of(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each finding of the detective, by the rules alone."""
    facts = [
        Fact(str(at), str(at), row["content"], "", "", f"a{at % 7}", f"s{at}",
             BEGIN + timedelta(hours=at), "assistant_derived")
        for at, row in enumerate(rows)
    ]  # fmt: skip
    vectors = embed([row["content"] for row in rows])
    found = detect(facts, vectors, now=BEGIN + timedelta(days=90))
    return [[rows[int(i)] for i in finding.fact_ids] for finding in found]


def measure(relations: Path, lookalikes: Path) -> dict[str, Any]:
    """Return how many contradictions are carded, and how many cards hold a stranger."""
    rows = _read(relations)
    cards = cards_of(rows)
    wanted = _matters_with_two_values(rows)
    found = {matter for card in cards for matter in _matters_with_two_values(card)}
    strange = sum(len({_matter(row) for row in card}) > 1 for card in cards)
    share = wilson(len(wanted & found), len(wanted))
    return {
        "statements": len(rows),
        "contradicted": len(wanted),
        "carded": len(wanted & found),
        "share": [round(part, 3) for part in (share.mean, share.low, share.high)],
        "cards": len(cards),
        "with a stranger": strange,
        "cards of look-alikes": len(cards_of(_read(lookalikes))),
    }


def _read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.open()]


def _matter(row: Row) -> tuple[str, str]:
    return row["relation"], row["subject"]


def _matters_with_two_values(rows: Sequence[Row]) -> set[tuple[str, str]]:
    values: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        values.setdefault(_matter(row), set()).add(row["value"])
    return {matter for matter, known in values.items() if len(known) > 1}


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if len(options.files) not in (0, 2):
        parser.error("two files are needed: of relations and of look-alikes")
    pairs = [tuple(options.files)] if options.files else SHIPPED
    report = {relations.name: measure(relations, lookalikes) for relations, lookalikes in pairs}
    print(json.dumps(report, indent=1))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
