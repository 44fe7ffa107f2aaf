"""Synthetic memories by COPY: clustered vectors around real embeddings, words by Zipf's law.

A corpus has topics. The embedding of a topic's sentence is the centre of its memories' vectors, so
that a question about the topic, embedded by the local model, falls among them. A memory's text
holds words of its topic and words of a vocabulary of pseudo-words drawn by rank^-1, some 60 tokens
in all; twenty memories follow each other in a session. Each has the states of 20 tokens, drawn from
a stock: what they say is noise, what they cost to read is not. Memories are written in parts, so
that a million need no more memory here than a part.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from struct import pack
from uuid import UUID

import numpy as np
from django.db import connection, transaction

from benchmarks.ground.database import IS_FULL
from engram.kernel.embedding import embed, model_name
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.content import content_hash
from memories.core.text import terms
from memories.services.index.search_index import ensure_vector_index

START = datetime(2026, 1, 1, tzinfo=UTC)
SESSION = 20
WORDS, SHORT_WORDS = 34, 15
STEP = 20  # seconds from a memory to the next
PART = 20_000  # memories that are held at once
TOPIC_WORDS = 6
VOCABULARY = 40_000 if IS_FULL else 2_000
TOKENS, STOCK = 20, 2_000
TABLES = (
    "memories_memory",
    "memories_memoryvector",
    "memories_memorytokens",
    "memories_posting",
    "memories_termcount",
    "memories_corpussize",
)
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
_THINGS = ["gateway", "ledger", "invoice", "queue", "backup", "mailer", "scheduler", "sensor"]
_PLACES = ["Lisbon", "Oslo", "Nairobi", "Quito", "Hanoi", "Perth", "Tallinn", "Lagos", "Cusco"]
_DEEDS = ["rotates", "compresses", "signs", "verifies", "archives", "reports", "throttles"]
_PARTS = ["tokens", "rows", "letters", "frames", "orders", "tickets", "images", "parcels"]


class Corpus:
    """A vocabulary and topics, from a seed."""

    def __init__(self, seed: int, topics: int, words: int = WORDS) -> None:
        self.words_each = words
        self.rng = np.random.default_rng(seed)
        draw = self.rng.choice
        self.topics = [
            f"the {draw(_THINGS)} in {draw(_PLACES)} {draw(_DEEDS)} {draw(_PARTS)} of the "
            f"{draw(_THINGS)} in {draw(_PLACES)}"
            for _ in range(topics)
        ]
        self.centres = embed(self.topics)  # (topics, dimension)
        drawn = self.rng.normal(size=(STOCK, self.centres.shape[1]))
        drawn *= 127 / np.linalg.norm(drawn, axis=1, keepdims=True)
        self.stock = np.rint(drawn).astype(np.int8)
        words: dict[str, None] = {}
        while len(words) < VOCABULARY:
            word = "".join(draw(_SYLLABLES, size=3)) + "k"
            if list(terms(word)) == [word]:
                words[word] = None
        self.words = np.array(list(words))
        weights = 1.0 / np.arange(10, VOCABULARY + 10)
        self.weights = np.cumsum(weights / weights.sum())

    def vectors(self, topics: np.ndarray) -> np.ndarray:
        """Return a unit vector (n, dimension) near the centre of each topic, cosine around .8."""
        count, width = len(topics), self.centres.shape[1]
        other = self.centres[self.rng.integers(len(self.topics), size=count)]
        noise = self.rng.normal(size=(count, width)) / np.sqrt(width)
        mixed = self.centres[topics] + 0.4 * other + 0.6 * noise
        return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), np.float32)

    def states(self) -> bytes:
        """Return the states of a memory's tokens."""
        return self.stock[self.rng.integers(STOCK, size=TOKENS)].tobytes()

    def text(self, topic: int) -> str:
        """Return a statement of a topic."""
        of_topic = self.rng.choice(self.topics[topic].split(), size=TOPIC_WORDS)
        drawn = np.searchsorted(self.weights, self.rng.random(self.words_each - TOPIC_WORDS))
        return " ".join([*of_topic, *self.words[np.minimum(drawn, VOCABULARY - 1)]])

    def question(self) -> str:
        """Return a question about a topic, with two words of the vocabulary."""
        drawn = np.searchsorted(self.weights, self.rng.random(2))
        topic = self.topics[int(self.rng.integers(len(self.topics)))]
        return f"which of {topic} is " + " ".join(self.words[np.minimum(drawn, VOCABULARY - 1)])


def load(
    corpus: Corpus, workspaces: Sequence[Workspace], each: int, *, are_identical: bool = False
) -> dict[str, float]:
    """Give each workspace so many memories with vectors, postings and counts; by COPY.

    Identical memories have one text and one vector, and a scope each, as the unique rule asks.
    COPY is refused under row-level security, so the owner steps out of it for this transaction.
    The graph of vectors is built afterwards, as a restore would; then the tables are vacuumed, as
    autovacuum would a minute later. Returns the seconds of loading and of building the graph.
    """
    model, width = model_name(), corpus.centres.shape[1]
    start = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL maintenance_work_mem = '{_graph_mb(each * len(workspaces))}MB'")
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'vector\\_nearest\\_%%'"
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP INDEX {name}")
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        for workspace in workspaces:
            _load_one(cursor, corpus, workspace.pk, each, are_identical=are_identical)
        loaded = time.perf_counter()
        ensure_vector_index(model, width)
        built = time.perf_counter()
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE " + ", ".join(TABLES))
    return {"load_s": round(loaded - start, 1), "graph_s": round(built - loaded, 1)}


