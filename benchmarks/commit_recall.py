"""How long do a commit and a recall take, in all and outside of the embedding?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/commit_recall.py

One client, the services called in this process, one workspace that is removed afterwards. Prints a
table and one line of JSON; the machine's load stands beside the figures.
"""

import json
import os
import random
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")

from engram import embedded

embedded.export_environment()

import django

django.setup()

import numpy as np
from django.core.management import call_command
from django.utils import timezone

from engram.console.evaluation.scratch import EVALUATOR, scratch_workspace
from engram.kernel.embedding import embed
from memories.services.commit import commit, commit_all
from memories.services.draft import Draft
from memories.services.recall import Query, recall

SIZES = {"toy": [200], "full": [1_000, 10_000]}[os.environ.get("BENCH_SIZE", "full")]
CALLS = {"toy": 10, "full": 100}[os.environ.get("BENCH_SIZE", "full")]
THINGS = [
    "gateway",
    "ledger",
    "invoice",
    "queue",
    "cache",
    "backup",
    "index",
    "worker",
    "mailer",
    "scheduler",
    "sensor",
]
PLACES = [
    "north",
    "south",
    "harbour",
    "cellar",
    "attic",
    "garden",
    "studio",
    "depot",
    "bakery",
    "chapel",
]
VERBS = [
    "reads",
    "writes",
    "drops",
    "keeps",
    "rotates",
    "compresses",
    "signs",
    "verifies",
    "archives",
    "reports",
]
PARTS = [
    "tokens",
    "rows",
    "letters",
    "frames",
    "orders",
    "tickets",
    "images",
    "notes",
    "parcels",
    "samples",
]


def sentence(rng: random.Random) -> str:
    """Return a statement of about 60 tokens from a vocabulary with a long tail."""
    clauses = [
        f"the {rng.choice(THINGS)} of the {rng.choice(PLACES)} {rng.choice(VERBS)} "
        f"{rng.randint(2, 9999)} {rng.choice(PARTS)} for account k{rng.randint(0, 10**6)}"
        for _ in range(3)
    ]
    return ", and ".join(clauses).capitalize() + "."


def milliseconds(call: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def percentiles(samples: list[float]) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    p50, p95 = np.percentile(samples, [50, 95])
    return {"p50_ms": round(float(p50), 1), "p95_ms": round(float(p95), 1)}


def measure(size: int, rng: random.Random) -> dict[str, dict[str, float]]:
    """Fill a workspace and measure single calls in it."""
    with scratch_workspace() as workspace:
        for start in range(0, size, 200):
            drafts = [Draft(content=sentence(rng)) for _ in range(min(200, size - start))]
            commit_all(
                workspace, drafts, actor=EVALUATOR, now=timezone.now(),
                is_gated=False, is_detected=False,
            )  # fmt: skip
        texts = [sentence(rng) for _ in range(CALLS)]
        embeddings = [milliseconds(lambda t=text: embed([t])) for text in texts]
        commits = [
            milliseconds(
                lambda t=text: commit(
                    workspace, Draft(content=t), actor=EVALUATOR, now=timezone.now()
                )
            )
            for text in texts
        ]
        queries = [
            f"which {rng.choice(THINGS)} {rng.choice(VERBS)} {rng.choice(PARTS)} in the "
            f"{rng.choice(PLACES)}?"
            for _ in range(CALLS)
        ]
        recalls = [
            milliseconds(lambda q=query: recall(workspace, Query(text=q), now=timezone.now()))
            for query in queries
        ]
    return {
        "embed 60 tokens": percentiles(embeddings),
        "commit": percentiles(commits),
        "recall": percentiles(recalls),
    }


def main() -> None:
    """Measure each size."""
    call_command("migrate", verbosity=0)
    rng = random.Random(0)
    results = {str(size): measure(size, rng) for size in SIZES}
    load = os.getloadavg()[0]
    print(f"{'memories':>9} {'what':<16} {'p50 ms':>8} {'p95 ms':>8}")
    for size, rows in results.items():
        for what, row in rows.items():
            print(f"{size:>9} {what:<16} {row['p50_ms']:>8} {row['p95_ms']:>8}")
    print(json.dumps({"load": round(load, 2), "calls": CALLS, "results": results}))


if __name__ == "__main__":
    main()
