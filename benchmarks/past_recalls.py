"""How much does keeping its query and factors add to a recall, and to the sweep that counts it?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/past_recalls.py [OUT.json]

One client, in this process, in turn with and without `recalls_kept`, each query new and embedded
before. `added` is the difference of each pair of recalls, of the same query in turn. `sweep` is the
time in the background that 500 records of ten memories each take to be counted; `look back` the
time of the newest five recalls of the memory that was recalled most, when 5,000 recalls are kept;
`bytes` what one kept recall of ten memories takes on the disk, with indexes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from django.db import connection
from django.db.models import Count
from django.utils import timezone

from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.timing import report
from engram.console.memories.recalls import last_recalls
from engram.kernel.embedding import embed_query
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, PastRecall, PastResult
from memories.services.recall.log import RECALLS_KEPT, count_recalls
from memories.services.recall.query import Query
from memories.services.recall.recall import recall

SIZES = [1_000, 100_000] if IS_FULL else [200]
CALLS = 200 if IS_FULL else 10
SWEPT = 500 if IS_FULL else 20
KEPT = RECALLS_KEPT if IS_FULL else 50

# The recalls that the sweep kept, again, until so many are kept.
_AGAIN = """
    WITH chosen AS (
        SELECT gen_random_uuid() AS new_id, recall.* FROM memories_pastrecall AS recall,
            generate_series(1, %(times)s)
        WHERE workspace_id = %(workspace)s
    ), written AS (
        INSERT INTO memories_pastrecall (id, workspace_id, origin, query, query_hash, k, asked,
            returned, caller, session_key, at)
        SELECT new_id, workspace_id, origin, query, query_hash, k, asked, returned, caller,
            session_key, at FROM chosen
    )
    INSERT INTO memories_pastresult (workspace_id, recall_id, memory_id, rank, score, relevance,
        factors, at)
    SELECT result.workspace_id, new_id, memory_id, rank, score, relevance, factors, result.at
    FROM chosen JOIN memories_pastresult AS result ON result.recall_id = chosen.id
"""


def timed(call: Callable[[], object]) -> float:
    """Return how many milliseconds a call takes."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def row(samples: list[float]) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    p50, p95 = np.percentile(samples, [50, 95])
    return {"p50_ms": round(float(p50), 2), "p95_ms": round(float(p95), 2)}


def switch(workspace: Workspace, *, is_on: bool) -> None:
    """Let a workspace keep recalls, or not."""
    workspace.settings = workspace.settings | {"recalls_kept": is_on}
    workspace.__dict__.pop("config", None)


def compare(workspace: Workspace, corpus: Corpus, k: int) -> dict[str, dict[str, float]]:
    """Measure recalls in turn: kept, and not."""
    samples: dict[bool, list[float]] = {True: [], False: []}
    for number in range(CALLS + CALLS // 10):
        text = corpus.question()
        embed_query(text, workspace.embedding_model)  # cached, so that both find it
        for is_on in (True, False) if number % 2 else (False, True):
            switch(workspace, is_on=is_on)
            query = Query(text, k=k, min_score=None)
            took = timed(lambda query=query: recall(workspace, query, now=timezone.now()))  # type: ignore[misc]
            if number >= CALLS // 10:
                samples[is_on].append(took)
    added = [one - other for one, other in zip(samples[True], samples[False], strict=True)]
    return {"off": row(samples[False]), "on": row(samples[True]), "added": row(added)}


def measure_sweep(workspace: Workspace, corpus: Corpus) -> dict[str, dict[str, float]]:
    """Measure the sweep of a batch of records, kept and not."""
    rows = {}
    for is_on in (False, True):
        while count_recalls(workspace):
            pass
        switch(workspace, is_on=is_on)
        for _ in range(SWEPT):
            recall(workspace, Query(corpus.question(), min_score=None), now=timezone.now())
        rows["on" if is_on else "off"] = row([timed(lambda: count_recalls(workspace))])
    return rows


def measure_look_back(workspace: Workspace) -> dict[str, dict[str, float]]:
    """Measure the page's part about past recalls, and what one kept recall takes."""
    with in_workspace(workspace):
        times = KEPT // PastRecall.objects.count()
        with connection.cursor() as cursor:
            cursor.execute(_AGAIN, {"workspace": workspace.pk, "times": times})
        counted = PastResult.objects.values("memory").annotate(n=Count("pk")).order_by("-n")
        memory = Memory.objects.get(pk=counted[0]["memory"])
        samples = [timed(lambda: last_recalls(memory)) for _ in range(20)]
        recalls = PastRecall.objects.count()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_total_relation_size('memories_pastrecall')"
                " + pg_total_relation_size('memories_pastresult')"
            )
            [size] = cursor.fetchone()
    return {"look back": row(samples), "size": {"bytes": round(size / recalls)}}


def measure_one(size: int) -> dict[str, dict[str, float]]:
    """Measure a workspace of a size."""
    corpus = Corpus(size, topics=max(20, size // 200))
    workspace = Workspace.objects.create(slug=f"bench-{size}", name="Benchmark")
    load(corpus, [workspace], size)
    rows = {}
    for k in (10, 100):
        for title, values in compare(workspace, corpus, k).items():
            rows[f"{size:,}: k {k}, {title}"] = values
    for title, values in measure_sweep(workspace, corpus).items():
        rows[f"{size:,}: sweep of {SWEPT}, {title}"] = values
    for title, values in measure_look_back(workspace).items():
        rows[f"{size:,}: {title}"] = values
    return rows


def main() -> None:
    """Measure each size; print, and write the line of JSON where a file is named."""
    rows: dict[str, dict[str, float]] = {}
    with own_database():
        for size in SIZES:
            rows |= measure_one(size)
    report("past_recalls", rows, Path(sys.argv[1]) if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()
