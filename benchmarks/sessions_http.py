"""What does a workspace learn from 60 sessions of its own, told over HTTP?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/sessions_http.py \\
        [--world theatre] [--used] [--seed 0] [--json OUT]

Starts everything as `make up` does, in a home of its own, with an empty workspace. The memories of
a team and eight that are recent, important and of no use are committed (`benchmarks/sessions/`).
Then sessions start, are told and end, one after the other: each task in five wordings, of which the
last sessions hold one that was not seen before (60 and 15 sessions in `station`, 48 and 12 in
`theatre`; three and three with `BENCH_SIZE=toy`). What is relevant
to a task stays here; the service sees the context and a transcript that speaks of the relevant
memories in other words. With `--used` the agent says at the end of each session, but the last ones,
which of the offered memories it used. Printed: nDCG@10 of each order over the last sessions, by the
labels that stayed here. The world `station` was looked at when the model was made; `theatre` was
written afterwards.
"""

from __future__ import annotations

import os

from tests.benchmark_home import make_benchmark_home

if __name__ == "__main__":  # tests import what is told
    os.environ["ENGRAM_HOME"] = make_benchmark_home("sessions")

import argparse
import json
import logging
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.ground.database import IS_FULL
from benchmarks.ground.product import SOURCE, running_product
from benchmarks.ground.tokens import issue_token
from engram.kernel.models import Role, Workspace
from memories.core.metrics import bootstrap
from predictor.core.metrics import ndcg

sys.path.append(str(SOURCE / "clients/python/src"))  # the client is a package of its own

from engram_client import Engram

