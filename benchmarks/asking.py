"""Fit when a commit asks its writer about a neighbour, and measure it on story files left out.

    PYTHONPATH=. python benchmarks/asking.py DATA_FOLDER [OUT.json]

Commits the labelled stories (`conflict_stories*.jsonl`) fact by fact and collects every pair that
could be asked about. For each weight of the rarity of shared words, the threshold is fitted on two
files so that 0.25 pairs a commit are asked, and the third is reported: questions a commit, and the
share of the pairs of expected conflicts that are asked (of those no rule judges), all of them, and
those observed within a day of each other. Pairs without a rare word are left out, as in the
product. Then the same with the threshold of all files. The score before (`before`) gave age a
weight; it is computed on the same pairs with its own threshold.
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.ground.database import own_database
from engram.console.evaluation import stories
from engram.console.evaluation.stories import ExpectedRow, FactRow, StoryRow
from engram.console.scratch import commit_rows, scratch_workspace
from engram.kernel.tenancy import in_workspace
from memories.core import asking
from memories.core.comparing import CHARS_A_CALL, Comparer
from memories.core.reading import read_cached
from memories.services.commit import nearby
from memories.services.commit.draft import Draft
from memories.services.index.search_index import WordIndex

RATE = 0.25
WEIGHTS = (0.0, 0.04, 0.08, 0.12, 0.16, 0.2)
YOUNG_DAYS = 1.5
TOY = [
    "Design reviews for the Halden checkout redesign are chaired by the platform guild.",
    "The office in Bergen closes at six.",
    "The Halden checkout redesign has its design reviews chaired by Ingrid from payments.",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that could be asked about."""

    commit: tuple[str, str]  # story and fact
    cosine: float
    rare: float
    days: float
    keys: int  # words of the shorter statement, as far as the former score counted
    is_expected: bool  # both are in one expected conflict


@dataclass(frozen=True, slots=True)
class File:
    """The candidates of a story file."""

    commits: int
    candidates: Sequence[Candidate]


Score = Callable[[Candidate], float]


def gather(rows: Sequence[StoryRow]) -> File:
    """Commit every story and return the pairs that no rule judges."""
    found = [one for story in rows for one in _candidates(story)]
    return File(sum(len(story.facts) for story in rows), found)


def _candidates(story: StoryRow) -> Iterator[Candidate]:
    facts: dict[UUID, set[str]] = defaultdict(set)
    with scratch_workspace() as workspace:
        for fact in story.facts:
            draft = Draft(
                content=fact.content, scope=fact.scope, agent=fact.agent,
                session_key=fact.session, observed_at=fact.committed_at,
            )  # fmt: skip
            [result] = commit_rows(workspace, [draft], now=story.now)
            if result is None or result.memory is None:
                continue
            facts[result.memory.id].add(fact.id)
            with in_workspace(workspace):
                near = nearby.find_nearby([result], WordIndex(), least=-math.inf)
            for one in nearby.rate_pairs(near.pairs[0], near.vocabulary) if near else ():
                if nearby.relation_of(one.pair, Comparer(CHARS_A_CALL)) == "different":
                    yield _candidate(story, fact.id, facts[one.pair.memory.id], one)


def _candidate(
    story: StoryRow, fact: str, others: Collection[str], one: nearby.RatedPair
) -> Candidate:
    named = [set(conflict.fact_ids) for conflict in story.expected]
    both = (one.pair.statement, one.pair.memory)
    return Candidate(
        commit=(story.id, fact),
        cosine=one.pair.cosine,
        rare=math.fsum(one.rare.values()),
        days=abs(both[0].observed_at - both[1].observed_at) / timedelta(days=1),
        keys=min(6, *(len(read_cached(m.content[: nearby.READ_CHARS]).keys) for m in both)),
        is_expected=any(fact in ids and not ids.isdisjoint(others) for ids in named),
    )


def asked(file: File, score: Score, least: float, most: int) -> list[Candidate]:
    """Return the pairs that are asked: of each commit the best, from the score `least` on."""
    of_commit: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for one in file.candidates:
        if score(one) >= least:
            of_commit[one.commit].append(one)
    return [one for rows in of_commit.values() for one in sorted(rows, key=score)[::-1][:most]]


def fit(files: Collection[File], score: Score, most: int) -> float:
    """Return the threshold at which `RATE` pairs a commit are asked."""
    low, high = -10.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        count = sum(len(asked(file, score, middle, most)) for file in files)
        low, high = (
            (middle, high) if count > RATE * sum(f.commits for f in files) else (low, middle)
        )
    return high


def figures(file: File, score: Score, least: float, most: int) -> dict[str, Any]:
    """Return how much is asked of a file, and how much of what should be."""
    found = asked(file, score, least, most)
    wanted = [one for one in file.candidates if one.is_expected]
    young = [one for one in wanted if one.days <= YOUNG_DAYS]
    hits = [one for one in found if one.is_expected]
    return {
        "threshold": round(least, 3),
        "questions_per_commit": round(len(found) / max(file.commits, 1), 3),
        "expected_asked": f"{len(hits)}/{len(wanted)}",
        "expected_asked_within_a_day": f"{sum(h in young for h in hits)}/{len(young)}",
        "of_what_is_asked": round(len(hits) / max(len(found), 1), 3),
    }


def former(one: Candidate) -> float:
    """Return the score of the release before: with the age, and the length of the statements."""
    return one.cosine + 0.8 * one.rare + 0.5 * math.log2(1 + min(one.days, 90.0)) + 0.5 * one.keys


def measure(files: Mapping[str, File]) -> dict[str, Any]:
    """Return the tables of the module's docstring."""
    most = nearby.MOST
    result: dict[str, Any] = {
        "before": {name: figures(file, former, 7.1, 2) for name, file in files.items()}
    }
    for weight in WEIGHTS:

        def score(one: Candidate, weight: float = weight) -> float:
            is_rare = one.rare >= asking.LEAST_RARITY
            return one.cosine + weight * one.rare if is_rare else -math.inf

        others = {
            name: [f for n, f in files.items() if n != name] or list(files.values())
            for name in files
        }
        result[f"weight {weight}, left out"] = {
            name: figures(file, score, fit(others[name], score, most), most)
            for name, file in files.items()
        }
        least = fit(files.values(), score, most)
        result[f"weight {weight}, of all"] = {
            name: figures(file, score, least, most) for name, file in files.items()
        }

    def serving(one: Candidate) -> float:
        return asking.score(one.cosine, one.rare)

    result["product"] = {
        name: figures(file, serving, asking.WORTH_ASKING, most) for name, file in files.items()
    }
    return result


def toy() -> dict[str, Sequence[StoryRow]]:
    """Return one story of three facts, to prove that the script works."""
    began = datetime.fromisoformat("2026-01-01T09:00:00+00:00")
    facts = [
        FactRow(id=f"f{n}", content=text, committed_at=began + timedelta(days=n))
        for n, text in enumerate(TOY)
    ]
    expected = (ExpectedRow(fact_ids=("f0", "f2")),)
    now = began + timedelta(days=9)
    return {"toy": [StoryRow(id="toy", now=now, facts=tuple(facts), expected=expected)]}


def main() -> None:
    """Measure the files of a folder, or the toy story."""
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        names = {"a": "", "b": "_b", "c": "_c"}
        rows = {n: stories.read(folder / f"conflict_stories{x}.jsonl") for n, x in names.items()}
    else:
        rows = toy()
    with own_database():
        result = measure({name: gather(told) for name, told in rows.items()})
    for title, table in result.items():
        print(title)
        for name, row in table.items():
            print(f"  {name}: {json.dumps(row)}")
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
