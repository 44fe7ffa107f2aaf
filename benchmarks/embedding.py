"""How fast does the local model embed, and how much memory does it hold?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/embedding.py

Prints a table and one line of JSON. The model runs in one thread; the load of the machine stands
beside the figures, because they are worth no more than that.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import random
import time
from pathlib import Path

import numpy as np

from engram.kernel.minilm import MiniLM

SENTENCE = (
    "the service keeps its tokens in a small table and every night the worker reads what is due "
    "before anyone notices that a region failed over while customers wait for their invoices"
)
LENGTHS = {"12 tokens": 10, "30 tokens": 28, "60 tokens": 58, "256 tokens": 254}
N_TEXTS = {"toy": 20, "full": 400}[os.environ.get("BENCH_SIZE", "full")]


def resident_mb() -> dict[str, float]:
    """Resident memory of this process: all of it, its own, and mapped from files."""
    status = Path("/proc/self/status").read_text()
    rows = dict(line.split(":", 1) for line in status.splitlines())
    names = {"resident_mb": "VmRSS", "own_mb": "RssAnon", "mapped_mb": "RssFile"}
    return {name: round(int(rows[key].split()[0]) / 1024, 1) for name, key in names.items()}


def measure(model: MiniLM, texts: list[str]) -> dict[str, float]:
    """Latency one by one and throughput in one call."""
    seconds = []
    for text in texts:
        start = time.perf_counter()
        model.embed([text])
        seconds.append(time.perf_counter() - start)
    start = time.perf_counter()
    model.embed(texts)
    together = time.perf_counter() - start
    p50, p95 = np.percentile(seconds, [50, 95]) * 1000
    return {
        "p50_ms": round(float(p50), 2),
        "p95_ms": round(float(p95), 2),
        "one_by_one_per_second": round(len(texts) / sum(seconds), 1),
        "together_per_second": round(len(texts) / together, 1),
    }


def main() -> None:
    """Measure texts of four lengths."""
    rng = random.Random(0)
    before = resident_mb()
    start = time.perf_counter()
    model = MiniLM()
    load_ms = (time.perf_counter() - start) * 1000
    model.embed(["warm"])
    rows = {}
    for name, n_words in LENGTHS.items():
        texts = [" ".join(rng.choices(SENTENCE.split(), k=n_words)) for _ in range(N_TEXTS)]
        rows[name] = measure(model, texts)
    print(f"{'text':<12}{'p50 ms':>9}{'p95 ms':>9}{'alone/s':>9}{'batch/s':>9}")
    for name, row in rows.items():
        print(f"{name:<12}" + "".join(f"{value:>9.1f}" for value in row.values()))
    result = {
        "benchmark": "embedding",
        "texts": N_TEXTS,
        "load_ms": round(load_ms, 1),
        "rows": rows,
        "before_loading": before,
        "after": resident_mb(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "processors": os.cpu_count(),
    }
    after, load = result["after"], result["load_average"]
    print(f"loaded in {load_ms:.0f} ms; resident {after['resident_mb']} MB, load average {load}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
