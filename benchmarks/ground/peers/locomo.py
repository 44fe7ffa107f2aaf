"""How much of the evidence for LoCoMo's questions is found among the first ten?

Storage and scoring are those of `manage.py evaluate --retrieval`: a conversation is a group, a turn
a memory, every recall is uncut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.ground.peers import open_peers
from benchmarks.ground.peers.engram_store import Engram
from benchmarks.ground.peers.peer import Item, SharedEmbedding
from engram.console.evaluation import retrieval
from engram.console.evaluation.retrieval import MemoryRow, QuestionRow
from engram.console.scratch import refresh_statistics, scratch_workspace
from engram.kernel.embedding import embed

K = 10
SHOWN = ("recall@10", "ndcg@10")


def measure(memories: Path, questions: Path) -> dict[str, Any]:
    """Return the figures of Engram and of each peer."""
    corpus, asked = retrieval.read(memories, questions)
    everything = [question for group in asked.values() for question in group]
    ranked: dict[str, list[dict[str, object]]] = {Engram.name: []}
    embedding = SharedEmbedding()
    with open_peers(embedding) as peers:
        for group, rows in corpus.items():
            wanted = [question for question in asked.get(group, ()) if question.is_scored]
            ranked[Engram.name] += ask_engram(rows, wanted)
            items = [as_item(row) for row in rows]
            texts = [*(item.text for item in items), *(q.question for q in wanted)]
            with embedding.prepared(dict(zip(texts, embed(texts), strict=True))):
                for peer in peers:
                    peer.load(items, group=group)
                    ranked.setdefault(peer.name, []).extend(
                        {"id": q.id, "ranked": peer.search(q.question, k=K, group=group)}
                        for q in wanted
                    )
    return {name: figures(everything, answers) for name, answers in ranked.items()}


def ask_engram(
    rows: Sequence[MemoryRow], questions: Sequence[QuestionRow]
) -> list[dict[str, object]]:
    """Return what Engram ranks, as `evaluate --retrieval` asks it."""
    now = max((row.time for row in rows if row.time), default=retrieval.UNDATED)
    now += timedelta(hours=1)
    with scratch_workspace() as workspace:
        names = retrieval.store(workspace, rows, now=now, advance=lambda _: None)
        refresh_statistics()
        return [
            {"id": q.id, "ranked": retrieval.ask(workspace, q.question, names, now=now)}
            for q in questions
        ]


def as_item(row: MemoryRow) -> Item:
    """Return a turn as the peers store it, with who said it and when beside it."""
    metadata = {"agent": row.speaker, "session": row.session}
    metadata |= {"time": row.time.isoformat()} if row.time else {}
    return Item(row.id, row.stored_text, metadata)


def figures(
    questions: Sequence[QuestionRow], answers: Sequence[Mapping[str, object]]
) -> dict[str, Any]:
    """Return the means with their intervals."""
    found = retrieval.score(questions, answers, seed=0).figures
    return {name: found[name].as_json() for name in SHOWN}
