"""Does recall find more when the questions that memories answer are other texts of them?

    PYTHONPATH=. python benchmarks/expansion.py [STORIES ... --answers ANSWERS] [--json OUT.json]

Without files it stores a few examples, which proves that it works and measures nothing.

All facts of a story file are stored in one workspace with their writers' answers, in another one
without those of half of the facts, drawn by a seed. Asked are, for each pair of facts (A, B) of an
expected conflict, the questions of A's writer and A's own words; B must be found, and A and the
rest of the conflict are left out of the results. Where facts have no answers: the same questions
where B has none, and questions of A where A itself must be found and has none; both show what
memories without answers lose to those with them. Questions about other files' facts must stay
empty. Each file is reported with the weight that serves the others best, by the mean of the
reciprocal ranks of the four kinds.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.ground.database import own_database
from engram.console.evaluation import stories
from engram.console.evaluation.stories import StoryRow
from engram.console.evaluation.written_answers import FactAnswers, FactKey, read_answers
from engram.console.scratch import commit_rows, refresh_statistics, scratch_workspace
from engram.kernel.models import Workspace
from memories.core import fusion
from memories.core.metrics import bootstrap
from memories.core.relevance import LEAST, Match, select
from memories.services.commit.draft import Draft
from memories.services.index.answers import embed_questions
from memories.services.recall.recall import Query, RecalledMemory, recall

WEIGHTS = (0.0, 0.5, 0.6, 0.7)
KINDS = ("question", "statement", "question, B without answers", "own question, A without answers")
STRANGE = "questions of others"
SEED = 0
FOUND_MAX = 60
OWN_STEP = 6  # every sixth question of facts without answers
STRANGERS = 100
EXAMPLES = (
    ("Refunds over 50 euros need the shift lead.", "Who approves large refunds?", "shift lead"),
    ("Priyanka signs whatever goes back to a customer.", "Who signs off refunds?", "Priyanka"),
    ("The office dog is called Biscuit.", "What is the dog's name?", "Biscuit"),
    ("Backups of the database run at two.", "When do backups run?", "two"),
)


class Asked(NamedTuple):
    """A query, the fact that it must find (None: none), and the facts that are left out."""

    kind: str
    text: str
    gold: FactKey | None
    left_out: frozenset[FactKey]


@dataclass(frozen=True)
class StoryFile:
    """A story file with the answers of its facts, and those facts that lose theirs."""

    name: str
    rows: Sequence[StoryRow]
    told: FactAnswers
    silent: frozenset[FactKey]

    def questions(self, key: FactKey) -> list[str]:
        """Return the questions that a fact's writer says it answers."""
        return [answer.question for answer in self.told.get(key, ())]

    def asked(self) -> Iterator[Asked]:
        """Yield the queries about the facts of the file."""
        rivals: dict[FactKey, set[FactKey]] = {}
        for row in self.rows:
            text = {fact.id: fact.content for fact in row.facts}
            for conflict in row.expected:
                keys = [(row.id, name) for name in conflict.fact_ids]
                for a, b in ((a, b) for a in keys for b in keys if a != b):
                    rivals.setdefault(a, set()).update({*keys} - {a})
                    left = frozenset({*keys} - {b})
                    yield Asked(KINDS[1], text[a[1]], b, left)
                    for question in self.questions(a):
                        yield Asked(KINDS[0], question, b, left)
                        if b in self.silent:
                            yield Asked(KINDS[2], question, b, left)
        own = [(key, text) for key in sorted(self.silent) for text in self.questions(key)]
        for key, question in own[::OWN_STEP]:
            yield Asked(KINDS[3], question, key, frozenset(rivals.get(key, ())))


def read(paths: Sequence[Path], answers: Path) -> list[StoryFile]:
    """Read story files; half of the facts of each are drawn to lose their answers."""
    rng, files = random.Random(SEED), []
    for path in paths:
        rows = stories.read(path)
        text_of = {(row.id, fact.id): fact.content for row in rows for fact in row.facts}
        drawn = {text for text in sorted({*text_of.values()}) if rng.random() < 0.5}
        silent = frozenset(key for key, text in text_of.items() if text in drawn)
        files.append(StoryFile(path.name, rows, read_answers(answers, path), silent))
    return files


@contextmanager
def question_weight(weight: float) -> Iterator[None]:
    """Recall with this weight of the question within the block."""
    chosen = fusion._CHOSEN
    fusion._CHOSEN = replace(chosen, question=weight)
    try:
        yield
    finally:
        fusion._CHOSEN = chosen


def ranks(file: StoryFile, queries: Sequence[Asked], *, is_half: bool) -> dict[float, list[Any]]:
    """Return for each weight what `rank` returns for each query."""
    with scratch_workspace(detection_enabled=False) as workspace:
        now = max(row.now for row in file.rows)
        names: dict[Any, set[FactKey]] = {}  # equal texts are one memory
        for row in file.rows:
            keys = [(row.id, fact.id) for fact in row.facts]
            drafts = [
                Draft(
                    content=fact.content,
                    agent=fact.agent,
                    session_key=f"{row.id}/{fact.session}" if fact.session else "",
                    observed_at=fact.committed_at,
                    answers=() if is_half and key in file.silent else file.told.get(key, ()),
                )
                for key, fact in zip(keys, row.facts, strict=True)
            ]
            found = commit_rows(workspace, drafts, now=now, is_gated=False, is_detected=False)
            for key, one in zip(keys, found, strict=True):
                if one and one.memory:
                    names.setdefault(one.memory.id, set()).add(key)
        embed_questions(workspace)
        refresh_statistics()
        result: dict[float, list[Any]] = {}
        for weight in WEIGHTS:
            with question_weight(weight):
                result[weight] = [rank(workspace, names, one, now) for one in queries]
        return result


