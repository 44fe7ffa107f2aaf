"""How fast does the local model embed, and how much memory does it hold?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/embedding.py

Prints a table and one line of JSON, for both local models with one and with two threads a pass. The
load of the machine stands beside the figures, because they are worth no more than that.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

from engram.kernel.minilm import GRAPHS, MiniLM

SENTENCE = (
    "the service keeps its tokens in a small table and every night the worker reads what is due "
    "before anyone notices that a region failed over while customers wait for their invoices"
)
LENGTHS = {"12 tokens": 10, "30 tokens": 28, "60 tokens": 58, "256 tokens": 254}
N_TEXTS = {"toy": 3, "full": 200}[os.environ.get("BENCH_SIZE", "full")]
THREADS, CALLERS = [1, 2], 4


def resident_mb() -> dict[str, float]:
    """Resident memory of this process: all of it, its own, and mapped from files."""
    status = Path("/proc/self/status").read_text()
    rows = dict(line.split(":", 1) for line in status.splitlines())
    names = {"resident_mb": "VmRSS", "own_mb": "RssAnon", "mapped_mb": "RssFile"}
    return {name: round(int(rows[key].split()[0]) / 1024, 1) for name, key in names.items()}


def measure(model: MiniLM, texts: list[str]) -> dict[str, float]:
    """Latency one by one, and texts a second one by one, in one call, and by four callers."""
    seconds = []
    for text in texts:
        start = time.perf_counter()
        model.embed([text])
        seconds.append(time.perf_counter() - start)
    start = time.perf_counter()
    model.embed(texts)
    together = time.perf_counter() - start
    with ThreadPoolExecutor(CALLERS) as callers:
        start = time.perf_counter()
        list(callers.map(lambda text: model.embed([text]), texts))
        at_once = time.perf_counter() - start
    p50, p95 = np.percentile(seconds, [50, 95]) * 1000
    return {
        "p50_ms": round(float(p50), 2),
        "p95_ms": round(float(p95), 2),
        "one_by_one_per_second": round(len(texts) / sum(seconds), 1),
        "together_per_second": round(len(texts) / together, 1),
        "four_callers_per_second": round(len(texts) / at_once, 1),
    }


def main() -> None:
    """Measure texts of four lengths by each model, with one and with two threads."""
    rng = random.Random(0)
    texts = {
        name: [" ".join(rng.choices(SENTENCE.split(), k=n_words)) for _ in range(N_TEXTS)]
        for name, n_words in LENGTHS.items()
    }
    loading, rows = {}, {}
    for name, threads in product(GRAPHS, THREADS):
        title = f"{name}, {threads} thread{'s' if threads > 1 else ''}"
        before, start = resident_mb(), time.perf_counter()
        model = MiniLM(name=name, threads=threads)
        load_ms = (time.perf_counter() - start) * 1000
        model.embed(["warm"])
        for length, some in texts.items():
            rows[f"{title}, {length}"] = measure(model, some)
        after = resident_mb()
        loading[title] = {"load_ms": round(load_ms, 1)} | {
            f"{key}_more": round(after[key] - before[key], 1) for key in after
        }
    print(f"{'':<46}{'p50 ms':>9}{'p95 ms':>9}{'alone/s':>9}{'batch/s':>9}{'four/s':>9}")
    for title, row in rows.items():
        print(f"{title:<46}" + "".join(f"{value:>9.1f}" for value in row.values()))
    result = {
        "benchmark": "embedding",
        "texts": N_TEXTS,
        "rows": rows,
        "loading": loading,
        "resident": resident_mb(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "processors": os.cpu_count(),
    }
    for title, row in loading.items():
        print(f"{title}: {row}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
