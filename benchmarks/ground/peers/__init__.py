"""What a user would pick instead of Engram, each behind the same few calls (`Peer`)."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.ground.peers.peer import Peer, SharedEmbedding
from benchmarks.ground.peers.server import peer_database

# Modules by the name of their package; a package that is not installed is left out.
PACKAGES = {
    "mem0": "mem0ai",
    "qdrant_client": "qdrant-client",
    "chromadb": "chromadb",
    "langgraph.store.postgres": "langgraph-checkpoint-postgres",
}


def missing_packages() -> list[str]:
    """Return the packages that are not installed."""
    return [package for module, package in PACKAGES.items() if not _is_installed(module)]


@contextmanager
def open_peers(embedding: SharedEmbedding) -> Iterator[list[Peer]]:
    """Open every installed peer, empty, with a folder and a database that are removed afterwards.

    The clients of these libraries keep their files open until garbage collection, therefore the
    folder is removed as far as possible.
    """
    missing = missing_packages()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)))
        peers: list[Peer] = []
        if "mem0ai" not in missing:
            from benchmarks.ground.peers.mem0_memory import Mem0, pgvector_store, qdrant_store

            url = stack.enter_context(peer_database("mem0"))
            stores = {"qdrant": qdrant_store(folder), "pgvector": pgvector_store(url)}
            for name, store in stores.items():
                peers.append(stack.enter_context(Mem0(name, store, folder, embedding)))
        if "chromadb" not in missing:
            from benchmarks.ground.peers.chroma_collection import Chroma

            peers.append(stack.enter_context(Chroma(folder / "chroma", embedding)))
        if "langgraph-checkpoint-postgres" not in missing:
            from benchmarks.ground.peers.langgraph_store import LangGraph

            url = stack.enter_context(peer_database("langgraph"))
            peers.append(stack.enter_context(LangGraph(url, embedding)))
        yield peers


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False
