"""How much of a session's baseline should be recall of its context, how much decayed importance?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/baseline.py [FOLDER] [--users N] [--json FILE]

Rankings are measured by nDCG@10 on simulated users (`engram.console.evaluation.simulation`) and,
where FOLDER holds the files of LoCoMo (`locomo_memories.jsonl`, `locomo_questions.jsonl`,
`locomo_observations.jsonl`), on its conversations, whose questions stand for contexts: asked when
the conversation is over, and asked at the next session after the last turn that answers them. The
memories are turns or observations; all have one importance. The weight is the one with the largest
mean gain over recall alone, of those that lose no more than .025 in any world; it is chosen from
all worlds for tuning, and with each kind left out. The worlds for reports are measured and never
chosen on.
"""

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from benchmarks.ground.database import own_database
from engram.console.evaluation.retrieval import MemoryRow, QuestionRow, read, store
from engram.console.evaluation.simulation import plans
from engram.console.evaluation.simulation.sessions import Simulator
from engram.console.scratch import refresh_statistics, scratch_workspace
from engram.kernel.embedding import read_query
from engram.kernel.models import Workspace
from engram.kernel.planning import searching
from engram.kernel.tenancy import in_workspace
from memories.core.baseline import EFFECTIVE_WEIGHT, age_days, effectiveness
from memories.core.metrics import bootstrap, ndcg_at
from memories.core.text import terms
from memories.models import Memory, MemoryVector
from memories.services.recall.context import recall_context
from memories.services.recall.pool import match_words
from memories.services.recall.query import Query, select_recallable
from memories.services.sessions.candidates import BEST_BESIDE

IS_FULL = os.environ.get("BENCH_SIZE", "full") == "full"
WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8)
SESSIONS = 100 if IS_FULL else 4
FIRST = 60  # sessions before the first that is measured
WORLDS = ("habits", "across", "life", "important")
IMPORTANCE = 0.5
MOST_LOST = 0.025  # nDCG against recall alone, in any world

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """A session's candidates: scores (n,) and the gains of all that is relevant, by place."""

    recall: Floats
    worth: Floats
    cosine: Floats
    gains: dict[int, float]  # places from n on are relevant and no candidate


@dataclass(frozen=True)
class Told:
    """A conversation in the database: when each memory was observed, and its vector."""

    workspace: Workspace
    known: dict[UUID, datetime]
    vectors: dict[UUID, NDArray[np.float32]]


Rank = Callable[[Asked], Floats]
RANKINGS: dict[str, Rank] = {
    "decayed importance": lambda one: one.worth,
    "cosine": lambda one: one.cosine,
    "recall": lambda one: one.recall,
}


def blend(weight: float) -> Rank:
    """Return the sum of recall and decayed importance."""
    return lambda one: (1 - weight) * one.recall + weight * one.worth


def times(weight: float) -> Rank:
    """Return recall times a factor that falls with the decayed importance."""
    return lambda one: one.recall * (1 - weight + weight * one.worth)


FORMS = {"sum": blend, "product": times}


def simulate(plan: plans.WorldPlan, seed: int) -> list[Asked]:
    """Return the sessions of a simulated user."""
    simulator = Simulator(plan, seed, sessions=FIRST + SESSIONS)
    found = [simulator.session(FIRST + n) for n in range(SESSIONS)]
    return [
        Asked(s.recall, s.effectiveness, s.cosine, dict(enumerate(s.relevance.tolist())))
        for s in found
        if s.relevance.max() > 0
    ]


def locomo(folder: Path) -> Iterator[tuple[str, str, list[Asked]]]:
    """Yield the kind of world, the conversation, and what was asked."""
    turns, questions = read(folder / "locomo_memories.jsonl", folder / "locomo_questions.jsonl")
    lines = (folder / "locomo_observations.jsonl").read_text().splitlines()
    observations = defaultdict(list)
    for number, line in enumerate(lines):
        row = json.loads(line)
        observations[row["conv"]].append(row | {"id": f"o{number}"})
    for conversation, rows in turns.items():
        asked = [one for one in questions[conversation] if one.is_scored]
        gold = {one.id: frozenset(one.gold) for one in asked}
        yield from ask(conversation, "turns", rows, asked, gold)
        when = {row.session: row.time for row in rows}
        facts = [
            MemoryRow(
                id=o["id"], conv=conversation, text=o["text"], session=str(o["session"]),
                time=when[str(o["session"])], seq=n,
            )
            for n, o in enumerate(observations[conversation])
        ]  # fmt: skip
        gold = {
            one.id: frozenset(
                o["id"] for o in observations[conversation] if {*o["source"]} & {*one.gold}
            )
            for one in asked
        }
        yield from ask(conversation, "facts", facts, [q for q in asked if gold[q.id]], gold)