def add_answers(workspace: Workspace, each: int) -> None:
    """Give every memory of a workspace so many answers, their questions with its own vector."""
    with in_workspace(workspace), connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO memories_memoryanswer (
                workspace_id, memory_id, position, question, question_hash, question_group, answer,
                model, embedding
            )
            SELECT workspace_id, memory_id, n, 'Question ' || n || ' of ' || memory_id,
                encode(sha256((memory_id || '/' || n)::bytea), 'hex'), gen_random_uuid(), 'this',
                model, embedding
            FROM memories_memoryvector CROSS JOIN generate_series(0, %s) AS n
            WHERE position = 0
            """,
            [each - 1],
        )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE memories_memoryanswer")


def _graph_mb(memories: int) -> int:
    """Return the memory in which a graph is built: 3 kB a vector, so that nothing spills."""
    return max(512, memories * 3 // 1024)


def _load_one(  # type: ignore[no-untyped-def]
    cursor, corpus: Corpus, workspace: UUID, each: int, *, are_identical: bool
) -> None:
    memories_of_term: Counter[str] = Counter()
    words = 0
    for first in range(0, each, PART):
        numbers = range(first, min(first + PART, each))
        for count in _load_part(cursor, corpus, workspace, numbers, are_identical=are_identical):
            memories_of_term.update(count.keys())
            words += count.total()
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # the checks of a part, not of them all
    with cursor.copy("COPY memories_termcount (workspace_id, term, memories) FROM STDIN") as copy:
        for term, memories in memories_of_term.items():
            copy.write_row((workspace, term, memories))
    cursor.execute(
        "INSERT INTO memories_corpussize (workspace_id, memories, words) VALUES (%s, %s, %s)",
        [workspace, each, words],
    )


def _load_part(  # type: ignore[no-untyped-def]
    cursor, corpus: Corpus, workspace: UUID, numbers: range, *, are_identical: bool
) -> list[Counter[str]]:
    """Write the memories with these numbers; return the terms of each."""
    rng, each = corpus.rng, len(numbers)
    topics = np.repeat(rng.integers(len(corpus.topics), size=-(-each // SESSION)), SESSION)[:each]
    ids = [UUID(bytes=rng.bytes(16), version=4) for _ in range(each)]
    vectors = corpus.vectors(topics)
    if are_identical:
        texts = [corpus.topics[0]] * each
        vectors = np.repeat(corpus.centres[:1], each, axis=0)
    else:
        texts = [corpus.text(int(topic)) for topic in topics]
    counts = [terms(text) for text in texts]
    order = rng.permutation(each)  # sessions lie scattered, as they do when many agents write
    columns = (
        "id, workspace_id, lineage, content, content_hash, word_count, scope, project, kind,"
        " provenance, confidence, importance, is_pinned, metadata, agent, session_key, observed_at,"
        " created_at, updated_at, revision, is_embedding_due, weight_factor, confidence_factor,"
        " demotion_count, recall_count, injected_count, hit_count, used_count"
    )
    with cursor.copy(f"COPY memories_memory ({columns}) FROM STDIN") as copy:
        for i in order:
            number = numbers[int(i)]
            at = START + timedelta(seconds=STEP * number)
            scope = f"team/{number if are_identical else number % 7}"
            copy.write_row(
                (ids[i], workspace, ids[i], texts[i], content_hash(texts[i]),
                 counts[i].total(), scope, "", "semantic", "assistant_derived", 0.7, 0.5,
                 False, "{}", f"agent-{number % 5}", f"session-{number // SESSION}", at, at, at,
                 1, False, 1.0, 1.0, 0, 0, 0, 0, 0)
            )  # fmt: skip
    width, model = vectors.shape[1], model_name()
    swapped = vectors.astype(">f4")
    _copy_binary(
        cursor,
        "memories_memoryvector (workspace_id, memory_id, model, position, embedding, is_live)",
        (
            (workspace.bytes, ids[i].bytes, model.encode(), pack("!h", 0),
             pack("!hh", width, 0) + swapped[i].tobytes(), b"\1")
            for i in order
        ),
    )  # fmt: skip
    _copy_binary(
        cursor,
        "memories_memorytokens (workspace_id, memory_id, model, position, count, width, states)",
        (
            (workspace.bytes, ids[i].bytes, model.encode(), pack("!h", 0), pack("!h", TOKENS),
             pack("!h", width), corpus.states())
            for i in order
        ),
    )  # fmt: skip
    with cursor.copy(
        "COPY memories_posting (workspace_id, term, memory_id, frequency, words) FROM STDIN"
    ) as copy:
        for i in order:
            for term, frequency in counts[i].items():
                copy.write_row((workspace, term, ids[i], frequency, counts[i].total()))
    return counts


def _copy_binary(cursor, columns: str, rows: Iterable[tuple[bytes, ...]]) -> None:  # type: ignore[no-untyped-def]
    with cursor.copy(f"COPY {columns} FROM STDIN (FORMAT binary)") as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + pack("!ii", 0, 0))
        for fields in rows:
            copy.write(pack("!h", len(fields)) + b"".join(pack("!i", len(f)) + f for f in fields))
        copy.write(pack("!h", -1))
