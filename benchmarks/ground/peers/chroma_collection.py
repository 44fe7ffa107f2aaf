"""Chroma as a library, persistent, with cosine distance."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from benchmarks.ground.peers.peer import Item, SharedEmbedding

os.environ["ANONYMIZED_TELEMETRY"] = "False"

import chromadb
from chromadb.config import Settings

BATCH = 1_000


class Embedder(chromadb.EmbeddingFunction):  # type: ignore[misc, type-arg]
    """The shared embedding behind Chroma's interface."""

    def __init__(self, embedding: SharedEmbedding) -> None:
        self._embedding = embedding

    def __call__(self, input: list[str]) -> list[np.ndarray]:  # noqa: A002  # its name there
        return list(self._embedding(input))

    @staticmethod
    def name() -> str:
        return "shared"

    def get_config(self) -> dict[str, Any]:
        return {}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> Embedder:
        return Embedder(SharedEmbedding())


class Chroma:
    """A persistent client; a group is a collection."""

    name = "Chroma"

    def __init__(self, folder: Path, embedding: SharedEmbedding) -> None:
        settings = Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(path=str(folder), settings=settings)
        self._embedder = Embedder(embedding)
        self._collections: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for group in self._collections:
            self._client.delete_collection(f"group-{group}")

    def load(self, items: Sequence[Item], *, group: str) -> None:
        for start in range(0, len(items), BATCH):
            self._store(items[start : start + BATCH], group)

    def add(self, item: Item, *, group: str) -> None:
        self._store([item], group)

    def search(self, query: str, *, k: int, group: str) -> list[str]:
        found = self._of(group).query(query_texts=[query], n_results=k)
        return list(found["ids"][0])

    def count(self, group: str) -> int:
        return int(self._of(group).count())

    def _store(self, items: Sequence[Item], group: str) -> None:
        self._of(group).add(
            ids=[item.key for item in items],
            documents=[item.text for item in items],
            metadatas=[dict(item.metadata) or None for item in items],
        )

    def _of(self, group: str) -> Any:
        if group not in self._collections:
            self._collections[group] = self._client.create_collection(
                f"group-{group}",
                embedding_function=self._embedder,
                configuration={"hnsw": {"space": "cosine"}},
            )
        return self._collections[group]
