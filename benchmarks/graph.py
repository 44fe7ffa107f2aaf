"""What do links between memories cost a recall?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/graph.py

One workspace of 100,000 memories: each names six entities, drawn so that some are named by two
memories and some by hundreds, and is drawn from another, in rings of 10,000. The same client
recalls with links and without in turn, in one run; each query is new and names an entity. Beside
it the plans of the statements that read links: every table must be read by an index.
"""

from __future__ import annotations

import json
import os
import time
from functools import partial
from typing import Any

import numpy as np
from django.db import connection
from django.utils import timezone

from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.timing import measure, report
from engram.kernel.binary import binary_cursor
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.associations import most_memories
from memories.services.recall.recall import Query, recall

SIZE = int(os.environ.get("BENCH_MEMORIES", "100000" if IS_FULL else "200"))
CALLS, WARM_UP = (200, 100) if IS_FULL else (10, 2)
RING = 10_000
ENTITIES_EACH = 6

_ENTITIES = """
    INSERT INTO memories_memoryentity (workspace_id, key, memory_id, is_subject)
    SELECT %(workspace)s, 'entity ' || floor(%(keys)s * random() ^ 2)::int, id, n = 1
    FROM memories_memory CROSS JOIN generate_series(1, %(each)s) AS n
    WHERE workspace_id = %(workspace)s
    ON CONFLICT DO NOTHING
"""
_COUNTS = """
    INSERT INTO memories_entitycount (workspace_id, key, memories)
    SELECT workspace_id, key, count(*) FROM memories_memoryentity
    WHERE workspace_id = %(workspace)s GROUP BY 1, 2
"""
_RINGS = """
    INSERT INTO memories_derivation (workspace_id, source_id, derived_id)
    SELECT %(workspace)s, id, lead(id, 1, first_value) OVER (PARTITION BY ring ORDER BY number)
    FROM (
        SELECT id, number, number / %(ring)s AS ring,
            first_value(id) OVER (PARTITION BY number / %(ring)s ORDER BY number) AS first_value
        FROM (
            SELECT id, row_number() OVER (ORDER BY id) - 1 AS number FROM memories_memory
            WHERE workspace_id = %(workspace)s
        ) AS numbered
    ) AS rings
"""
LINKING = ("memories_memoryentity", "memories_entitycount", "memories_notelink")
TABLES = "memories_memoryentity, memories_entitycount, memories_derivation"


def add_links(workspace: Workspace) -> None:
    """Give every memory entities and a source."""
    values = {
        "workspace": workspace.pk,
        "keys": SIZE * ENTITIES_EACH // 10,
        "each": ENTITIES_EACH,
        "ring": min(RING, SIZE),
    }
    with in_workspace(workspace), connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.5)")
        for statement in (_ENTITIES, _COUNTS, _RINGS):
            cursor.execute(statement, values)
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {TABLES}")


def compare(workspace: Workspace, corpus: Corpus) -> dict[str, dict[str, float]]:
    """Return the times of recalls with and without links, taken in turn, and what links add.

    The added milliseconds are of pairs: a recall and the next, so that a change of load on the
    machine weighs on both. Processor time is measured over runs of one kind.
    """
    rng = np.random.default_rng(1)
    led: list[int] = []

    def ask(*, uses_graph: bool) -> float:
        name = f"Entity {int(rng.integers(SIZE * ENTITIES_EACH // 10))}"
        query = Query(f"{corpus.question()} of {name}", min_score=None, uses_graph=uses_graph)
        start = time.perf_counter()
        answer = recall(workspace, query, now=timezone.now())
        led.extend([len(answer.associations)] if uses_graph else [])
        return (time.perf_counter() - start) * 1000

    for number in range(WARM_UP):
        ask(uses_graph=bool(number % 2))
    pairs = [(ask(uses_graph=False), ask(uses_graph=True)) for _ in range(CALLS)]
    without, with_links = zip(*pairs, strict=True)
    p50, p95 = (
        round(float(np.percentile(with_links, share) - np.percentile(without, share)), 1)
        for share in (50, 95)
    )
    of_kind = {
        f"{SIZE:,}: recall {title} links": measure([partial(ask, uses_graph=uses)] * CALLS)
        for title, uses in (("without", False), ("with", True))
    }
    return of_kind | {
        f"{SIZE:,}: links add, in turn": {"p50_ms": p50, "p95_ms": p95},
        f"{SIZE:,}: results that links led to": {"mean": round(float(np.mean(led)), 1)},
    }


def sequential_reads(workspace: Workspace, corpus: Corpus) -> list[str]:
    """Return the tables that a recall's statements about links read without an index."""
    found: list[str] = []

    def explain(execute: Any, sql: str, values: Any, many: bool, context: Any) -> Any:
        if any(table in sql for table in LINKING) and not sql.startswith("EXPLAIN"):
            with binary_cursor() as cursor:
                cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", values)
                found.extend(_sequential(cursor.fetchone()[0]))
        return execute(sql, values, many, context)

    with connection.execute_wrapper(explain):
        query = Query(f"{corpus.question()} of Entity 1000", uses_graph=True)
        recall(workspace, query, now=timezone.now())
    return found


def _sequential(plan: Any) -> list[str]:
    if isinstance(plan, list):
        return [name for part in plan for name in _sequential(part)]
    if not isinstance(plan, dict):
        return []
    own = [plan["Relation Name"]] if plan.get("Node Type") == "Seq Scan" else []
    return own + [name for part in plan.values() for name in _sequential(part)]


def main() -> None:
    """Measure."""
    with own_database():
        corpus = Corpus(0, topics=max(20, SIZE // 200))
        workspace = Workspace.objects.create(slug="bench-graph", name="Benchmark")
        load(corpus, [workspace], SIZE)
        add_links(workspace)
        rows = compare(workspace, corpus)
        read = sequential_reads(workspace, corpus)
        print(json.dumps({"read without an index": read}))
        rows[f"{SIZE:,}: tables read without an index"] = {"count": len(read)}
        rows["an entity links at most"] = {"memories": most_memories(SIZE)}
    report("graph", rows)


if __name__ == "__main__":
    main()
