"""How long does a commit take, in all and outside of the embedding; how fast is a batch, an import?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/commit.py

One client, in this process: the service, and the whole HTTP stack (key, middleware, JSON); beside
them in the same run the floor, embedding and plain SQL (`benchmarks/ground/floor.py`), and a
profile of the path, statement by statement.
Statements have about 60 tokens, half of them near to stored ones, so that the gate has something to
compare. In a database of its own.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from django.test import Client
from django.utils import timezone

from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.floor import floor_rows, plain_sql
from benchmarks.ground.profile import profile_rows
from benchmarks.ground.timing import measure, report
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import embed_query, embed_windows
from engram.kernel.models import Role, Workspace
from memories.api import memories as views
from memories.services.commit.commit import commit, commit_all
from memories.services.commit.draft import Draft
from memories.services.commit.import_lines import IMPORTER, import_file

SIZES = [1_000, 100_000] if IS_FULL else [100]
if given := os.environ.get("BENCH_MEMORIES"):
    SIZES = [int(size) for size in given.split(",")]
CALLS = 100 if IS_FULL else 3
BATCH = 500 if IS_FULL else 10
THINGS = "gateway ledger invoice queue cache backup index worker mailer scheduler sensor"
PLACES = "north south harbour cellar attic garden studio depot bakery chapel"
VERBS = "reads writes drops keeps rotates compresses signs verifies archives reports"
PARTS = "tokens rows letters frames orders tickets images notes parcels samples"


def sentence(rng: random.Random) -> str:
    """Return a statement of about 60 tokens from a vocabulary with a long tail."""
    things, places, verbs, parts = (words.split() for words in (THINGS, PLACES, VERBS, PARTS))
    clauses = [
        f"the {rng.choice(things)} of the {rng.choice(places)} {rng.choice(verbs)} "
        f"{rng.randint(2, 9999)} {rng.choice(parts)} for account k{rng.randint(0, 10**6)}"
        for _ in range(3)
    ]
    return ", and ".join(clauses).capitalize() + "."


def rate(call: Callable[[], object], count: int) -> dict[str, float]:
    """Return how many a second one call does."""
    start, own = time.perf_counter(), time.process_time()
    call()
    elapsed, own = time.perf_counter() - start, time.process_time() - own
    return {"a_second": round(count / elapsed, 1), "cpu_ms": round(own * 1000 / count, 1)}


def measure_one(size: int, rng: random.Random) -> dict[str, dict[str, float]]:
    """Measure single commits, a batch and an import in a workspace of a size."""
    workspace = Workspace.objects.create(slug=f"bench-{size}", name="Benchmark")
    load(Corpus(0, topics=max(20, size // 200)), [workspace], size)
    _, token = keys.issue(
        workspace, name="bench", role=Role.AGENT, actor=SYSTEM, now=timezone.now()
    )
    client = Client(headers={"Authorization": f"Bearer {token}"})

    def embed(text: str) -> None:
        embed_windows([text], workspace.embedding_model)

    def say(text: str) -> None:
        commit(workspace, Draft(content=text), actor=IMPORTER, now=timezone.now())

    def send(text: str) -> None:
        answer = client.post("/api/v1/memories", {"content": text}, content_type="application/json")
        if answer.status_code != 201:
            raise SystemExit(answer.content.decode())

    rows: dict[str, dict[str, float]] = {}
    for title, call in (("embedding", embed), ("commit", say), ("commit, HTTP", send)):
        calls = [partial(call, sentence(rng)) for _ in range(CALLS)]
        rows[f"{size:,}: {title}"] = measure(calls)
    written = [(text := sentence(rng), embed_query(text)) for _ in range(CALLS)]
    with plain_sql(workspace.pk, size) as plain:
        floor = measure([partial(plain.commit, *one) for one in written])
    rows |= floor_rows(size, rows[f"{size:,}: commit, HTTP"], rows[f"{size:,}: embedding"], floor)
    rows |= profile_rows(
        f"{size:,}: part",
        [partial(send, sentence(rng)) for _ in range(CALLS)],
        service=(views, "commit"),
    )
    drafts = [Draft(content=sentence(rng)) for _ in range(BATCH)]
    rows[f"{size:,}: batch of {BATCH}"] = rate(
        lambda: commit_all(workspace, drafts, actor=IMPORTER, now=timezone.now()), BATCH
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "lines.jsonl")
        path.write_text("".join(json.dumps(sentence(rng)) + "\n" for _ in range(BATCH)))
        rows[f"{size:,}: import of {BATCH}"] = rate(
            lambda: import_file(
                workspace, path, lambda line: Draft(content=json.loads(line)), clock=timezone.now
            ),
            BATCH,
        )
    return rows


def main() -> None:
    """Measure each size."""
    rng = random.Random(0)
    rows: dict[str, dict[str, float]] = {}
    with own_database():
        for size in SIZES:
            rows |= measure_one(size, rng)
    report("commit", rows)


if __name__ == "__main__":
    main()
