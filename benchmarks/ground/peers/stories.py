"""Who says that two facts of a story contradict each other, and who at least finds the other one?

Only Engram reports conflicts by itself (`evaluate --conflicts`). What every store can be asked is a
search: given the latest fact of an expected conflict, is another of its facts among the first
five? That is what an agent that compares by itself would have to work with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.ground.peers import open_peers
from benchmarks.ground.peers.engram_store import Engram
from benchmarks.ground.peers.peer import Item, Peer, SharedEmbedding
from engram.console.evaluation import stories
from engram.console.evaluation.stories import StoryRow
from engram.kernel.embedding import embed

K = 5


def measure(path: Path, *, most: int | None) -> dict[str, Any]:
    """Return precision and recall of Engram's cards, and what a search finds by each store."""
    given = stories.read(path)[:most]
    predictions = [{"id": story.id, "conflicts": stories.find(story)} for story in given]
    result = stories.score(given, predictions, seed=0)
    embedding = SharedEmbedding()
    with open_peers(embedding) as peers:
        rows: dict[str, dict[str, Any]] = {}
        for peer in (Engram(), *peers):
            found = asked = 0
            for story in given:
                texts = [fact.content for fact in story.facts]
                with embedding.prepared(dict(zip(texts, embed(texts), strict=True))):
                    hits = find_others(peer, story, group=f"story-{story.id}")
                found, asked = found + sum(hits), asked + len(hits)
            rows[peer.name] = {"conflicts": asked, f"other_fact_in_{K}": found, "cards": None}
    rows[Engram.name]["cards"] = {name: figure.as_json() for name, figure in result.figures.items()}
    return rows


def find_others(peer: Peer, story: StoryRow, *, group: str) -> list[bool]:
    """Return for each expected conflict whether its latest fact leads to another of its facts."""
    if not story.expected:
        return []
    content = {fact.id: fact.content for fact in story.facts}
    items = [
        Item(
            fact.id,
            fact.content,
            {
                "agent": fact.agent,
                "session": fact.session,
                "scope": fact.scope,
                "time": fact.committed_at.isoformat(),
            },
        )
        for fact in story.facts
    ]
    peer.load(items, group=group)
    order = list(content)
    hits = []
    for conflict in story.expected:
        latest = max(conflict.fact_ids, key=order.index)
        ranked = peer.search(content[latest], k=K + 1, group=group)
        others = [key for key in ranked if key != latest][:K]
        hits.append(bool(set(others) & set(conflict.fact_ids)))
    return hits
