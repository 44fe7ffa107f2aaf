"""How long calls take: on the clock, and of processor time here and in the database.

On a machine that others use as well the clock says little; the processor time is what the clock
would show on an idle one, but for waiting on the disk.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection
from django.utils import timezone

from engram.console.evaluation.provenance import git_head

_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


def database_ms() -> float:
    """Processor time of the database's server processes; 0 where they run elsewhere.

    Of all of them: a pool gives out another connection each time.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        return sum(_processor_ms(pid) for (pid,) in cursor.fetchall())


def _processor_ms(pid: int) -> float:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_MS


def measure(calls: Sequence[Callable[[], object]]) -> dict[str, float]:
    """Call each once; the first tenth warms up."""
    warm = max(1, len(calls) // 10)
    for call in calls[:warm]:
        call()
    samples = []
    database, own = database_ms(), time.process_time()
    for call in calls[warm:]:
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) * 1000)
    own, database = time.process_time() - own, database_ms() - database
    p50, p95 = np.percentile(samples, [50, 95])
    return {
        "p50_ms": round(float(p50), 1),
        "p95_ms": round(float(p95), 1),
        "cpu_ms": round(own * 1000 / len(samples), 1),
        "database_cpu_ms": round(database / len(samples), 1),
    }


def report(benchmark: str, rows: dict[str, dict[str, float]], file: Path | None = None) -> None:
    """Print a table and one line of JSON; write the line to `file` as well, if there is one.

    The line names the commit that was measured, and when that was.
    """
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    print(f"{'':<34}" + "".join(f"{name:>17}" for name in names))
    for title, row in rows.items():
        print(f"{title:<34}" + "".join(f"{row.get(name, ''):>17}" for name in names))
    load: list[Any] = [round(value, 2) for value in os.getloadavg()]
    line = json.dumps(
        {
            "benchmark": benchmark,
            "at": timezone.now().isoformat(),
            "git": git_head(Path(settings.BASE_DIR)),
            "size": os.environ.get("BENCH_SIZE", "full"),
            "rows": rows,
            "load_average": load,
            "processors": os.cpu_count(),
        }
    )
    print(line)
    if file is not None:
        file.write_text(line + "\n")
