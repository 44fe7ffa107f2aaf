"""mem0 without a language model (`infer=False`), on local qdrant (its default) or pgvector."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from benchmarks.ground.peers.peer import Item, SharedEmbedding
from benchmarks.ground.peers.server import analyze

os.environ["MEM0_TELEMETRY"] = "False"  # read when mem0 is imported

UNUSED = {"provider": "openai", "config": {"api_key": "unused"}}  # made by the constructor
COLLECTION = "mem0"
BATCH = 1_000
MANY = 100_000


def qdrant_store(folder: Path) -> dict[str, Any]:
    """Return the configuration of the default store, in a folder."""
    return {"provider": "qdrant", "config": {"path": str(folder / "qdrant"), "on_disk": True}}


def pgvector_store(conninfo: str) -> dict[str, Any]:
    """Return the configuration of the pgvector store."""
    return {"provider": "pgvector", "config": {"connection_string": conninfo}}


class Mem0:
    """A `mem0.Memory`; a group is a user."""

    def __init__(
        self, name: str, store: dict[str, Any], folder: Path, embedding: SharedEmbedding
    ) -> None:
        os.environ["MEM0_DIR"] = str(folder / "mem0")
        from mem0 import Memory
        from mem0.embeddings.base import EmbeddingBase

        class Embedder(EmbeddingBase):
            """The shared embedding behind mem0's interface."""

            def __init__(self) -> None:
                pass

            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return embedding([text])[0].tolist()

        self.name = f"mem0, {name}"
        self._embedding = embedding
        self._conninfo = store["config"].get("connection_string")
        common = {"collection_name": COLLECTION, "embedding_model_dims": embedding.width}
        self._memory = Memory.from_config(
            {
                "vector_store": store | {"config": store["config"] | common},
                "embedder": UNUSED,
                "llm": UNUSED,
                "history_db_path": str(folder / f"history-{name}.db"),
            }
        )
        self._memory.embedding_model = Embedder()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._memory.close()
        if self._conninfo:
            self._memory.vector_store.connection_pool.close()

    def load(self, items: Sequence[Item], *, group: str) -> None:
        """Insert what `Memory.add` would into its store, in batches.

        `add` commits each text twice, to the store and to its history, which neither `add` nor
        `search` reads.
        """
        for start in range(0, len(items), BATCH):
            batch = items[start : start + BATCH]
            self._memory.vector_store.insert(
                vectors=[vector.tolist() for vector in self._embedding(i.text for i in batch)],
                ids=[str(uuid4()) for _ in batch],
                payloads=[_payload(item, group) for item in batch],
            )
        if self._conninfo:
            analyze(self._conninfo)

    def add(self, item: Item, *, group: str) -> None:
        metadata = {**item.metadata, "key": item.key}
        self._memory.add(item.text, user_id=group, metadata=metadata, infer=False)

    def search(self, query: str, *, k: int, group: str) -> list[str]:
        found = self._memory.search(query, top_k=k, filters={"user_id": group}, threshold=0.0)
        return [result["metadata"]["key"] for result in found["results"]]

    def count(self, group: str) -> int:
        return len(self._memory.get_all(filters={"user_id": group}, top_k=MANY)["results"])


def _payload(item: Item, group: str) -> dict[str, str]:
    """Return the payload that `Memory.add` stores without spaCy."""
    now = datetime.now(UTC).isoformat()
    return {
        **item.metadata,
        "key": item.key,
        "user_id": group,
        "role": "user",
        "data": item.text,
        "hash": md5(item.text.encode(), usedforsecurity=False).hexdigest(),
        "created_at": now,
        "updated_at": now,
        "text_lemmatized": item.text,
    }
