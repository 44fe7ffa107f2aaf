"""LangGraph's store of long-term memories on PostgreSQL, with its index of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Self

from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore

from benchmarks.ground.peers.peer import Item, SharedEmbedding
from benchmarks.ground.peers.server import analyze

BATCH = 500
MANY = 100_000


class LangGraph:
    """A `PostgresStore`; a group is a namespace."""

    name = "LangGraph, Postgres"

    def __init__(self, conninfo: str, embedding: SharedEmbedding) -> None:
        self._conninfo = conninfo

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return [vector.tolist() for vector in embedding(texts)]

        self._index: dict[str, Any] = {
            "dims": embedding.width,
            "embed": embed,
            "fields": ["text"],
            "distance_type": "cosine",
        }
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        opened = PostgresStore.from_conn_string(self._conninfo, index=self._index)
        self._store = self._stack.enter_context(opened)
        self._store.setup()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def load(self, items: Sequence[Item], *, group: str) -> None:
        for start in range(0, len(items), BATCH):
            puts = [PutOp((group,), i.key, _value(i)) for i in items[start : start + BATCH]]
            self._store.batch(puts)
        analyze(self._conninfo)

    def add(self, item: Item, *, group: str) -> None:
        self._store.put((group,), item.key, _value(item))

    def search(self, query: str, *, k: int, group: str) -> list[str]:
        return [found.key for found in self._store.search((group,), query=query, limit=k)]

    def count(self, group: str) -> int:
        return len(self._store.search((group,), limit=MANY))


def _value(item: Item) -> dict[str, str]:
    return {**item.metadata, "text": item.text}
