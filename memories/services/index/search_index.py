"""Write the search index of memories: vectors and postings."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now
from psycopg import sql

from engram.kernel.due import due_workspaces
from engram.kernel.embedding import Windows
from engram.kernel.inserting import insert
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.spelling import same_letters
from memories.core.text import terms
from memories.models import Memory, MemoryTokens, MemoryVector, Posting
from memories.services.index.entities import EntityIndex
from memories.services.index.note_links import MARK, write_memory_links
from memories.services.index.postings import Vocabulary
from memories.services.index.tokens import write_tokens

SqlStatement = tuple[str, list[Any]]

EMBED_TASK = "memories.embed_workspace"
MAX_FREQUENCY = 32767
# The most dimensions that pgvector indexes, as `vector` and as `halfvec`.
VECTOR_MAX_WIDTH, HALF_MAX_WIDTH = 2_000, 4_000


def index_vectors(memory: Memory, vectors: np.ndarray | tuple[()], model: str) -> None:
    """Write the windows (n, dim) of a memory that has none for this model.

    The caller locks a memory that could be hidden meanwhile.
    """
    insert(vector_rows(memory, vectors, model))
    write_tokens(memory, vectors, model)


def vector_rows(memory: Memory, vectors: np.ndarray | tuple[()], model: str) -> list[MemoryVector]:
    """Return the rows of a memory's windows."""
    is_live = memory.is_live
    return [
        MemoryVector(
            memory=memory, model=model, position=position, embedding=vector, is_live=is_live
        )
        for position, vector in enumerate(vectors)
    ]


def reindex_vectors(memory: Memory, vectors: np.ndarray | None, model: str) -> None:
    """Replace all windows of a memory whose wording changed, including those of other models.

    Windows missing from `vectors` (None: all) are embedded in the background.
    """
    MemoryVector.objects.filter(memory=memory).delete()
    MemoryTokens.objects.filter(memory=memory).delete()
    index_vectors(memory, () if vectors is None else vectors, model)
    memory.is_embedding_due = is_due(vectors)
    memory.save(update_fields=["is_embedding_due"])
    if memory.is_embedding_due:
        wake(EMBED_TASK, current_workspace_id())


def is_due(vectors: np.ndarray | None) -> bool:
    """Return whether `vectors` lack windows of their text."""
    return vectors is None or (isinstance(vectors, Windows) and vectors.unread > 0)


def width_in_use(workspace: Workspace, model: str = "") -> int | None:
    """Return the dimension of the workspace's vectors by `model`; None if it has none.

    Without `model`, those of the model that the workspace searches with.
    """
    with in_workspace(workspace):
        model = model or workspace.embedding_model
        stored = MemoryVector.objects.filter(model=model, is_live=True)
        vector = next(iter(stored.values_list("embedding", flat=True)[:1]), None)
        return None if vector is None else len(vector)


def ensure_indexes_in_use() -> None:
    """Make the index over the vectors of each model in use, as soon as there are any."""
    for model in models_in_use():
        for workspace in due_workspaces(partial(_select_stored, model), "asked_at", most=1):
            # Its own model may be another one, while it is embedded anew.
            if (width := width_in_use(workspace, model)) is not None:
                ensure_vector_index(model, width)


def _select_stored(model: str) -> QuerySet[MemoryVector]:
    stored = MemoryVector.objects.filter(model=model, is_live=True)
    return stored.annotate(asked_at=Now())  # any of them: nobody waits for them


def models_in_use() -> list[str]:
    """Return the embedding models whose vectors some workspace compares."""
    found = Workspace.objects.order_by("embedding_model").values_list("embedding_model", flat=True)
    return list(found.distinct())


def has_vector_index(model: str, width: int) -> bool:
    """Return whether a model's vectors have a finished HNSW index, or are too wide for one."""
    return width > HALF_MAX_WIDTH or _is_valid(_index_name(model, width)) is True


