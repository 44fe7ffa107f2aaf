"""Count which cards hold strangers where many matters share one workspace.

    PYTHONPATH=. python benchmarks/one_workspace.py [FILE.jsonl ...] [--json OUT.json]

Reads labelled pairs (`benchmarks/likelihood.py` has the format) or stories (those of `evaluate
--conflicts`), each file as one workspace, by the rules alone. Of pairs it takes the statements of
`benchmarks/asking_dense.py`: on each matter one, some that contradict nothing, and sometimes one
that contradicts it. A card is `right` if it holds one of these, `stranger` if it holds statements
of two matters or stories, `other` else: statements about one matter may still disagree among each
other.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import benchmarks.ground  # noqa: F401  sets Django up, before the product's modules are read
from benchmarks.asking_dense import TOY, draw
from conflicts.core.detective import detect
from conflicts.core.facts import Fact
from engram.kernel.embedding import embed

BEGIN: Final = datetime(2025, 6, 1, tzinfo=UTC)
APART: Final = timedelta(minutes=10)
WRITERS: Final = 7
SEED: Final = 0


@dataclass(frozen=True, slots=True)
class Told:
    """A fact of the workspace, the matter it is about, and whether it contradicts that."""

    fact: Fact
    matter: str
    contradicts: bool


def read(rows: Sequence[dict[str, Any]], name: str) -> list[Told]:
    """Return the facts of pairs or of stories."""
    return _of_stories(rows, name) if "facts" in rows[0] else _of_pairs(rows)


def _of_pairs(rows: Sequence[dict[str, Any]]) -> list[Told]:
    labelled = [{"label": row.get("relation", ""), **row} for row in rows]
    return [
        Told(
            Fact(str(at), str(at), one.text, "", "", f"a{at % WRITERS}", f"s{at}",
                 BEGIN + APART * at, "assistant_derived"),
            one.matter,
            one.contradicts,
        )
        for at, one in enumerate(draw(labelled, SEED))
    ]  # fmt: skip


def _of_stories(rows: Sequence[dict[str, Any]], name: str) -> list[Told]:
    told = []
    for row in rows:
        matter = f"{name}/{row['id']}"
        for one in row["facts"]:
            key, at = f"{matter}/{one['id']}", datetime.fromisoformat(one["committed_at"])
            session = f"{matter}/{one['session']}"
            fact = Fact(key, key, one["content"], one["scope"], "", one["agent"], session, at,
                        "assistant_derived")  # fmt: skip
            told.append(Told(fact, matter, contradicts=False))
    return told


def measure(told: Sequence[Told]) -> dict[str, Any]:
    """Return how many cards of each rule are right, hold strangers, or neither."""
    known = {one.fact.id: one for one in told}
    facts = [one.fact for one in told]
    now = max(fact.observed_at for fact in facts) + APART
    cards: dict[str, Counter[str]] = defaultdict(Counter)
    for finding in detect(facts, embed([fact.content for fact in facts]), now=now):
        members = [known[i] for i in finding.fact_ids]
        if len({one.matter for one in members}) > 1:
            kind = "stranger"
        else:
            kind = "right" if any(one.contradicts for one in members) else "other"
        cards[finding.rules[0]][kind] += 1
    all_cards = sum(cards.values(), Counter[str]())
    return {
        "statements": len(told),
        "cards": dict(sorted(all_cards.items())),
        "by rule": {rule: dict(sorted(found.items())) for rule, found in sorted(cards.items())},
    }


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report = {
        path.name: measure(read([json.loads(line) for line in path.open()], path.name))
        for path in options.files
    } or {"toy": measure(read(TOY, "toy"))}
    print(json.dumps(report, indent=1))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
