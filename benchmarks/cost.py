"""What do recall, commit, detection and a session cost as a workspace grows, and what is stored?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/cost.py

Short memories of 15 words in one workspace, each size in a database of its own. BENCH_MEMORIES
names other sizes, BENCH_ALIKE how many memories with one text and one vector are measured at the
end (0: none). One client, in this process, over the HTTP stack; each text is new, so that its
embedding is part of the time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from benchmarks.ground.corpus import SHORT_WORDS, TABLES, Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.timing import measure, report
from benchmarks.ground.tokens import issue_token
from conflicts.services.detection.detect import detect_due
from engram.kernel.embedding import embed_query
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.services.janitor.run import preview

Rows = dict[str, dict[str, float]]

SIZES = [1_000, 10_000, 100_000] if IS_FULL else [200]
if given := os.environ.get("BENCH_MEMORIES"):
    SIZES = [int(size) for size in given.split(",") if int(size)]
ALIKE = int(os.environ.get("BENCH_ALIKE", "100000" if IS_FULL else "100"))
CALLS, DETECTIONS = (100, 30) if IS_FULL else (5, 3)
HISTORY = ("kernel_event", "memories_observation")


class Api:
    """A client of one workspace; every call is checked for its status."""

    def __init__(self, workspace: Workspace) -> None:
        token = issue_token(workspace)
        self._client = Client(headers={"Authorization": f"Bearer {token}"})
        self._numbers = count()

    def _post(self, path: str, body: dict[str, str], status: int) -> None:
        answer = self._client.post(f"/api/v1/{path}", body, content_type="application/json")
        if answer.status_code != status:
            raise SystemExit(answer.content.decode())

    def recall(self, text: str) -> None:
        """Recall by a query."""
        self._post("memories/recall", {"query": text}, 200)

    def commit(self, text: str, scope: str = "team/1") -> None:
        """Commit a statement."""
        self._post("memories", {"content": text, "scope": scope}, 201)

    def start(self, text: str) -> None:
        """Start a session of its own."""
        self._post("sessions", {"session_key": f"s{next(self._numbers)}", "context": text}, 201)


def measure_one(size: int, *, are_identical: bool = False) -> Rows:
    """Measure one size in an empty database."""
    title = f"{size:,} identical" if are_identical else f"{size:,}"
    corpus = Corpus(0, topics=min(5_000, max(20, size // 200)), words=SHORT_WORDS)
    workspace = Workspace.objects.create(slug="cost", name="Benchmark")
    rows: Rows = {f"{title}: load": load(corpus, [workspace], size, are_identical=are_identical)}
    rows |= {f"{title}: bytes a memory, {name}": row for name, row in stored(size).items()}
    api = Api(workspace)

    def statement() -> str:
        return corpus.text(int(corpus.rng.integers(len(corpus.topics))))

    def embed(text: str) -> None:
        embed_query(text, workspace.embedding_model)

    def detect() -> None:
        if any(run.status != "done" for run in detect_due(workspace, clock=timezone.now)):
            raise SystemExit("a detection run failed")

    paths: list[tuple[str, Callable[[str], object], Callable[[], str]]] = [
        ("embedding", embed, corpus.question),
        ("recall", api.recall, corpus.question),
        ("commit", api.commit, statement),
        ("session start", api.start, corpus.question),
    ]
    for name, call, text in paths:
        texts = [text() for _ in range(CALLS)]
        call(texts[0])
        rows[f"{title}: {name}"] = measure([partial(call, one) for one in texts[1:]])
    rows[f"{title}: history"] = history_bytes(workspace, CALLS)
    if are_identical:
        again = [partial(api.commit, corpus.topics[0], f"new/{n}") for n in range(DETECTIONS)]
        rows[f"{title}: commit of the same"] = measure(again)
        same = [partial(api.recall, corpus.topics[0])] * DETECTIONS
        rows[f"{title}: recall of the same"] = measure(same)
    rows[f"{title}: detection of the backlog"] = timed([detect])
    detections = []
    for _ in range(DETECTIONS):
        api.commit(statement())
        detections.append(timed([detect])["p50_ms"])
    rows[f"{title}: detection of one commit"] = quantiles(detections)
    rows[f"{title}: preview of the janitor"] = timed(
        [partial(preview, workspace, now=timezone.now(), limit=50)]
    )
    rows[f"{title}: resident"] = resident()
    return rows


def timed(calls: list[Callable[[], object]]) -> dict[str, float]:
    """Return the times of calls, the first one too."""
    taken = []
    for call in calls:
        start = time.perf_counter()
        call()
        taken.append((time.perf_counter() - start) * 1000)
    return quantiles(taken)


def quantiles(taken: list[float]) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    p50, p95 = np.percentile(taken, [50, 95])
    return {"p50_ms": round(float(p50), 1), "p95_ms": round(float(p95), 1)}


def stored(size: int) -> Rows:
    """Return the bytes a memory of each table, and of each of its indexes."""
    found: Rows = {}
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute("SELECT pg_table_size(%s::regclass)", [table])
            found[table] = {"bytes": round(cursor.fetchone()[0] / size, 1)}
            cursor.execute(
                "SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) FROM pg_index"
                " WHERE indrelid = %s::regclass ORDER BY 2 DESC",
                [table],
            )
            for name, taken in cursor.fetchall():
                known = "HNSW graph" if name.startswith("vector_nearest") else name
                found[known] = {"bytes": round(taken / size, 1)}
    found["all"] = {"bytes": round(sum(row["bytes"] for row in found.values()), 1)}
    return found


def history_bytes(workspace: Workspace, commits: int) -> dict[str, float]:
    """Return what the history of a commit takes, without its indexes; COPY writes none."""
    total = 0
    with in_workspace(workspace), connection.cursor() as cursor:
        for table in HISTORY:
            cursor.execute(f"SELECT coalesce(sum(pg_column_size(one)), 0) FROM {table} AS one")  # noqa: S608
            total += cursor.fetchone()[0]
    return {"bytes": round(total / commits, 1)}


def resident() -> dict[str, float]:
    """Return the memory of this process and of PostgreSQL's, what they share counted once."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity")
        servers = [pid for (pid,) in cursor.fetchall()]
    return {
        "process_mb": round(proportional_kb("self") / 1024, 1),
        "postgres_mb": round(sum(map(proportional_kb, servers)) / 1024, 1),
    }


def proportional_kb(pid: int | str) -> int:
    """Return the proportional set size of a process; 0 where it runs elsewhere."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def main() -> None:
    """Measure each size, then identical memories."""
    settings.ENGRAM_SESSION_RANKER = ""
    rows: Rows = {}
    for size in SIZES:
        with own_database():
            rows |= measure_one(size)
    if ALIKE:
        with own_database():
            rows |= measure_one(ALIKE, are_identical=True)
    report("cost", rows)


if __name__ == "__main__":
    main()