def ask(
    conversation: str,
    kind: str,
    rows: Sequence[MemoryRow],
    questions: Sequence[QuestionRow],
    gold: dict[str, frozenset[str]],
) -> Iterator[tuple[str, str, list[Asked]]]:
    """Store a conversation; ask each question after it, and at the session that follows."""
    sessions = sorted({row.time for row in rows if row.time})
    end = sessions[-1] + timedelta(hours=1)
    time_of = {row.id: row.time or end for row in rows}
    after: list[Asked] = []
    lived: list[Asked] = []
    with scratch_workspace() as workspace:
        names = store(workspace, rows, now=end, advance=lambda _: None)
        refresh_statistics()
        with in_workspace(workspace):
            times = Memory.objects.values_list("pk", "observed_at")
            known = {i: at for i, at in times if i in names}
            stored = MemoryVector.objects.filter(position=0).order_by()
            vectors = {row.memory_id: np.asarray(row.embedding, np.float32) for row in stored}
        told = Told(workspace, known, vectors)
        for question in questions:
            last = max(time_of[i] for i in gold[question.id])
            then = next((at for at in sessions if at > last), end)
            wanted = {i for i, own in names.items() if gold[question.id] & {*own}}
            for now, into in ((end, after), (then, lived)):
                into.append(_ask(told, question.question, wanted, now))
    yield f"locomo {kind}, after", conversation, after
    yield f"locomo {kind}, lived", conversation, lived


def _ask(told: Told, text: str, wanted: set[UUID], now: datetime) -> Asked:
    workspace, known, vectors = told.workspace, told.known, told.vectors
    before = sorted((i for i, at in known.items() if at < now), key=lambda i: known[i])
    reading = read_query(text, workspace.embedding_model)
    with searching(workspace):
        recallable = select_recallable(Query(""), now)
        scores = recall_context(
            workspace, text, reading, recallable, match_words(recallable, terms(text)), now=now
        )
        scores |= dict.fromkeys([i for i in before[-BEST_BESIDE:] if i not in scores], 0.0)
    past = set(before)
    ids = [i for i in scores if i in past]
    gains = {ids.index(i) if i in ids else len(ids) + n: 1.0 for n, i in enumerate(sorted(wanted))}
    return Asked(
        np.array([scores[i] for i in ids]),
        np.array([effectiveness(IMPORTANCE, age_days(known[i], now)) for i in ids]),
        np.array([float(vectors[i] @ reading.vector) for i in ids]),
        gains,
    )


def measure(sessions: Sequence[Asked], rank: Rank) -> float:
    """Return the mean nDCG@10."""
    values = [
        ndcg_at(np.argsort(-rank(one), kind="stable").tolist(), one.gains, 10) for one in sessions
    ]
    return float(np.mean(values))


def choose(found: dict[str, dict[str, list[Asked]]]) -> dict[str, object]:
    """Choose the weight of each form without each kind of world; return what it is worth there."""
    table: dict[str, object] = {}
    for form, make in FORMS.items():
        worth = {
            world: np.array(
                [np.mean([measure(s, make(w)) for s in users.values()]) for w in WEIGHTS]
            )
            for world, users in found.items()
        }
        left_out = {}
        for world in ["", *found]:
            others = [gain - gain[0] for name, gain in worth.items() if kind(name) != kind(world)]
            best = best_weight(np.array(others)) if others else 0
            left_out[world or "none"] = {"weight": WEIGHTS[best]}
            if world:
                own = worth[world]
                figures = {"ndcg": own[best], "recall": own[0], "best": own.max()}
                left_out[world] |= {name: round(float(v), 4) for name, v in figures.items()}
        table[form] = {
            "by weight": {world: [round(float(v), 4) for v in own] for world, own in worth.items()},
            "left out": left_out,
        }
    return table


def kind(world: str) -> str:
    """Return the kind of a world, without when it is asked."""
    return world.split(",", maxsplit=1)[0]


def best_weight(gains: Floats) -> int:
    """Return the place of the weight with the largest mean gain that nowhere loses too much."""
    is_allowed = gains.min(axis=0) >= -MOST_LOST
    return int(np.argmax(np.where(is_allowed, gains.mean(axis=0), -np.inf)))


def tell(found: dict[str, dict[str, list[Asked]]]) -> dict[str, dict[str, object]]:
    """Return nDCG@10 by ranking, with intervals over users."""
    rankings = RANKINGS | {"baseline": times(EFFECTIVE_WEIGHT)}
    answer: dict[str, dict[str, object]] = {}
    for world, users in found.items():
        answer[world] = {"users": len(users)}
        for name, rank in rankings.items():
            values = [measure(sessions, rank) for sessions in users.values()]
            over = bootstrap(values, rng=np.random.default_rng(0))
            answer[world][name] = [round(v, 3) for v in (over.mean, over.low, over.high)]
            if name == "baseline":
                answer[world]["worst user"] = round(min(values), 3)
    return answer


def main() -> None:
    """Measure, choose, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--users", type=int, default=8 if IS_FULL else 1)
    parser.add_argument("--json", type=Path)
    wanted = parser.parse_args()
    tuning: dict[str, dict[str, list[Asked]]] = {}
    held: dict[str, dict[str, list[Asked]]] = {}
    for world in WORLDS:
        tuning[world] = {
            str(s): simulate(plans.TUNING[world], plans.TUNING_SEEDS[0] + s)
            for s in range(wanted.users)
        }
        held[world] = {
            str(s): simulate(plans.REPORT[world], plans.REPORT_SEEDS[0] + s)
            for s in range(wanted.users)
        }
    if wanted.folder is not None:
        with own_database():
            for world, conversation, asked in locomo(wanted.folder):
                tuning.setdefault(world, {})[conversation] = asked
    answer = {
        "benchmark": "baseline",
        "weights": WEIGHTS,
        "chosen": EFFECTIVE_WEIGHT,
        "held out": tell(held),
        "tuning": tell(tuning),
        "choice": choose(tuning),
        "load": os.getloadavg(),
    }
    text = json.dumps(answer, indent=1)
    if wanted.json:
        wanted.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
