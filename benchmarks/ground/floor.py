"""The floor under a path: the embedding, and plain SQL over the same vectors in the same database.

Plain SQL is what a program without Engram would send for the same vectors, on a connection of its
own with prepared statements: for a recall one `SELECT … ORDER BY embedding <=> … LIMIT 10` with the
memories' texts, for a commit one insert of the memory and one of its vector, committed to disk.
Both set the workspace first, because row-level security applies to them as well. No words, no
second stage, no gate, no history, no HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.db import connection
from pgvector.psycopg import register_vector

from benchmarks.ground.corpus import Corpus
from benchmarks.ground.timing import measure
from engram.kernel.embedding import embed_query, model_name
from engram.kernel.minilm import DIMENSION
from engram.kernel.models import Workspace
from memories.core.content import content_hash
from memories.services.index.nearest import EXACT_MAX

K = 10

# As the product chooses: an exact scan of a small workspace, the index of a large one.
_NEAREST = """
    SELECT memory.id, memory.content, near.distance FROM (
        SELECT memory_id, embedding{cast} <=> %s::vector AS distance
        FROM memories_memoryvector
        WHERE workspace_id = %s AND model = {model} AND is_live ORDER BY 2 LIMIT {k}
    ) AS near JOIN memories_memory AS memory ON memory.id = near.memory_id ORDER BY 3
"""
_MEMORY = """
    INSERT INTO memories_memory (
        id, workspace_id, lineage, content, content_hash, word_count, scope, project, kind,
        provenance, confidence, importance, is_pinned, metadata, agent, session_key, observed_at,
        created_at, updated_at, revision, is_embedding_due, weight_factor, confidence_factor,
        demotion_count, recall_count, injected_count, hit_count, used_count
    ) VALUES (
        %(id)s, %(workspace)s, %(id)s, %(content)s, %(hash)s, 30, '', '', 'semantic',
        'assistant_derived', 0.7, 0.5, false, '{}', '', '', now(), now(), now(), 1, false, 1, 1, 0,
        0, 0, 0, 0
    )
"""
_VECTOR = """
    INSERT INTO memories_memoryvector (workspace_id, memory_id, model, position, embedding, is_live)
    VALUES (%(workspace)s, %(id)s, %(model)s, 0, %(vector)s::vector, true)
"""


class PlainSql:
    """A connection of its own."""

    def __init__(self, own: psycopg.Connection[Any], workspace: UUID, size: int) -> None:
        self._own = own
        self._workspace = workspace
        self._model = model_name()
        cast = "" if size <= EXACT_MAX else f"::vector({DIMENSION})"
        self._nearest = _NEAREST.format(cast=cast, model=f"'{self._model}'", k=K)

    def recall(self, vector: Any) -> list[Any]:
        """Return the texts of the nearest memories."""
        with self._own.transaction():
            self._set_workspace()
            found = self._own.execute(self._nearest, [vector, self._workspace], prepare=True)
            return found.fetchall()

    def commit(self, text: str, vector: Any) -> None:
        """Insert a memory and its vector."""
        memory = {
            "id": uuid4(),
            "workspace": self._workspace,
            "content": text,
            "hash": content_hash(text),
            "model": self._model,
            "vector": vector,
        }
        with self._own.transaction():
            self._set_workspace()
            self._own.execute(_MEMORY, memory, prepare=True)
            self._own.execute(_VECTOR, memory, prepare=True)

    def _set_workspace(self) -> None:
        self._own.execute(
            "SELECT set_config('engram.workspace', %s, true)", [str(self._workspace)], prepare=True
        )


@contextmanager
def plain_sql(workspace: UUID, size: int) -> Iterator[PlainSql]:
    """Open a connection with the application's role, beside Django's."""
    known = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    with psycopg.connect(
        **{name: known[name] for name in names if known.get(name)}, autocommit=True
    ) as own:
        register_vector(own)
        own.execute("SET hnsw.iterative_scan = relaxed_order")
        yield PlainSql(own, workspace, size)


def measure_search(
    title: str,
    call: Callable[[str], object],
    send: Callable[[str], object],
    *,
    workspace: Workspace,
    corpus: Corpus,
    size: int,
    calls: int,
    warm_up: int,
) -> dict[str, dict[str, float]]:
    """Measure a path that looks for memories near a text, and its floor, in the same run.

    `call` takes the path within this process, `send` over the HTTP stack.
    """

    def embed(text: str) -> None:
        embed_query(text, workspace.embedding_model)

    first = [corpus.question() for _ in range(calls)]
    rows = {f"{size:,}: {title}, just loaded": measure([partial(call, text) for text in first])}
    for _ in range(warm_up):
        call(corpus.question())
    for name, path in (("embedding", embed), (title, call), (f"{title}, HTTP", send)):
        texts = [corpus.question() for _ in range(calls)]
        rows[f"{size:,}: {name}"] = measure([partial(path, text) for text in texts])
    vectors = [embed_query(corpus.question()) for _ in range(calls)]
    with plain_sql(workspace.pk, size) as plain:
        floor = measure([partial(plain.recall, vector) for vector in vectors])
    return rows | floor_rows(
        size, rows[f"{size:,}: {title}, HTTP"], rows[f"{size:,}: embedding"], floor
    )


def floor_rows(
    size: int, measured: dict[str, float], embedding: dict[str, float], plain: dict[str, float]
) -> dict[str, dict[str, float]]:
    """Return the rows of plain SQL and of the floor under a measured path."""
    return {
        f"{size:,}: plain SQL": plain,
        f"{size:,}: floor": compare(measured, embedding, plain),
    }


def compare(measured: dict[str, float], *parts: dict[str, float]) -> dict[str, float]:
    """Return the sum of the floor's parts, and how many times that the measured path takes."""
    floor = {name: round(sum(part[name] for part in parts), 1) for name in ("p50_ms", "p95_ms")}
    return floor | {
        "times_p50": round(measured["p50_ms"] / floor["p50_ms"], 2),
        "times_p95": round(measured["p95_ms"] / floor["p95_ms"], 2),
    }
