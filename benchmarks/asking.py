"""Fit when a commit asks its writer about a neighbour, and measure it on story files left out.

    PYTHONPATH=. python benchmarks/asking.py [STORIES.jsonl ...] [--json OUT.json]

Needs scikit-learn (`make bench-venv`). Commits labelled stories fact by fact, each in a workspace
of its own and once more all of a file in one, and collects the pairs that a commit estimates and
no rule judges, each with whether a careful writer would call it a contradiction
(`engram/console/evaluation/agent.py`). For each file the weights and the threshold
of `memories/core/asking.py` are fitted on the others, so that 0.25 pairs a commit are asked; it is
reported, for stories alone and together, how many pairs are asked, and of how many expected
conflicts one is that contradicts. The threshold rises as that of the product where much was asked
lately. Beside it the same for `nearness` alone, its threshold fitted likewise, which never rises.
`fitted on all` are the weights and the threshold for the product, `product` the figures of those it
has. `benchmarks/asking_dense.py` measures a workspace of many statements on the same matters.

The trees behind the estimates were fitted on pairs of the development stories, too; of the files in
`benchmarks/stories/` they have seen nothing.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np

from benchmarks.ground.asks import Restraint, score_neighbours
from benchmarks.ground.database import own_database
from conflicts.models import JudgedRelation
from engram.console.evaluation import stories
from engram.console.evaluation.agent import label
from engram.console.evaluation.stories import ExpectedRow, FactRow, StoryRow
from engram.console.scratch import commit_rows, scratch_workspace
from memories.core import asking
from memories.core.likelihood import RELATIONS, Likelihood
from memories.services.commit import nearby
from memories.services.commit.draft import Draft

RATE: Final = 0.25
PENALTY: Final = 0.1  # C of the logistic regression
TOY: Final = [
    "Design reviews for the Halden checkout redesign are chaired by the platform guild.",
    "The Halden checkout redesign is a project of the platform guild.",
    "The Halden checkout redesign has its design reviews chaired by Ingrid from payments.",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that could be asked about."""

    commit: tuple[str, str]  # story and fact
    nearness: float
    rarity: float
    memories: int
    chances: Likelihood
    of_conflicts: frozenset[int]  # expected conflicts of the story that the pair contradicts in

    @property
    def row(self) -> list[float]:
        """What the weights are of."""
        logs = np.log(np.array(self.chances) + asking.FLOOR)
        return [self.rarity, asking.log_size(self.memories), *logs]


@dataclass(frozen=True, slots=True)
class File:
    """The commits of a story file in order, by workspace, and their candidates."""

    workspaces: Sequence[Sequence[tuple[str, str]]]
    expected: int
    candidates: Sequence[Candidate]

    @property
    def commits(self) -> int:
        return sum(map(len, self.workspaces))


Score = Callable[[Candidate], float]


def gather(rows: Sequence[StoryRow], *, together: bool) -> File:
    """Commit stories, each or all in one workspace, and return the pairs that no rule judges."""
    tellings = [rows] if together else [[story] for story in rows]
    found = [one for told in tellings for one in _candidates(told)]
    workspaces = [[(story.id, fact.id) for story, fact in _in_order(told)] for told in tellings]
    return File(workspaces, sum(len(story.expected) for story in rows), found)


def _in_order(told: Sequence[StoryRow]) -> list[tuple[StoryRow, FactRow]]:
    every = ((story, fact) for story in told for fact in story.facts)
    return sorted(every, key=lambda row: row[1].committed_at)


def _candidates(told: Sequence[StoryRow]) -> Iterator[Candidate]:
    """Commit the facts of stories by time into one workspace; yield what could be asked."""
    facts: dict[UUID, list[tuple[str, str]]] = defaultdict(list)
    in_order = _in_order(told)
    with scratch_workspace() as workspace:
        for story, fact in in_order:
            draft = Draft(
                content=fact.content, scope=fact.scope, agent=fact.agent,
                session_key=fact.session, observed_at=fact.committed_at,
            )  # fmt: skip
            [result] = commit_rows(workspace, [draft], now=in_order[-1][1].committed_at)
            if result is None or result.memory is None:
                continue
            facts[result.memory.id].append((story.id, fact.id))
            for one in score_neighbours(workspace, result):
                others = [name for of, name in facts[one.rated.pair.memory.id] if of == story.id]
                yield _candidate(story, fact.id, others, one)


