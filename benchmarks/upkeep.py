"""What does it cost to note a recall, to count recalls, and to let the janitor look at everything?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/upkeep.py [FILE.json]

A database of its own, the services called in this process. The worst case for the janitor: not one
memory was ever recalled. Prints the figures and, with FILE, writes them.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import connection

from benchmarks.ground.database import IS_FULL, own_database
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, RecallRecord
from memories.services.janitor.run import preview, run
from memories.services.janitor.scan import page_after, position_of, rules_of
from memories.services.janitor.undo import undo_run
from memories.services.recall.log import count_recalls, find_waiting, note_recall, sweep

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MEMORIES = 100_000 if IS_FULL else 2_000
WORKSPACES = 1_000 if IS_FULL else 50
RECALLS = 5_000 if IS_FULL else 200
FILL = """
    INSERT INTO memories_memory (
        id, workspace_id, lineage, content, content_hash, word_count, scope, project, kind,
        provenance, confidence, importance, is_pinned, metadata, agent, session_key, observed_at,
        created_at, updated_at, revision, is_embedding_due, weight_factor, confidence_factor,
        demotion_count, recall_count, injected_count, hit_count, used_count
    )
    SELECT gen_random_uuid(), %(workspace)s, gen_random_uuid(),
        'Statement ' || n || repeat(' x', 90),
        md5(n::text), 92, '', '', 'semantic',
        'assistant_derived', 0.7, 0.5, false, '{}', '', '', moment, moment, moment, 1, false,
        1, 1, 0, 0, 0, 0, 0
    FROM (
        SELECT n, %(since)s::timestamptz + n * interval '1 second' AS moment
        FROM generate_series(1, %(count)s) AS n
    ) AS rows
"""


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a call took, and its answer."""
    started = time.perf_counter()
    answer = work()
    return time.perf_counter() - started, answer


def create_workspace(slug: str, memories: int) -> Workspace:
    """Return a workspace whose recall log is a year old, with unused memories."""
    workspace = Workspace.objects.create(slug=slug, name=slug)
    workspace.created_at = NOW - timedelta(days=365)
    workspace.save(update_fields=["created_at"])
    with in_workspace(workspace), connection.cursor() as cursor:
        since = NOW - timedelta(days=300)
        cursor.execute(FILL, {"workspace": workspace.pk, "since": since, "count": memories})
    return workspace


def quantiles(samples: list[float]) -> dict[str, float]:
    """Return the median and the 95th percentile in milliseconds."""
    ordered = sorted(samples)
    return {
        "p50_ms": round(ordered[len(ordered) // 2] * 1000, 3),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 3),
    }


def note(workspace: Workspace) -> dict[str, Any]:
    """Return what a transaction that reads costs, and with a recall of ten memories noted."""
    with in_workspace(workspace):
        ids = list(Memory.objects.order_by("pk").values_list("pk", flat=True)[:1000])
    samples: dict[str, list[float]] = {"reading_alone": [], "with_note": []}
    for n in range(2 * RECALLS):
        is_noted = n % 2 == 1
        chosen = [ids[(n * 7 + k * 13) % len(ids)] for k in range(10)]
        started = time.perf_counter()
        with in_workspace(workspace):
            Memory.objects.in_bulk(chosen)
            if is_noted:
                note_recall(chosen, relevant=chosen, noise_count=1, session_key="", now=NOW)
        samples["with_note" if is_noted else "reading_alone"].append(time.perf_counter() - started)
    found = {name: quantiles(taken) for name, taken in samples.items()}
    cost = found["with_note"]["p50_ms"] - found["reading_alone"]["p50_ms"]
    return {**found, "cost_of_noting_p50_ms": round(cost, 3)}


def count(workspace: Workspace) -> dict[str, Any]:
    """Return how long counting takes, and finding out where there is something to count."""
    took, counted = seconds(lambda: count_recalls(workspace))
    with in_workspace(workspace):
        RecallRecord.objects.create(
            memory_ids=list(Memory.objects.values_list("pk", flat=True)[:1]), at=NOW
        )
    found_seconds, found = seconds(find_waiting)
    one_by_one, _ = seconds(lambda: [count_recalls(w) for w in Workspace.objects.all()])
    idle, _ = seconds(sweep)
    return {
        "records": counted,
        "seconds": round(took, 3),
        "workspaces": Workspace.objects.count(),
        "with_recalls": len(found),
        "finding_them_seconds": round(found_seconds, 3),
        "asking_each_in_a_transaction_seconds": round(one_by_one, 3),
        "idle_sweep_seconds": round(idle, 3),
    }


def sweep_all(workspace: Workspace) -> dict[str, Any]:
    """Return how long a preview, a run, a second run and an undo take over all memories."""
    peak = peak_mib()
    previewed, preview_result = seconds(lambda: preview(workspace, now=NOW, limit=50))
    ran, done = seconds(lambda: run(workspace, actor=SYSTEM, now=NOW))
    again, rested = seconds(lambda: run(workspace, actor=SYSTEM, now=NOW))
    undone, _ = seconds(lambda: undo_run(workspace, done.pk, actor=SYSTEM, now=NOW))
    return {
        "memories": MEMORIES,
        "would_demote": preview_result.demoted,
        "demoted": done.demoted,
        "demoted_again": rested.demoted,
        "preview_seconds": round(previewed, 2),
        "run_seconds": round(ran, 2),
        "run_again_seconds": round(again, 2),
        "undo_seconds": round(undone, 2),
        "peak_memory_grew_mib": round(peak_mib() - peak, 1),
        "plan_of_a_batch": plan(workspace),
    }


def peak_mib() -> float:
    """Return the greatest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def plan(workspace: Workspace) -> list[str]:
    """Return how the database finds a batch in the middle."""
    rules = rules_of(workspace, None)
    with in_workspace(workspace):
        middle = Memory.objects.order_by("created_at")[MEMORIES // 2]
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE memories_memory")
        explained: str = page_after(rules, NOW, position_of(middle)).explain(analyze=True)
        return explained.splitlines()


def main() -> None:
    """Measure, print, write."""
    with own_database():
        for number in range(WORKSPACES - 1):
            Workspace.objects.create(slug=f"w{number}", name=f"W{number}")
        workspace = create_workspace("large", MEMORIES)
        result: dict[str, Any] = {
            "command": "BENCH_SIZE=full PYTHONPATH=. python benchmarks/upkeep.py FILE.json",
            "note_a_recall": note(workspace),
            "count_recalls": count(workspace),
        }
        with in_workspace(workspace):
            Memory.objects.update(recall_count=0)
        result["janitor"] = sweep_all(workspace)
        result["load_average"] = [round(x, 2) for x in os.getloadavg()]
    print(json.dumps(result, indent=1))
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
