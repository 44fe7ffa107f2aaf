"""Many memories at once, written past the services: random words, clustered vectors."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import numpy as np
from django.db import connection

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.services.index.search_index import _counts, _run
from tests.conftest import NOW

WIDTH = 384
MODEL = "all-MiniLM-L6-v2"
SESSION = 10
VOCABULARY = [f"{a}{b}{c}k" for a in "bdfgklm" for b in "aeiou" for c in "nprstv"]


def clustered(count: int, seed: int, clusters: int = 40) -> np.ndarray:
    """Return unit vectors (count, 384) around a few centres."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(clusters, WIDTH))
    mixed = centres[rng.integers(clusters, size=count)] + 0.8 * rng.normal(size=(count, WIDTH))
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), np.float32)


def fill(
    workspace: Workspace,
    vectors: np.ndarray,
    *,
    scope: str = "",
    is_forgotten: bool = False,
    is_marked: bool = True,
    words: int = 0,
    seed: int = 0,
) -> list[UUID]:
    """Write one memory for each vector; `is_marked` False leaves a forgotten one's vector live."""
    rng = random.Random(seed)
    count = len(vectors)
    ids = [UUID(int=rng.getrandbits(128), version=4) for _ in range(count)]
    counts = [Counter(rng.choices(VOCABULARY, k=words)) for _ in range(count)]
    times = [NOW - timedelta(minutes=count - i) for i in range(count)]
    with in_workspace(workspace), connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO memories_memory (
                id, workspace_id, lineage, content, content_hash, word_count, scope, project, kind,
                provenance, confidence, importance, is_pinned, metadata, agent, session_key,
                observed_at, created_at, updated_at, forgotten_at, revision, is_embedding_due,
                weight_factor, confidence_factor, demotion_count, recall_count, injected_count,
                hit_count, used_count
            )
            SELECT id, %(workspace)s, id, content, md5(id::text), %(words)s, %(scope)s, '',
                'semantic', 'assistant_derived', 0.7, 0.5, false, '{}', '', session_key, at, at, at,
                %(forgotten_at)s, 1, false, 1, 1, 0, 0, 0, 0, 0
            FROM unnest(%(ids)s::uuid[], %(contents)s::text[], %(sessions)s::text[],
                %(times)s::timestamptz[]) AS made (id, content, session_key, at)
            """,
            {
                "workspace": workspace.pk,
                "words": words,
                "scope": scope,
                "forgotten_at": NOW if is_forgotten else None,
                "ids": ids,
                "contents": [" ".join(some.elements()) for some in counts],
                "sessions": [f"session-{seed}-{i // SESSION}" for i in range(count)],
                "times": times,
            },
        )
        cursor.execute(
            """
            INSERT INTO memories_memoryvector (
                workspace_id, memory_id, model, position, embedding, is_live
            )
            SELECT %s, id, %s, 0, embedding::vector, %s
            FROM unnest(%s::uuid[], %s::text[]) AS made (id, embedding)
            """,
            [
                workspace.pk,
                MODEL,
                not (is_forgotten and is_marked),
                ids,
                [f"[{','.join(f'{x:.6f}' for x in vector)}]" for vector in vectors],
            ],
        )
        rows = [
            (i, term, n) for i, some in zip(ids, counts, strict=True) for term, n in some.items()
        ]
        cursor.execute(
            """
            INSERT INTO memories_posting (workspace_id, memory_id, term, frequency, words)
            SELECT %s, id, term, frequency, %s
            FROM unnest(%s::uuid[], %s::text[], %s::int[]) AS made (id, term, frequency)
            """,
            [workspace.pk, words, *([row[i] for row in rows] for i in range(3))],
        )
        standing = Counter(term for some in counts for term in some)
        _run(list(_counts(standing, memories=count, words=words * count)))
    return ids


def closest(vectors: np.ndarray, ids: Sequence[UUID], query: np.ndarray, limit: int) -> list[UUID]:
    """Return the exact answer."""
    return [ids[i] for i in np.argsort(-(vectors @ query), kind="stable")[:limit]]