def rank(
    workspace: Workspace, names: Mapping[Any, set[FactKey]], asked: Asked, now: Any
) -> tuple[float, float, bool]:
    """Return 1 / rank and that after the cut by relevance (0: not found), and if none is left."""
    query = Query(asked.text, k=FOUND_MAX, min_score=None, is_recorded=False)
    found = recall(workspace, query, now=now).results
    kept = [
        one
        for one in found
        if asked.gold in names[one.memory.id] or not asked.left_out & names[one.memory.id]
    ]
    passing = select([Match(o.relevance, o.explain["fused"]) for o in kept], least=LEAST)
    cut = [one for one, passes in zip(kept, passing, strict=True) if passes]

    def reciprocal(some: Sequence[RecalledMemory]) -> float:
        places = [n for n, one in enumerate(some, 1) if asked.gold in names[one.memory.id]]
        return 1 / places[0] if places else 0.0

    return reciprocal(kept), reciprocal(cut), not cut


def measure(files: Sequence[StoryFile]) -> dict[str, dict[str, dict[float, list[Any]]]]:
    """Return what is found by file, kind of query and weight."""
    rng, measured = random.Random(SEED), {}
    for file in files:
        queries = list(file.asked())
        others = [t for o in files if o is not file for key in o.told for t in o.questions(key)[:1]]
        own = {text for key in file.told for text in file.questions(key)}
        strange = rng.sample(sorted({*others} - own), min(STRANGERS, len({*others} - own)))
        queries += [Asked(STRANGE, text, None, frozenset()) for text in strange]
        by_kind: dict[str, dict[float, list[Any]]] = {}
        for is_half in (False, True):
            some = [one for one in queries if (one.kind in KINDS[2:]) == is_half]
            for weight, found in ranks(file, some, is_half=is_half).items():
                for one, values in zip(some, found, strict=True):
                    by_kind.setdefault(one.kind, {}).setdefault(weight, []).append(values)
        measured[file.name] = by_kind
    return measured


def mean_rank(by_kind: Mapping[str, Mapping[float, list[Any]]], weight: float) -> float:
    """Return the mean over the kinds of the mean reciprocal rank."""
    means = [np.mean([v[0] for v in by_kind[k][weight]]) for k in KINDS if k in by_kind]
    return float(np.mean(means))


def figures(values: Sequence[Any], base: Sequence[Any]) -> dict[str, Any]:
    """Return the figures of one kind of query, and the gain over those of weight 0."""
    first, cut = (np.array([v[n] for v in values]) for n in (0, 1))
    gain = bootstrap([v[0] - b[0] for v, b in zip(values, base, strict=True)],
                     rng=np.random.default_rng(SEED))  # fmt: skip
    shown = {
        "recall@1": (first == 1).mean(), "recall@5": (first >= 0.2).mean(), "mrr": first.mean(),
        "mrr_gain": gain.mean, "gain_low": gain.low, "gain_high": gain.high,
        "recall@5_after_cut": (cut >= 0.2).mean(), "empty": np.mean([v[2] for v in values]),
    }  # fmt: skip
    return {name: round(float(value), 4) for name, value in shown.items()} | {"n": len(values)}


def report(measured: dict[str, dict[str, dict[float, list[Any]]]]) -> dict[str, Any]:
    """Print and return the figures of each file with the weight of the others, and of all."""
    result: dict[str, Any] = {}
    for name, by_kind in measured.items():
        others = [found for other, found in measured.items() if other != name] or [by_kind]
        chosen = max(
            WEIGHTS,
            key=lambda w, o=others: np.mean([mean_rank(one, w) for one in o]),  # type: ignore[misc]
        )
        result[name] = {
            "weight": chosen,
            "figures": {
                f"{kind}, weight {weight}": figures(found[weight], found[0.0])
                for kind, found in by_kind.items()
                for weight in sorted({0.0, chosen, fusion._CHOSEN.question})
            },
        }
        for title, row in result[name]["figures"].items():
            print(name, title, json.dumps(row))
        print(name, "chosen on the others:", chosen)
    result["mean reciprocal rank by weight"] = {
        weight: round(float(np.mean([mean_rank(one, weight) for one in measured.values()])), 4)
        for weight in WEIGHTS
    }
    return result


def write_examples(folder: Path) -> tuple[list[Path], Path]:
    """Write two story files of one conflict each, with answers; return their paths."""
    paths, answers = [folder / "one.jsonl", folder / "two.jsonl"], folder / "answers.jsonl"
    told = []
    for path in paths:
        facts = [
            {"id": f"f{n}", "content": text, "committed_at": f"2026-01-0{n}T09:00:00Z"}
            for n, (text, _, _) in enumerate(EXAMPLES, 1)
        ]
        story = {"id": "s1", "now": "2026-03-01T00:00:00Z", "facts": facts,
                 "expected": [{"fact_ids": ["f1", "f2"]}]}  # fmt: skip
        path.write_text(json.dumps(story) + "\n")
        told += [
            {"file": path.name, "story": "s1", "fact": f"f{n}", "answers": [{"q": q, "a": a}]}
            for n, (_, q, a) in enumerate(EXAMPLES, 1)
        ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in told))
    return paths, answers


def main() -> None:
    """Measure the files and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("stories", nargs="*", type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with TemporaryDirectory() as folder, own_database():
        given = (options.stories, options.answers)
        paths, answers = given if options.stories else write_examples(Path(folder))
        found = report(measure(read(paths, answers)))
    print(json.dumps(found["mean reciprocal rank by weight"]))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