FOLDER: Final = Path(__file__).parent / "sessions"
WORLDS: Final = ("theatre", "station")
HALF: Final = 0.5  # the relevance of what helps a task a little
TOY_SESSIONS: Final = 3
WAIT_SECONDS: Final = 60.0 if IS_FULL else 300.0
TALK: Final = (
    "Let me look at what has to be done first and then go through it step by step.",
    "That took longer than it should have, mostly because of the walk back and forth.",
    "I checked it twice and wrote the result into the book on the table.",
    "The rest can wait until tomorrow morning; nothing depends on it today.",
    "Two of us did it together, which is easier with hands full.",
    "There was some wind in the afternoon, but it did not get in the way.",
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory, and how an agent that used it speaks of it; "" for one of no use."""

    name: str
    content: str
    use: str


@dataclass(frozen=True, slots=True)
class Task:
    """What sessions are about: the relevance of memories by name, and the wordings."""

    project: str
    relevance: Mapping[str, float]
    wordings: Sequence[str]


def read_statements(world: str) -> list[Statement]:
    """Read the memories of a world."""
    lines = (FOLDER / world / "memories.tsv").read_text().splitlines()
    rows = (line.split("\t") for line in lines)
    return [Statement(name, content, use) for name, _, content, use in rows]


def read_tasks(world: str) -> list[Task]:
    """Read the tasks of a world."""
    found = []
    for line in (FOLDER / world / "tasks.tsv").read_text().splitlines():
        _, project, needed, useful, wordings = line.split("\t")
        relevance = dict.fromkeys(needed.split(), 1.0) | dict.fromkeys(useful.split(), HALF)
        found.append(Task(project, relevance, wordings.split("|")))
    return found


def commit(engram: Engram, statements: Sequence[Statement], rng: random.Random) -> dict[str, str]:
    """Commit the memories; return their ids by name."""
    now, ids = datetime.now(UTC), {}
    for one in statements:
        age = timedelta(days=rng.uniform(3, 90) if one.use else rng.uniform(0, 1))
        answer = engram.memories.commit(
            one.content,
            observed_at=now - age,
            importance=rng.uniform(0.3, 0.7) if one.use else 1.0,
        )
        ids[one.name] = answer["memory"]["id"]
    return ids


def transcript_of(task: Task, wording: str, uses: Mapping[str, str], rng: random.Random) -> str:
    """Tell a session: every memory that is needed is spoken of, the others by chance."""
    told = [uses[i] for i, own in task.relevance.items() if own == 1 or rng.random() < own]
    lines = [*told, *rng.sample(TALK, 5)]
    rng.shuffle(lines)
    said = " ".join(f"Assistant: {line}\n" for line in lines)
    return f"User: {wording}.\n{said}User: Good, thank you.\n"


def tell(engram: Engram, key: str, task: Task, wording: str, end: Callable[[], Any]) -> None:
    """Start a session, end it, and wait until it has been judged."""
    engram.sessions.start(key, project=task.project, context=wording)
    engram.sessions.prompt(key, wording)
    end()
    until = time.monotonic() + WAIT_SECONDS
    while engram.sessions.get(key)["judged_at"] is None:
        if time.monotonic() > until:
            raise SystemExit(f"{key} was not judged within {WAIT_SECONDS:.0f} seconds")
        time.sleep(0.2)


ORDERS: Final[Mapping[str, Callable[[Mapping[str, Any]], float | None]]] = {
    "served": lambda row: row["rank"],
    "model": lambda row: row["predictor_rank"],
    "baseline": lambda row: row["baseline_rank"],
    "cosine": lambda row: None if row["cosine"] is None else -row["cosine"],
    "importance × decay": lambda row: -row["effectiveness"],
}


def score(
    records: Sequence[Mapping[str, Any]], labels: Mapping[str, float]
) -> dict[str, float | None]:
    """Return the nDCG@10 of each order of a session's candidates; None where it has no order."""
    found: dict[str, float | None] = {}
    for name, key in ORDERS.items():
        placed = [(place, row["memory_id"]) for row in records if (place := key(row)) is not None]
        order = [memory_id for _, memory_id in sorted(placed)]
        found[name] = ndcg(order, labels) if order else None
    return found


def run(engram: Engram, world: str, *, seed: int, says_used: bool) -> dict[str, Any]:
    """Tell all sessions; return the figures."""
    rng = random.Random(seed)
    statements, tasks = read_statements(world), read_tasks(world)
    ids = commit(engram, statements, rng)
    uses = {one.name: one.use for one in statements}
    seen = [(task, wording) for task in tasks for wording in task.wordings[:-1]]
    rng.shuffle(seen)
    held_out = [(task, task.wordings[-1]) for task in tasks]
    if not IS_FULL:
        seen, held_out = seen[:TOY_SESSIONS], held_out[:TOY_SESSIONS]
    scored: list[dict[str, float | None]] = []
    given: list[list[bool]] = []
    for number, (task, wording) in enumerate([*seen, *held_out]):
        key = f"told-{number}"
        labels = {own: task.relevance.get(name, 0.0) for name, own in ids.items()}
        is_held_out = number >= len(seen)

        def end(
            key: str = key,
            labels: Mapping[str, float] = labels,
            text: str = transcript_of(task, wording, uses, rng),
            *,
            says: bool = says_used and not is_held_out,
        ) -> None:
            offered = [r["memory_id"] for r in engram.sessions.get(key)["records"] if r["injected"]]
            used = {i: labels.get(i, 0.0) for i in offered} if says else {}
            engram.sessions.end(key, transcript=text, used=used)

        tell(engram, key, task, wording, end)
        if is_held_out:
            records = engram.sessions.get(key)["records"]
            scored.append(score(records, labels))
            given.append([labels[row["memory_id"]] > 0 for row in records if row["injected"]])
    return {"held out": scored, "given": given, "status": engram.predictor.status()}


def figures(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return mean, interval, worst and number of each order, and of what was given how much."""
    rows: dict[str, Any] = {}
    scored: Sequence[Mapping[str, float | None]] = told["held out"]
    for name in ORDERS:
        values = [own for one in scored if (own := one[name]) is not None]
        if values:
            interval = bootstrap(values, rng=np.random.default_rng(0))
            rows[name] = {
                "mean": round(interval.mean, 3),
                "low": round(interval.low, 3),
                "high": round(interval.high, 3),
                "worst": round(min(values), 3),
                "n": len(values),
            }
    given = told["given"]
    rows["given in the last sessions"] = {
        "memories": round(float(np.mean([len(one) for one in given])), 1),
        "of use": round(float(np.mean([own for one in given for own in one] or [0.0])), 3),
        "sessions with none": sum(not one for one in given),
    }
    return rows


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", choices=WORLDS, default=WORLDS[0])
    parser.add_argument("--used", action="store_true", help="the agent says what it used")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, default=None, help="also write the figures here")
    options = parser.parse_args()
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it would print a line for each call
    with running_product() as product:
        workspace = Workspace.objects.create(slug="sessions", name="Sessions")
        token = issue_token(workspace, Role.ADMIN)
        with Engram(f"http://{product.address}", token) as engram:
            told = run(engram, options.world, seed=options.seed, says_used=options.used)
    asked = {"world": options.world, "used": options.used, "seed": options.seed}
    found = asked | figures(told) | {"status": told["status"]}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    print(text)
    if options.json is not None:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
