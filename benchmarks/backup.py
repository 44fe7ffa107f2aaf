"""How long do backup and restore take as an installation grows, and how large is the file?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/backup.py

Short memories of 15 words with vectors in one workspace, each size in a database of its own; the
restore makes the tables, loads and compares every row, as `manage.py restore` does.
BENCH_MEMORIES names other sizes.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import connection
from django.utils import timezone

from benchmarks.ground.corpus import SHORT_WORDS, Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.timing import report
from engram.console.backup.archive import open_backup
from engram.console.backup.load import load as restore
from engram.console.backup.write import back_up
from engram.kernel.models import Workspace

SIZES = [10_000, 100_000] if IS_FULL else [200]
if given := os.environ.get("BENCH_MEMORIES"):
    SIZES = [int(size) for size in given.split(",")]


def measure_one(size: int) -> dict[str, dict[str, float]]:
    """Back up and restore a database of `size` memories."""
    corpus = Corpus(0, topics=min(5_000, max(20, size // 200)), words=SHORT_WORDS)
    workspace = Workspace.objects.create(slug="backup", name="Benchmark")
    load(corpus, [workspace], size, are_identical=False)
    title = f"{size:,}"
    rows: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as folder:
        path = Path(folder, "whole.zip")
        start = time.perf_counter()
        manifest = back_up(path, now=timezone.now())
        rows[f"{title}: backup"] = {
            "seconds": round(time.perf_counter() - start, 1),
            "rows": manifest.rows,
            "archive_mb": round(path.stat().st_size / 2**20, 1),
            "text_mb": round(manifest.bytes / 2**20, 1),
            "database_mb": database_mb(),
        }
        start = time.perf_counter()
        with open_backup(path) as backup:
            backup.check(lambda size: None)
            rows[f"{title}: check"] = {"seconds": round(time.perf_counter() - start, 1)}
            start = time.perf_counter()
            restore(backup, agree=lambda: None)  # the database is this benchmark's own
            rows[f"{title}: restore"] = {
                "seconds": round(time.perf_counter() - start, 1),
                "database_mb": database_mb(),
            }
    rows[f"{title}: most memory"] = {
        "process_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    }
    return rows


def database_mb() -> float:
    """Return the size of the database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return round(cursor.fetchone()[0] / 2**20, 1)


def main() -> None:
    """Measure each size."""
    rows: dict[str, dict[str, float]] = {}
    for size in SIZES:
        with own_database():
            rows |= measure_one(size)
    report("backup", rows)


if __name__ == "__main__":
    main()
