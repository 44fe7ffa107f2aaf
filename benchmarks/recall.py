"""How long does a recall take in one workspace, and does it find what an exact search finds?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/recall.py

One client, in this process: the service, and the whole HTTP stack (key, middleware, JSON). Every
query is new, so that its embedding is part of the time. The first calls after the load read from
the disk what a server that has been running holds in memory: they stand in a row of their own.
Beside them in the same run the floor, embedding and plain SQL (`benchmarks/ground/floor.py`), and a
profile of the path, statement by statement.
`BENCH_ANSWERS=2` gives every memory so many answers, and compares recalls with and
without their questions.
Needs 2 GB of disk and some minutes at full size, in a database of its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch
from uuid import UUID

import numpy as np
from django.test import Client
from django.utils import timezone

from benchmarks.ground.corpus import Corpus, add_answers, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.floor import measure_search
from benchmarks.ground.profile import profile_rows
from benchmarks.ground.timing import report
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import embed_query
from engram.kernel.models import Role, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.index.nearest import nearest, nearest_among
from memories.services.recall import pool as gathering
from memories.services.recall import recall as recalling
from memories.services.recall.facts import facts_of
from memories.services.recall.recall import Query, recall

SIZES = [1_000, 10_000, 100_000] if IS_FULL else [200]
if given := os.environ.get("BENCH_MEMORIES"):
    SIZES = [int(size) for size in given.split(",")]
ANSWERS = int(os.environ.get("BENCH_ANSWERS", "0"))  # of each memory
CALLS, WARM_UP = (100, 300) if IS_FULL else (10, 0)


def overlap(workspace: Workspace, questions: list[str]) -> float:
    """Return recall@10 of the first stage by meaning against an exact scan."""
    hits = 0
    for question in questions:
        vector = embed_query(question, workspace.embedding_model)
        with in_workspace(workspace):
            some = Memory.objects.recallable(timezone.now())
            model = workspace.embedding_model
            exact: set[UUID] = set(nearest_among(some, vector, model, 10))
            hits += len(exact & set(list(nearest(some, vector, model, 100))[:10]))
    return round(hits / (10 * len(questions)), 3)


def compare_questions(
    ask: Callable[[str], None], corpus: Corpus, size: int
) -> dict[str, dict[str, float]]:
    """Return the times of recalls with and without the questions of memories, taken in turn.

    In turn, so that other processes on the machine weigh on both alike.
    """
    samples: dict[str, list[float]] = {"with": [], "without": []}
    for number in range(CALLS * 4):
        title = "with" if number % 2 else "without"
        text = corpus.question()
        with patch.object(gathering, "facts_of", facts_of if number % 2 else _without_questions):
            start = time.perf_counter()
            ask(text)
            samples[title].append((time.perf_counter() - start) * 1000)
    return {
        f"{size:,}: recall, {title} questions": {
            f"p{share}_ms": round(float(np.percentile(found, share)), 1) for share in (50, 95)
        }
        for title, found in samples.items()
    }


def _without_questions(*given: Any, **named: Any) -> Any:
    return facts_of(*given, **(named | {"has_questions": False}))


def main() -> None:
    """Measure each size."""
    rows: dict[str, dict[str, float]] = {}
    with own_database():
        for size in SIZES:
            corpus = Corpus(0, topics=max(20, size // 200))
            workspace = Workspace.objects.create(slug=f"bench-{size}", name="Benchmark")
            load(corpus, [workspace], size)
            if ANSWERS:
                add_answers(workspace, ANSWERS)
            _, token = keys.issue(
                workspace, name="bench", role=Role.AGENT, actor=SYSTEM, now=timezone.now()
            )
            client = Client(headers={"Authorization": f"Bearer {token}"})

            def ask(text: str, workspace: Workspace = workspace) -> None:
                recall(workspace, Query(text=text), now=timezone.now())

            def send(text: str, client: Client = client) -> None:
                answer = client.post(
                    "/api/v1/memories/recall", {"query": text}, content_type="application/json"
                )
                if answer.status_code != 200:
                    raise SystemExit(answer.content.decode())

            rows |= measure_search(
                "recall",
                ask,
                send,
                workspace=workspace,
                corpus=corpus,
                size=size,
                calls=CALLS,
                warm_up=WARM_UP,
            )
            rows |= profile_rows(
                f"{size:,}: part",
                [partial(send, corpus.question()) for _ in range(CALLS)],
                service=(recalling, "recall"),
            )
            if ANSWERS:
                rows |= compare_questions(ask, corpus, size)
            found = overlap(workspace, [corpus.question() for _ in range(20)])
            rows[f"{size:,}: recall@10, by meaning"] = {"of_exact": found}
    report("recall", rows)


if __name__ == "__main__":
    main()