def _candidate(
    story: StoryRow, fact: str, others: Sequence[str], one: nearby.ScoredPair
) -> Candidate:
    """Return a pair; `others` are the facts of the same story that the older memory holds."""
    contradicts = label(story, fact, others) == JudgedRelation.CONTRADICTS
    return Candidate(
        commit=(story.id, fact),
        nearness=one.rated.nearness,
        rarity=one.rated.rarity,
        memories=one.rated.memories,
        chances=one.chances,
        of_conflicts=frozenset(
            at
            for at, conflict in enumerate(story.expected)
            if contradicts and fact in conflict.fact_ids and {*others} & {*conflict.fact_ids}
        ),
    )


def asked(
    file: File, score: Score, least: float, *, is_restrained: bool = False
) -> list[Candidate]:
    """Return the pairs that are asked: of each commit the best, from the score `least` on.

    `is_restrained`: the least score rises as that of the product with what was asked lately.
    """
    of_commit: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for one in file.candidates:
        if score(one) >= least:
            of_commit[one.commit].append(one)
    found: list[Candidate] = []
    for commits in file.workspaces:
        restraint = Restraint()
        for commit in commits:
            enough = least + (restraint.rise if is_restrained else 0.0)
            worth = [one for one in of_commit.get(commit, ()) if score(one) >= enough]
            best = sorted(worth, key=score)[::-1][: nearby.MOST]
            restraint.add(len(best))
            found += best
    return found


def fit_threshold(files: Collection[File], score: Score) -> float:
    """Return the threshold at which `RATE` pairs a commit are asked."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        count = sum(len(asked(file, score, middle)) for file in files)
        low, high = (
            (middle, high) if count > RATE * sum(f.commits for f in files) else (low, middle)
        )
    return high


def fit_score(files: Collection[File]) -> tuple[Score, dict[str, float]]:
    """Return the log-odds by weights fitted on all candidates of some files, and the weights."""
    from sklearn.linear_model import LogisticRegression

    found = [one for file in files for one in file.candidates]
    model = LogisticRegression(C=PENALTY, max_iter=1000).fit(
        np.array([one.row for one in found]), np.array([bool(one.of_conflicts) for one in found])
    )
    names = ("intercept", "rarity", "size", *RELATIONS)
    weights = [float(model.intercept_[0]), *map(float, model.coef_[0])]

    def score(one: Candidate) -> float:
        return weights[0] + float(np.dot(weights[1:], one.row))

    return score, {name: round(weight, 2) for name, weight in zip(names, weights, strict=True)}


def figures(file: File, score: Score, least: float, *, is_restrained: bool) -> dict[str, Any]:
    """Return how much is asked of a file, and how many conflicts that shows."""
    found = asked(file, score, least, is_restrained=is_restrained)
    shown = {(one.commit[0], at) for one in found for at in one.of_conflicts}
    return {
        "threshold": round(least, 3),
        "questions_per_commit": round(len(found) / max(file.commits, 1), 3),
        "conflicts_shown": f"{len(shown)}/{file.expected}",
        "of_what_is_asked": round(
            sum(bool(one.of_conflicts) for one in found) / max(len(found), 1), 3
        ),
    }


def measure(files: Mapping[str, Sequence[File]]) -> dict[str, Any]:
    """Return the tables of the module's docstring; of each file its stories alone and together."""

    def by_nearness(one: Candidate) -> float:
        return one.nearness

    def serving(one: Candidate) -> float:
        return asking.score(one.chances, one.rarity, one.memories)

    result: dict[str, Any] = {"nearness, left out": {}, "fitted, left out": {}}
    every = [file for both in files.values() for file in both]
    for name, both in files.items():
        others = [f for n, rest in files.items() if n != name for f in rest] or every
        score, _ = fit_score(others)
        for title, one in (("nearness", by_nearness), ("fitted", score)):
            least = fit_threshold(others, one)
            result[f"{title}, left out"][name] = _both(
                both, one, least, is_restrained=title == "fitted"
            )
    score, weights = fit_score(every)
    result["fitted on all"] = {
        "weights": weights | {"threshold": round(fit_threshold(every, score), 2)}
    }
    result["product"] = {
        name: _both(both, serving, asking.WORTH_ASKING, is_restrained=True)
        for name, both in files.items()
    }
    return result


def _both(
    both: Sequence[File], score: Score, least: float, *, is_restrained: bool
) -> dict[str, Any]:
    alone, together = (figures(file, score, least, is_restrained=is_restrained) for file in both)
    return {"alone": alone, "together": together}


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
    """Measure the story files, or the toy story."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        print("not installed: scikit-learn (make bench-venv); nothing is measured")
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("stories", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = {path.name: stories.read(path) for path in options.stories} or toy()
    with own_database():
        result = measure(
            {
                name: [gather(told, together=together) for together in (False, True)]
                for name, told in rows.items()
            }
        )
    for title, table in result.items():
        print(title)
        for name, row in table.items():
            print(f"  {name}: {json.dumps(row)}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
