"""Let links raise the scores of what recall found, and add what only they lead to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memories.core import associations as core
from memories.core.fusion import Factors
from memories.core.spreading import Node
from memories.services.recall.links import LinkReader

ScoreFound = Callable[[Sequence[UUID]], Sequence[Factors[UUID]]]


@dataclass(frozen=True, slots=True)
class GraphPart:
    """The graph's part in a memory's score: `lift(direct, activation, best)` is its `fused`."""

    direct: float
    activation: float
    best: float
    path: tuple[Node, ...]  # the walk that led to it; empty where none did
    is_found: bool  # also without links


@dataclass(frozen=True, slots=True)
class Walked:
    """The scores with the graph, and its part in each."""

    factors: list[Factors[UUID]]
    parts: dict[UUID, GraphPart]


def walk(
    reader: LinkReader, query: str, found: Sequence[Factors[UUID]], score_found: ScoreFound
) -> Walked:
    """Walk from the memories that were found directly; raise their scores, and add others.

    Parameters
    ----------
    score_found : scores memories that only the walk found, as if they had been found directly.
    """
    direct = {_node(one.id): one.fused for one in found}
    reached = core.associate(core.restart_of(direct, reader.asked(query)), reader.links_of)
    added = score_found([UUID(node.key) for node in reached.found(list(direct))])
    best = max(direct.values(), default=0.0)
    found_ids = {one.id for one in found if one.fused > 0}
    parts = {}
    for one in [*found, *added]:
        node = _node(one.id)
        activation = reached.activation.get(node, 0.0)
        path = reached.path(node)
        is_led = bool(path) and path[0] != node
        parts[one.id] = GraphPart(
            one.fused, activation, best, tuple(path) if is_led else (), one.id in found_ids
        )
        if activation:
            one.raise_to(core.lift(one.fused, activation, best))
    ranked = sorted([*found, *added], key=lambda one: -one.score)
    return Walked(ranked, parts)


def _node(memory_id: UUID) -> Node:
    return Node(core.MEMORY, str(memory_id))
