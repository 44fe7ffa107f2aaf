"""How much does drift add to a recall of ten memories until its rows are visible?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/drift_cost.py [OUT.json]

Every memory links three notes (`BENCH_NOTES`). One client, in this process, in turn with and
without detection, each query new and embedded before: `off` has the reporting left out, `agreeing`
reports and finds nothing, `drifted` finds that each of ten memories has drifted from its notes, and
upserts a row each, thirty with three notes; `drifted anew` does so where no row exists yet. `added`
is the difference of each pair of recalls, of the same query in turn. `check` is the time in the
background that one memory takes to be compared with a changed note of some 40 sentences.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from unittest.mock import patch

import numpy as np
from django.db import connection
from django.utils import timezone

from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.timing import report
from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import embed_query
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import NoteSupport, PredictionError
from memories.services.commit.commit import commit
from memories.services.commit.draft import Draft
from memories.services.drift.check import check_due
from memories.services.notes.draft import NoteDraft
from memories.services.notes.put import put_note
from memories.services.recall import recall as recalling
from memories.services.recall.query import Query

SIZES = [1_000, 10_000, 100_000] if IS_FULL else [200]
if given := os.environ.get("BENCH_MEMORIES"):
    SIZES = [int(size) for size in given.split(",")]
CALLS = 200 if IS_FULL else 10
NOTES = int(os.environ.get("BENCH_NOTES", "3"))

# Three notes, and a support of each for every memory.
_LINK = """
    WITH chosen AS (
        SELECT memory.id, memory.content_hash, note.id AS note_id, note.version
        FROM memories_memory AS memory, memories_note AS note
        WHERE memory.workspace_id = %(workspace)s AND note.workspace_id = %(workspace)s
    )
    INSERT INTO memories_notesupport (
        workspace_id, memory_id, note_id, model, note_version, checked_version, checked_hash,
        is_drifted, distance, evidence, verdict, attempts
    )
    SELECT %(workspace)s, id, note_id, '', version, version, content_hash, false, 0.5, 0.8,
        '{"reasons": ["no longer said: blocker"], "passage": {"heading": "A", "text": "B"}}', 0
    FROM chosen
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


def compare(
    workspace: Workspace, corpus: Corpus, *, are_new: bool = False
) -> dict[str, dict[str, float]]:
    """Measure recalls in turn: without reporting, and with it; `are_new`: no error is known."""
    silent: AbstractContextManager[object]
    with_it: list[float] = []
    without: list[float] = []
    for number in range(CALLS + CALLS // 10):
        text = corpus.question()
        embed_query(text, workspace.embedding_model)  # cached, so that both find it
        pair = {}
        for is_on in (True, False) if number % 2 else (False, True):
            silent = nullcontext() if is_on else patch.object(recalling, "report_drift")
            if are_new:
                with in_workspace(workspace):
                    PredictionError.objects.all().delete()
            with silent:
                query = Query(text, k=10, min_score=None)
                pair[is_on] = timed(
                    lambda query=query: recalling.recall(workspace, query, now=timezone.now())  # type: ignore[misc]
                )
        if number >= CALLS // 10:
            with_it.append(pair[True])
            without.append(pair[False])
    added = [one - other for one, other in zip(with_it, without, strict=True)]
    return {"off": row(without), "on": row(with_it), "added": row(added)}


def measure_one(size: int) -> dict[str, dict[str, float]]:
    """Measure a workspace of a size."""
    corpus = Corpus(size, topics=max(20, size // 200))
    workspace = Workspace.objects.create(slug=f"bench-{size}", name="Benchmark")
    load(corpus, [workspace], size)
    now = timezone.now()
    for number in range(NOTES):
        draft = NoteDraft(f"note{number}.md", f"# Note {number}\n\nText.", "", "")
        put_note(workspace, draft, actor=SYSTEM, now=now)
    with in_workspace(workspace), connection.cursor() as cursor:
        cursor.execute(_LINK, {"workspace": workspace.pk})
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE memories_notesupport")
    rows = {}
    for title, values in compare(workspace, corpus).items():
        rows[f"{size:,}: agreeing, {title}"] = values
    with in_workspace(workspace):
        NoteSupport.objects.update(is_drifted=True)
    for title, values in compare(workspace, corpus).items():
        rows[f"{size:,}: drifted, {title}"] = values
    for title, values in compare(workspace, corpus, are_new=True).items():
        rows[f"{size:,}: drifted anew, {title}"] = values
    return rows


def measure_check() -> dict[str, dict[str, float]]:
    """Measure what a worker does for one memory and a changed note."""
    workspace = Workspace.objects.create(slug="bench-check", name="Benchmark")
    corpus = Corpus(1, topics=40)
    lines = [f"{topic[:1].upper()}{topic[1:]}." for topic in corpus.topics]
    samples = []
    for number in range(max(5, CALLS // 10)):
        now = timezone.now()
        path = f"n{number}.md"
        before = NoteDraft(path, "# Notes\n\n" + "\n\n".join(lines), "", "")
        put_note(workspace, before, actor=SYSTEM, now=now)
        text = f"{lines[number][:-1]} ([[n{number}]])."
        commit(workspace, Draft(content=text), actor=SYSTEM, now=now)
        check_due(workspace, now=now)
        lines[number] = "It was given up."
        after = NoteDraft(path, "# Notes\n\n" + "\n\n".join(lines), "", "")
        put_note(workspace, after, actor=SYSTEM, now=now)
        samples.append(timed(lambda now=now: check_due(workspace, now=now)))  # type: ignore[misc]
    return {"check of one memory": row(samples)}


def main() -> None:
    """Measure each size; print, and write the line of JSON where a file is named."""
    rows: dict[str, dict[str, float]] = {}
    with own_database():
        rows |= measure_check()
        for size in SIZES:
            rows |= measure_one(size)
    report("drift_cost", rows, Path(sys.argv[1]) if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()
