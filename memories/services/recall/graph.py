"""Score what recall found by links, too, and add what only they lead to."""

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
    """The graph's part in a memory's score: `joined(direct, activation, best)` is its `fused`."""

    direct: float
    activation: float
    best: float
    is_found: bool  # also without links
    _node: Node
    _reached: core.Associations

    @property
    def path(self) -> tuple[Node, ...]:
        """Return the walk that led to it; empty where none did."""
        walked = self._reached.path(self._node)
        return tuple(walked) if walked and walked[0] != self._node else ()


@dataclass(frozen=True, slots=True)
class Walked:
    """The scores with the graph, and its part in each."""

    factors: list[Factors[UUID]]
    parts: dict[UUID, GraphPart]


def walk(
    reader: LinkReader, query: str, found: Sequence[Factors[UUID]], score_found: ScoreFound
) -> Walked:
    """Walk from the memories that were found directly; score them with links, and add others.

    Parameters
    ----------
    score_found : scores memories that only the walk found, as if they had been found directly.
    """
    direct = {Node(core.MEMORY, str(one.id)): one.fused for one in found}
    asked = reader.start(query, core.seeds_of(direct))
    reached = core.associate(direct, asked, reader.links_of)
    led = reached.found(list(direct))
    added = score_found([UUID(node.key) for node in led])
    best = max(direct.values(), default=0.0)
    nodes = dict(zip((one.id for one in found), direct, strict=True))
    nodes |= {UUID(node.key): node for node in led}
    parts = {}
    for one in [*found, *added]:
        node = nodes[one.id]
        activation = reached.activation.get(node, 0.0)
        is_found = direct.get(node, 0.0) > 0
        parts[one.id] = GraphPart(one.fused, activation, best, is_found, node, reached)
        if reached.activation:
            one.join(core.joined(one.fused, activation, best))
    ranked = sorted([*found, *added], key=lambda one: -one.score)
    return Walked(ranked, parts)
