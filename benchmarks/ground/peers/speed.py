"""How long do a commit and a recall take, by each peer in turn with the same kind of text?"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.commit import sentence
from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.peers import open_peers
from benchmarks.ground.peers.engram_store import Engram, EngramOverHttp
from benchmarks.ground.peers.peer import Item, Peer, SharedEmbedding
from benchmarks.ground.web import web_process
from engram.kernel.embedding import Floats
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryVector

K = 10
Call = Callable[[str], object]


def measure(size: int, *, rounds: int) -> dict[str, Any]:
    """Fill Engram and each peer with the same memories, then measure them in turn."""
    corpus, rng, embedding = (
        Corpus(0, topics=max(20, size // 200)),
        random.Random(0),
        SharedEmbedding(),
    )
    engram, group = Engram(), f"of-{size}"
    workspace = engram.workspace(group)
    load(corpus, [workspace], size)
    items, vectors = read_back(workspace)
    with web_process() as port, open_peers(embedding) as peers:
        loading = {}
        with embedding.prepared(vectors):
            for peer in peers:
                began = time.perf_counter()
                peer.load(items, group=group)
                loading[peer.name] = round(size / (time.perf_counter() - began), 1)
        every: list[Peer] = [engram, EngramOverHttp(engram, port), *peers]
        numbers = itertools.count()
        queries: dict[str, Call] = {"embedding alone": lambda text: embedding([text])}
        commits = dict(queries)
        for peer in every:
            queries[peer.name] = lambda text, peer=peer: peer.search(text, k=K, group=group)
            commits[peer.name] = lambda text, peer=peer: peer.add(
                Item(f"new-{next(numbers)}", text), group=group
            )
        questions = iter(corpus.question, None)
        statements = (sentence(rng) for _ in itertools.repeat(None))
        return {
            "recall": take_turns(queries, questions, rounds),
            "commit": take_turns(commits, statements, rounds),
            "loaded_a_second": loading,
            "load_average": [round(load, 2) for load in os.getloadavg()],
        }


def read_back(workspace: Workspace) -> tuple[list[Item], dict[str, Floats]]:
    """Return the memories of a workspace with their vectors, to give them to the peers."""
    with in_workspace(workspace):
        texts = dict(Memory.objects.values_list("pk", "content"))
        vectors = dict(MemoryVector.objects.values_list("memory_id", "embedding"))
    items = [Item(str(pk), text) for pk, text in texts.items()]
    return items, {text: np.asarray(vectors[pk], np.float32) for pk, text in texts.items()}


def take_turns(
    calls: dict[str, Call], texts: Iterator[str], rounds: int
) -> dict[str, dict[str, float]]:
    """Time each call once a round, each with a text of its own, in a changing order.

    No text is used twice, because Engram keeps the embeddings of recent queries. The first tenth
    warms up. `ratio` is the median of a call's share of Engram's time in the same round.
    """
    samples: dict[str, list[float]] = {name: [] for name in calls}
    warm = max(1, rounds // 10)
    for number in range(rounds + warm):
        order = list(calls)
        shift = number % len(order)
        for name in order[shift:] + order[:shift]:
            text = next(texts)
            began = time.perf_counter()
            calls[name](text)
            if number >= warm:
                samples[name].append((time.perf_counter() - began) * 1000)
    return {name: summarise(taken, samples[Engram.name]) for name, taken in samples.items()}


def summarise(samples: Sequence[float], of_engram: Sequence[float]) -> dict[str, float]:
    """Return percentiles in milliseconds, and the ratio to Engram."""
    p50, p95 = np.percentile(samples, [50, 95])
    ratio = np.median(np.asarray(samples) / np.asarray(of_engram))
    return {
        "p50_ms": round(float(p50), 1),
        "p95_ms": round(float(p95), 1),
        "ratio": round(float(ratio), 2),
    }
