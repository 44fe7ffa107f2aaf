"""What do an export and an import cost in time and memory, and is what comes back equal?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/transfer.py

One workspace of 100,000 memories is exported, all tables are emptied, the archive is imported, and
the workspace is exported again: but for what an import adds by design, the files of both archives
must have the same checksums. Each step is a process of its own, so that its peak of memory is its
own; PostgreSQL is not counted.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.db import connection
from django.utils import timezone

from benchmarks.graph import add_links
from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.timing import report
from engram.console.transfer.archive import open_archive
from engram.console.transfer.export import export
from engram.console.transfer.load import import_archive
from engram.kernel.models import Workspace

SIZE = int(os.environ.get("BENCH_MEMORIES", "100000" if IS_FULL else "200"))
SLUG = "bench-transfer"
# An import is an event itself; without vectors it also marks memories as due for embedding.
CHANGED = {True: {"kernel.Event"}, False: {"kernel.Event", "memories.Memory"}}
_START = multiprocessing.get_context("fork")


def main() -> None:
    """Measure."""
    rows: dict[str, dict[str, Any]] = {}
    with own_database(), TemporaryDirectory() as folder:
        _measured(_fill)
        for has_vectors in (True, False):
            kind = "with vectors" if has_vectors else "without vectors"
            first, second = (Path(folder) / f"{kind} {name}.zip" for name in ("first", "second"))
            rows[f"export {kind}"] = _measured(partial(_export, first, has_vectors=has_vectors))
            _measured(_erase)
            rows[f"import {kind}"] = _measured(partial(_import, first))
            _export(second, has_vectors=has_vectors)
            rows[f"export {kind}"] |= {"archive_mb": round(first.stat().st_size / 1e6)}
            different = _differing(first, second) - CHANGED[has_vectors]
            rows[f"import {kind}"] |= {"different_tables": len(different)}
    report("transfer", rows)


def _fill() -> None:
    workspace = Workspace.objects.create(slug=SLUG, name="Benchmark")
    load(Corpus(0, topics=max(20, SIZE // 200)), [workspace], SIZE)
    add_links(workspace)


def _export(path: Path, *, has_vectors: bool) -> None:
    export([Workspace.objects.get(slug=SLUG)], path, has_vectors=has_vectors, now=timezone.now())


def _erase() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {Workspace._meta.db_table} CASCADE")


def _import(path: Path) -> None:
    with open_archive(path) as archive:
        import_archive(archive, clock=timezone.now)


def _differing(first: Path, second: Path) -> set[str]:
    """Return the tables whose rows are not the same in two archives."""
    sums = []
    for path in (first, second):
        with open_archive(path) as archive:
            [workspace] = archive.manifest.workspaces
            sums.append({file.table: file.sha256 for file in workspace.files})
    return {table for table in sums[0] if sums[0][table] != sums[1].get(table)}


def _measured(step: Callable[[], object]) -> dict[str, Any]:
    """Return the seconds and the peak of resident megabytes of a step in a process of its own."""
    connection.close()
    connection.close_pool()  # a connection is of one process
    receive, send = _START.Pipe(duplex=False)
    process = _START.Process(target=_run, args=(step, send))
    process.start()
    send.close()
    measured: dict[str, Any] = receive.recv()
    process.join()
    return measured


def _run(step: Callable[[], object], send: Any) -> None:
    start = time.perf_counter()
    step()
    seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
    send.send({"seconds": round(seconds, 1), "peak_mb": peak})


if __name__ == "__main__":
    main()
