"""What does the running product answer under load, and beside an import?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/load.py

Starts everything as `make up` does, in a home of its own, with 10,000 memories. 8 and 32 clients
over HTTP, two minutes each: 60 % recall, 25 % commit, 10 % session start, 5 % others. Then 8
clients for a minute, and the same beside `manage.py import_memories` of 10,000 lines. Every query
and statement is new. The clients share the processors with the product; their part is printed.
Exits with 1 if a call failed.
"""

from __future__ import annotations

import os

from tests.benchmark_home import make_benchmark_home

os.environ["ENGRAM_HOME"] = make_benchmark_home("load")

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.commit import sentence
from benchmarks.ground.clients import Measured, Texts, run_clients
from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.database import IS_FULL
from benchmarks.ground.product import SOURCE, Product, manage, running_product
from benchmarks.ground.tokens import issue_token
from engram.kernel.models import Workspace

MEMORIES, LINES = (10_000, 10_000) if IS_FULL else (200, 20)
SECONDS, ALONE_SECONDS = (120, 60) if IS_FULL else (1, 1)
if given := os.environ.get("BENCH_SECONDS"):
    SECONDS = ALONE_SECONDS = int(given)
if given := os.environ.get("BENCH_LINES"):
    LINES = int(given)
CLIENTS, BESIDE_IMPORT = ([8, 32], 8) if IS_FULL else ([2, 4], 2)


class Load:
    """The product with its memories, and what was measured."""

    def __init__(self, product: Product) -> None:
        self.product = product
        corpus = Corpus(0, topics=max(20, MEMORIES // 200))
        self.workspace = Workspace.objects.create(slug="load", name="Load")
        load(corpus, [self.workspace], MEMORIES)
        self.token = issue_token(self.workspace)
        rng = random.Random(0)
        needed = 40_000 if IS_FULL else 2_000
        self.texts = Texts(
            questions=iter([corpus.question() for _ in range(needed)]),
            statements=iter([sentence(rng) for _ in range(needed)]),
            numbers=count(),
        )
        self.lines = [sentence(rng) for _ in range(LINES)]
        self.phases: dict[str, Any] = {}

    def run(self, name: str, clients: int, is_over: Callable[[], bool]) -> Measured:
        """Run clients; keep and print what was measured."""
        resident = {"start": self.product.resident()}
        middle = threading.Timer(
            SECONDS / 2, lambda: resident.__setitem__("middle", self.product.resident())
        )
        middle.start()
        measured = run_clients(clients, self.product.address, self.token, self.texts, is_over)
        middle.join()
        resident["end"] = self.product.resident()
        share = measured.own_cpu / measured.elapsed
        self.phases[name] = {
            "rows": measured.table(),
            "errors": dict(measured.failed),
            "resident": resident,
            "clients_cpu_share_of_one_core": round(share, 2),
            "load_average": round(os.getloadavg()[0], 2),
        }
        self._show(name)
        return measured

    def run_for(self, name: str, clients: int, seconds: float) -> Measured:
        """Run clients for a time."""
        end = time.monotonic() + seconds
        return self.run(name, clients, lambda: time.monotonic() >= end)

    def run_beside_import(self, name: str, clients: int) -> Measured:
        """Run clients until an import ends."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "lines.jsonl")
            path.write_text("".join(json.dumps({"content": s}) + "\n" for s in self.lines))
            start = time.monotonic()
            command = manage("import_memories", str(path), "--workspace", self.workspace.slug)
            with subprocess.Popen(
                command, cwd=SOURCE, stdout=subprocess.PIPE, text=True
            ) as process:
                measured = self.run(name, clients, lambda: process.poll() is not None)
                printed = process.communicate()[0]
        if process.returncode:
            raise SystemExit(f"the import failed: {printed}")
        self.phases[name]["imported_a_second"] = round(LINES / (time.monotonic() - start), 1)
        return measured

    def _show(self, name: str) -> None:
        phase = self.phases[name]
        print(f"\n{name} (load average {phase['load_average']})")
        for kind, row in phase["rows"].items():
            figures = "".join(f"{label.replace('_', ' '):>12} {n:<8}" for label, n in row.items())
            print(f"{kind:<16}{figures}")
        for moment, kinds in phase["resident"].items():
            sizes = ", ".join(
                f"{kind} {size['pss_mb']:.0f} MB, without files {size['pss_anonymous_mb']:.0f}"
                for kind, size in kinds.items()
            )
            print(f"memory, {moment:<8}{sizes}")
        print(f"errors: {phase['errors'] or 0}", flush=True)


def main() -> None:
    """Measure every phase."""
    with running_product() as product:
        run = Load(product)
        run.run_for("warming up", BESIDE_IMPORT, SECONDS / 8)
        for clients in CLIENTS:
            run.run_for(f"{clients} clients", clients, SECONDS)
        alone = run.run_for(
            f"{BESIDE_IMPORT} clients, before an import", BESIDE_IMPORT, ALONE_SECONDS
        )
        beside = run.run_beside_import(f"{BESIDE_IMPORT} clients, beside an import", BESIDE_IMPORT)
    p95 = [one.table().get("recall", {}).get("p95_ms", 0.0) for one in (alone, beside)]
    ratio = round(p95[1] / p95[0], 2) if all(p95) else None
    print(f"recall's p95 beside an import: {p95[1]} ms, {ratio} times that without")
    result = {
        "benchmark": "load",
        "size": os.environ.get("BENCH_SIZE", "full"),
        "memories": MEMORIES,
        "seconds": SECONDS,
        "phases": run.phases,
        "recall_p95_beside_import": ratio,
        "processors": os.cpu_count(),
    }
    print(json.dumps(result))
    if any(phase["errors"] for phase in run.phases.values()):
        sys.exit("calls failed")


if __name__ == "__main__":
    main()
