"""Does a tenant find its nearest memories in a table that others fill, and how fast?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/tenants.py

Tenants of 0.1, 1, 10 and 88.9 percent of one table, all with the same topics, each searched by an
exact scan and by the HNSW index of all; then recall in many small workspaces of one table. What
the service chooses is `memories.services.index.nearest.EXACT_MAX`.
"""

from __future__ import annotations

from functools import partial

from django.utils import timezone

from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.timing import measure, report
from engram.kernel.embedding import embed_query
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.index import nearest
from memories.services.recall.recall import Query, recall

TABLE = 100_000 if IS_FULL else 1_000
SHARES = [0.001, 0.01, 0.1, 0.889]
TENANTS, EACH = (1_000, 100) if IS_FULL else (10, 20)
CALLS = 50 if IS_FULL else 10


def search(workspace: Workspace, text: str) -> list[object]:
    """Return the ten nearest."""
    vector = embed_query(text, workspace.embedding_model)
    with in_workspace(workspace):
        recallable = Memory.objects.recallable(timezone.now())
        return list(nearest.nearest(recallable, vector, workspace.embedding_model, 10))


def shares(rows: dict[str, dict[str, float]]) -> None:
    """Search tenants of every share by both ways."""
    corpus = Corpus(0, topics=max(20, TABLE // 200))
    tenants = []
    for share in SHARES:
        workspace = Workspace.objects.create(slug=f"share-{share * 1000:.0f}", name="Share")
        load(corpus, [workspace], round(TABLE * share))
        tenants.append((share, workspace))
    texts = [corpus.question() for _ in range(CALLS)]
    for share, workspace in tenants:
        answers = {}
        for way, exact_max in (("scan", 10**9), ("graph", -1)):
            nearest.EXACT_MAX = exact_max
            answers[way] = [search(workspace, text) for text in texts]
            row = measure([partial(search, workspace, text) for text in texts])
            rows[f"{share:.1%} of {TABLE:,}: {way}"] = row
        hits = sum(
            len(set(exact) & set(found))
            for exact, found in zip(answers["scan"], answers["graph"], strict=True)
        )
        wanted = sum(len(exact) for exact in answers["scan"])
        rows[f"{share:.1%} of {TABLE:,}: graph"]["recall_at_10"] = round(hits / wanted, 3)


def many(rows: dict[str, dict[str, float]]) -> None:
    """Recall in many small workspaces."""
    corpus = Corpus(1, topics=100)
    workspaces = [
        Workspace.objects.create(slug=f"tenant-{n}", name="Tenant") for n in range(TENANTS)
    ]
    load(corpus, workspaces, EACH)

    def ask(workspace: Workspace, text: str) -> None:
        recall(workspace, Query(text=text), now=timezone.now())

    calls = [partial(ask, w, corpus.question()) for w in workspaces[:: max(1, TENANTS // 100)]]
    rows[f"recall, {TENANTS:,} workspaces × {EACH}"] = measure(calls)


def main() -> None:
    """Measure both."""
    rows: dict[str, dict[str, float]] = {}
    chosen = nearest.EXACT_MAX
    with own_database():
        shares(rows)
        nearest.EXACT_MAX = chosen
        many(rows)
    report("tenants", rows)


if __name__ == "__main__":
    main()
