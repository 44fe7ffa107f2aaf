"""Spread activation from some nodes of a graph along its links, as personalised PageRank does.

    arrived(0) = restart
    arrived(s + 1)[t] = damping · Σ over the links n → t of kept(s)[n] · weight(n → t)
    activation[n] = Σ over s ≥ 1 of arrived(s)[n]

`kept` are the most active nodes of a step; the rest of its mass is lost. The weights of the links
of a node add up to at most 1, so mass is never made: each step moves at most `damping` of the mass
of the step before, in any graph, with cycles too. A walk reads the links of at most
`steps · frontier` nodes, however many there are, each once; it does not read those of nodes that
have less than `least` together. Sums are rounded once (`math.fsum`), so that the result does not
depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from math import fsum
from types import MappingProxyType
from typing import NamedTuple

EPSILON = 1e-9  # a sum of weights may exceed 1 by so much


class Node(NamedTuple):
    """A node of the graph: what it is, and its id or key."""

    kind: str
    key: str


Weights = Mapping[Node, float]
LinksOf = Callable[[Collection[Node]], Mapping[Node, Weights]]
_NO_LINKS: Weights = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Spread:
    """The activation of each node that was reached, and the step before it on its best path."""

    activation: dict[Node, float] = field(default_factory=dict)
    _best: dict[Node, tuple[float, int]] = field(default_factory=dict)  # largest arrival, its step
    _before: list[dict[Node, tuple[float, Node]]] = field(default_factory=list)

    def path(self, node: Node) -> list[Node]:
        """Return the walk that brought a node most of its activation in one step, start first.

        Where the walk came back to a node, the round is left out, so each node is named once. Empty
        for a node that was not reached.
        """
        if node not in self._best:
            return []
        found = [node]
        for step in range(self._best[node][1], -1, -1):
            node = self._before[step][node][1]
            if node in found[1:]:
                del found[found.index(node, 1) :]
            found.append(node)
        return found[::-1]


def spread(
    restart: Weights,
    links_of: LinksOf,
    *,
    steps: int,
    damping: float,
    frontier: int,
    least: float = 0.0,
) -> Spread:
    """Spread the mass of `restart` over the graph.

    Parameters
    ----------
    restart : mass by node, each at least 0.
    links_of : returns the links of nodes, with weights that add up to at most 1 for each node. It
        may return those of further nodes, which are not asked for again.
        Nodes that may not be walked through are simply never named by it. Called once a step at
        most, with nodes that it was not called with before.
    steps : the number of links that mass moves along.
    damping : the share of mass that moves on, in (0, 1].
    frontier : the most nodes whose links are followed in one step.
    least : the least mass that nodes of a step have together for their links to be read. A read
        costs as much for one node as for many, and the last steps come to few new ones.

    Raises
    ------
    ValueError
        When the weights of a node's links are negative or add up to more than 1.
    """
    found = Spread()
    activation, best = found.activation, found._best
    links: dict[Node, Weights] = {}
    kept = _most_active(restart, frontier)
    for step in range(steps):
        unread = [node for node in kept if node not in links]
        if unread and fsum(kept[node] for node in unread) >= least:
            links |= dict.fromkeys(unread, _NO_LINKS)
            links |= _checked(links_of(unread))
        arrived, before = _move(kept, links, damping)
        if not arrived:
            break
        found._before.append(before)
        for node, mass in arrived.items():
            activation[node] = activation.get(node, 0.0) + mass
            largest = before[node][0]
            if node not in best or largest > best[node][0]:
                best[node] = (largest, step)
        kept = _most_active(arrived, frontier)
    return found


def _move(
    kept: Weights, links: Mapping[Node, Weights], damping: float
) -> tuple[dict[Node, float], dict[Node, tuple[float, Node]]]:
    """Move mass along links; return what arrived, and the largest part of it with its origin."""
    parts: dict[Node, list[float]] = {}
    before: dict[Node, tuple[float, Node]] = {}
    for node, own in kept.items():
        moving = damping * own
        for target, weight in links.get(node, _NO_LINKS).items():
            mass = moving * weight
            if mass <= 0:
                continue
            known = before.get(target)
            if known is None:
                parts[target], before[target] = [mass], (mass, node)
                continue
            parts[target].append(mass)
            if mass > known[0] or (mass == known[0] and node < known[1]):
                before[target] = (mass, node)
    return {target: fsum(masses) for target, masses in parts.items()}, before


def _checked(links: Mapping[Node, Weights]) -> Mapping[Node, Weights]:
    for weights in links.values():
        if weights and (min(weights.values()) < 0 or sum(weights.values()) > 1 + EPSILON):
            raise ValueError("the weights of a node's links must add up to at most 1")
    return links


def _most_active(mass: Weights, most: int) -> dict[Node, float]:
    """Return the nodes with the most mass, ties by node; those without mass are left out."""
    least = min(nlargest(most, mass.values()), default=0.0)
    best = [(-own, node) for node, own in mass.items() if own >= least and own > 0]
    return {node: -own for own, node in sorted(best)[:most]}
