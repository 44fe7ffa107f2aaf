"""What happens to the second of two related statements?

For each pair the first is stored, then the second. Every store is asked how many memories are there
afterwards. Engram may also show people or agents how the two relate: it opens a card (a question to
a person), or its answer to the commit names the first (`suggested`, `kept_apart`, `nearby`). The
peers have no such answer without a language model: None, not 0.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.ground.peers import open_peers
from benchmarks.ground.peers.engram_store import Engram
from benchmarks.ground.peers.peer import Item, Peer, SharedEmbedding
from engram.console.evaluation.lines import InputRow, read_rows
from engram.console.evaluation.stories import cards
from engram.console.scratch import commit_rows, scratch_workspace
from engram.kernel.embedding import embed
from memories.services.commit.draft import Draft

NOW = datetime(2025, 1, 1, tzinfo=UTC)
VERBATIM = "verbatim"


class RelatedPair(InputRow):
    """Two statements, the second written later by another agent."""

    id: str
    a: str
    b: str
    label: str


def measure(path: Path, *, each: int) -> dict[str, Any]:
    """Return for each label what Engram and the peers make of a sample of pairs."""
    sample = draw(read_rows(path, RelatedPair), each, random.Random(0))
    pairs = [pair for of_label in sample.values() for pair in of_label]
    texts = sorted({text for pair in pairs for text in (pair.a, pair.b)})
    embedding = SharedEmbedding()
    rows: dict[str, dict[str, Any]] = {Engram.name: {}}
    with open_peers(embedding) as peers:
        known = dict(zip(texts, embed(texts), strict=True)) if peers else {}
        with embedding.prepared(known):
            for label, of_label in sample.items():
                rows[Engram.name][label] = tally([commit_both(pair) for pair in of_label])
                for peer in peers:
                    found = [(add_both(peer, pair), None, None) for pair in of_label]
                    rows.setdefault(peer.name, {})[label] = tally(found)
    return rows


def draw(
    pairs: Sequence[RelatedPair], each: int, rng: random.Random
) -> dict[str, list[RelatedPair]]:
    """Draw so many pairs of each label; `verbatim` ones repeat their first statement."""
    by_label: dict[str, list[RelatedPair]] = defaultdict(list)
    for pair in pairs:
        by_label[pair.label].append(pair)
    repeated = list({pair.a: pair.model_copy(update={"b": pair.a}) for pair in pairs}.values())
    by_label[VERBATIM] = [
        pair.model_copy(update={"id": f"{VERBATIM}-{pair.id}"}) for pair in repeated
    ]
    return {
        label: rng.sample(found, min(each, len(found))) for label, found in sorted(by_label.items())
    }


def commit_both(pair: RelatedPair) -> tuple[int, bool, bool]:
    """Return the number of memories in Engram, whether a card opened, whether it names `a`."""
    with scratch_workspace() as workspace:
        first, second = (
            commit_rows(workspace, [Draft(content=text, agent=agent)], now=NOW + later)[0]
            for text, agent, later in (
                (pair.a, "stored", timedelta()),
                (pair.b, "incoming", timedelta(days=1)),
            )
        )
        if first is None or second is None or first.memory is None or second.memory is None:
            return int(first is not None) + int(second is not None), False, True  # it was refused
        ids = {first.memory.id, second.memory.id}
        opened = cards(workspace, defaultdict(list), now=NOW + timedelta(days=2))
        named = second.outcome in ("suggested", "kept_apart") or bool(second.nearby)
        return len(ids), bool(opened), named


def add_both(peer: Peer, pair: RelatedPair) -> int:
    """Return how many memories a peer has afterwards."""
    group = f"pair-{pair.id}"
    peer.add(Item("a", pair.a, {"agent": "stored"}), group=group)
    peer.add(Item("b", pair.b, {"agent": "incoming"}), group=group)
    return peer.count(group)


def tally(found: Sequence[tuple[int, bool | None, bool | None]]) -> dict[str, int | None]:
    """Count pairs: kept as two, stored as one, with a card, named in the commit's answer."""

    def count(position: int) -> int | None:
        values = [row[position] for row in found]
        return None if None in values else sum(map(bool, values))

    return {
        "pairs": len(found),
        "kept_as_two": sum(memories == 2 for memories, _, _ in found),
        "stored_as_one": sum(memories == 1 for memories, _, _ in found),
        "card_opened": count(1),
        "named_in_answer": count(2),
    }