def _index_name(model: str, width: int) -> str:
    digest = hashlib.sha256(f"{model}@{width}".encode()).hexdigest()[:10]
    return f"vector_nearest_{digest}"


def _is_valid(name: str) -> bool | None:
    """Return whether an index is valid; None if it does not exist."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [name])
        found = cursor.fetchone()
        return None if found is None else bool(found[0])


def _is_being_built(name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_stat_progress_create_index WHERE index_relid = to_regclass(%s)",
            [name],
        )
        return cursor.fetchone() is not None


def ensure_vector_index(model: str, width: int) -> None:
    """Create the HNSW index over a model's live vectors, unless it exists.

    Outside a transaction it is built concurrently and blocks no writer. Vectors with more
    dimensions than pgvector can index are scanned.
    """
    index = _index_name(model, width)
    if has_vector_index(model, width) or _is_being_built(index):
        return
    kind = "vector" if width <= VECTOR_MAX_WIDTH else "halfvec"
    name = sql.Identifier(index)
    is_concurrent = not connection.in_atomic_block
    with connection.cursor() as cursor:
        if _is_valid(index) is False:  # an earlier attempt was interrupted
            cursor.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(name))
        cursor.execute(
            sql.SQL(
                "CREATE INDEX {concurrently} IF NOT EXISTS {name} ON memories_memoryvector"
                " USING hnsw ((embedding::{kind}({width})) {operators})"
                " WHERE is_live AND model = {model}"
            ).format(
                concurrently=sql.SQL("CONCURRENTLY" if is_concurrent else ""),
                name=name,
                kind=sql.SQL(kind),
                width=sql.Literal(width),
                operators=sql.SQL(f"{kind}_cosine_ops"),
                model=sql.Literal(model),
            )
        )


class WordIndex:
    """The word index changes of a transaction, collected while it runs, written last by `write`.

    All writers of a workspace update the same term counts: writing them earlier in a transaction
    would cause deadlocks. Every new wording passes here, so links to notes and entities are written
    with it.
    """

    def __init__(self) -> None:
        self._new: dict[UUID, Counter[str]] = {}
        self._changes: Counter[str] = Counter()
        self._linking: dict[UUID, str] = {}  # contents with links to notes, or that had some
        self._added: set[UUID] = set()
        self._before: dict[UUID, str] = {}  # of reworded memories
        self._after: dict[UUID, str] = {}
        self._entities = EntityIndex()
        self._memories = 0
        self._words = 0
        self.writes = 0  # `CorpusSize.writes`, after `write`

    @property
    def reworded(self) -> list[UUID]:
        """Return the memories that say something else now; not those that were only added."""
        return sorted(self._after.keys() - self._respelled())

    @property
    def respelled(self) -> list[UUID]:
        """Return of the linking memories those whose wording changed in spelling only."""
        return sorted(self._linking.keys() & self._respelled())

    @property
    def linking(self) -> list[UUID]:
        """Return the added and reworded memories that link notes, or did before."""
        return sorted(self._linking.keys() - self._respelled())

    def _respelled(self) -> set[UUID]:
        """Return the memories whose wording changed only in what `letters` removes."""
        kept = self._after.keys() - self._added
        return {i for i in kept if same_letters(self._before[i], self._after[i])}

    def add(self, memory_id: UUID, content: str, questions: Sequence[str] = ()) -> int:
        """Add a new memory, with the questions it answers; return its number of words."""
        self._added.add(memory_id)
        self._entities.add(memory_id, content, questions)
        self._new[memory_id] = terms(content)
        self._count(self._new[memory_id], 1)
        self._memories += 1
        if MARK in content:
            self._linking[memory_id] = content
        return self._new[memory_id].total()

    def reword(self, memory_id: UUID, before: str, after: str) -> None:
        """Replace the words of a memory that the caller has locked or created."""
        if memory_id not in self._new:
            Posting.objects.filter(memory=memory_id).delete()
        if before != after:
            self._before.setdefault(memory_id, before)
            self._after[memory_id] = after
        self._entities.replace({memory_id: (after, ())})
        self._count(terms(before), -1)
        self._new[memory_id] = terms(after)
        self._count(self._new[memory_id], 1)
        if MARK in before or MARK in after:
            self._linking[memory_id] = after

    def drop(self, memory_id: UUID, content: str) -> None:
        """Remove an erased memory and its terms from the counts."""
        Posting.objects.filter(memory=memory_id).delete()
        self._entities.drop([memory_id])
        self._count(terms(content), -1)
        self._memories -= 1

    def _count(self, frequencies: Counter[str], sign: int) -> None:
        for term in frequencies:
            self._changes[term] += sign
        self._words += sign * frequencies.total()

    def foresee(self, vocabulary: Vocabulary) -> Vocabulary:
        """Return statistics that were read before `write` as they are after it."""
        counts = {term: vocabulary.frequencies.get(term, 0) for term in vocabulary.terms}
        frequencies = {term: count + self._changes[term] for term, count in counts.items()}
        return replace(
            vocabulary, frequencies=frequencies, memories=vocabulary.memories + self._memories
        )

    def write(self) -> None:
        """Write postings and counts in one round trip, and the links of memories that have any."""
        if self._linking:
            write_memory_links(self._linking)
        if self._new or self._memories:
            self.writes = _run(
                [
                    *_postings(self._new),
                    *self._entities.statements(),
                    *_counts(self._changes, memories=self._memories, words=self._words),
                ]
            )


def _run(statements: Sequence[SqlStatement]) -> int:
    """Run statements in one round trip; return the single value of the last one."""
    with connection.cursor() as cursor:
        cursor.execute(
            ";".join(text for text, _ in statements),
            [value for _, values in statements for value in values],
        )
        while cursor.nextset():
            pass
        return int(cursor.fetchone()[0])


def _postings(counts: Mapping[UUID, Counter[str]]) -> Iterator[SqlStatement]:
    if not counts:
        return
    rows = [
        (term, memory_id, min(frequency, MAX_FREQUENCY), words)
        for memory_id, frequencies in counts.items()
        for words in (frequencies.total(),)
        for term, frequency in frequencies.items()
    ]
    yield (
        """
        INSERT INTO memories_posting (workspace_id, term, memory_id, frequency, words)
        SELECT %s, term, memory_id, frequency, words
        FROM unnest(%s::text[], %s::uuid[], %s::int[], %s::int[])
            AS posting (term, memory_id, frequency, words)
        """,
        [current_workspace_id(), *([row[i] for row in rows] for i in range(4))],
    )


def _counts(changes: Mapping[str, int], *, memories: int, words: int) -> Iterator[SqlStatement]:
    """Add to the document frequencies of terms and to the size of the corpus.

    Concurrent commits of a workspace update the same rows: write them last in the transaction and
    in the order of the terms, so that locks are short and cannot deadlock.
    """
    workspace_id = current_workspace_id()
    ordered = sorted((term, change) for term, change in changes.items() if change)
    if ordered:
        yield (
            """
            INSERT INTO memories_termcount AS kept (workspace_id, term, memories)
            SELECT %s, term, change
            FROM unnest(%s::text[], %s::int[]) AS changed (term, change) ORDER BY term
            ON CONFLICT (workspace_id, term)
            DO UPDATE SET memories = kept.memories + excluded.memories
            """,
            [workspace_id, [t for t, _ in ordered], [c for _, c in ordered]],
        )
    yield (
        """
        INSERT INTO memories_corpussize AS kept (workspace_id, memories, words, writes)
        VALUES (%s, %s, %s, 1)
        ON CONFLICT (workspace_id) DO UPDATE
        SET memories = kept.memories + excluded.memories, words = kept.words + excluded.words,
            writes = kept.writes + 1
        RETURNING writes
        """,
        [workspace_id, memories, words],
    )
