"""Weigh the links between memories, and join the activation that spreads along them with scores.

Recall seeds the walk (`memories.core.spreading`) with what it found by itself:

    restart = (1 - a) · fused⁴ of the best `SEEDS`, scaled to 1 - a together
            + a · ln(1 + N / n) of the entities that the query names, scaled to a together

a is `ASKED_SHARE`, or 0 where the query names no entity that a memory is about. N is the number of
memories, n of those that name the entity; an entity of one memory, or of more than
`most_memories(N)`, links nothing. The links of a memory are the entities it names, each with
ln(1 + N / n) / ln(1 + N / 2), the notes it links (1), the memories it is drawn from or that are
drawn from it (1), and those recalled with it (up to 1); they are divided by their sum, or by `LEAK`
if that is more, so that a memory with few or common links passes little on. An entity or note links
each of its memories with 1 where the memory is about it and `MENTION` where it only names it,
divided by their sum, or by 1 if that is more. An entity of the query links the memories that are
about it, equally.

    activation = (A + `KEPT` · own) / the largest (A + `KEPT` · own)    A: what arrived along links
    fused      = best · (max(direct / best, `LEAST_DIRECT`) · activation)^(1/`ROOT`)

`own` is what the restart of a memory is, or would be if it were among the best `SEEDS`; best is the
largest `direct`. A memory scores well that fits the query itself and that links lead to: the
product of both. As `own` is the fourth power of `direct`, the fifth root leaves scores as they were
where no links lead anywhere; where links lead to more than the best has of its own, memories that
none leads to fall behind. None scores more than the best that was found directly.

The constants were chosen on MuSiQue's training passages, HotpotQA and LoCoMo; the figures, those of
sets that nothing was chosen on first, are in `docs/tuning.md`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memories.core.spreading import LinksOf, Node, Spread, Weights, spread

SEEDS: Final = 8
SEED_POWER: Final = 4
ASKED_SHARE: Final = 0.5
LEAK: Final = 2.0
MENTION: Final = 0.1
KEPT: Final = 0.5
ROOT: Final = 1 + SEED_POWER  # leaves scores as they are where links lead nowhere
LEAST_DIRECT: Final = 0.1  # of the best: so much fits what links alone lead to
STEPS: Final = 6  # three times from a memory to an entity and on to memories
DAMPING: Final = 0.92  # .85 for each two steps
FRONTIER: Final = 12
LEAST_READ: Final = 0.04  # of the mass at the start: what nodes need for their links to be read
FOUND: Final = 8  # the most memories that the walk alone adds
MOST_MEMORIES: Final = 25  # of an entity; one that more memories name links nothing
LEAST_MEMORIES: Final = 8
COMMON_SHARE: Final = 0.01

MEMORY: Final = "memory"
ENTITY: Final = "entity"
NOTE: Final = "note"
ASKED: Final = "asked"  # an entity that the query names; it leads to itself as `NAMED`
NAMED: Final = "named"  # which leads to memories, in step with the entities of the seeds


def most_memories(memories: int) -> int:
    """Return how many memories may name an entity that links them, in a workspace of so many."""
    return min(MOST_MEMORIES, max(LEAST_MEMORIES, int(COMMON_SHARE * memories)))


@lru_cache(maxsize=1024)
def rarity(named: float, memories: int) -> float:
    """Return the weight of an entity that `named` memories name: 1 for two, less for more."""
    return math.log1p(memories / named) / math.log1p(memories / 2)


def out_of_memory(links: Weights) -> dict[Node, float]:
    """Return the weights of a memory's links, at most 1 together."""
    total = max(LEAK, math.fsum(links.values()))
    return {node: weight / total for node, weight in links.items()}


def out_of_hub(members: Mapping[Node, float]) -> dict[Node, float]:
    """Return the weights of the links of an entity or a note, at most 1 together.

    Parameters
    ----------
    members : 1 for each of its memories that is about it, 0 for one that only names it.
    """
    about = sum(members.values())
    total = max(1.0, about + MENTION * (len(members) - about))
    of_about, of_others = 1.0 / total, MENTION / total
    return {node: of_about if is_about else of_others for node, is_about in members.items()}


def seeds_of(direct: Mapping[Node, float]) -> list[Node]:
    """Return the memories that the walk starts from: the best, at most `SEEDS`."""
    related = [node for node, score in direct.items() if score > 0]
    return sorted(related, key=lambda node: (-direct[node], node))[:SEEDS]


def own_of(direct: Mapping[Node, float], asked: Mapping[Node, float]) -> dict[Node, float]:
    """Return the restart of each memory, as if it were among the best `SEEDS`.

    Parameters
    ----------
    direct : the scores in [0, 1] of the memories that were found directly.
    asked : the weights of entities that the query names, above 0.
    """
    total = math.fsum(direct[node] ** SEED_POWER for node in seeds_of(direct))
    share = 1.0 - _asked_share(asked)
    return {node: share * one**SEED_POWER / total if total else 0.0 for node, one in direct.items()}


def _asked_share(asked: Mapping[Node, float]) -> float:
    return ASKED_SHARE if asked else 0.0


def _scaled(weights: Mapping[Node, float], to: float) -> dict[Node, float]:
    total = math.fsum(weights.values())
    return {node: to * weight / total for node, weight in weights.items()} if total > 0 else {}


@dataclass(frozen=True, slots=True)
class Associations:
    """What the walk reached: the activation in [0, 1] of memories, and their paths."""

    activation: dict[Node, float]
    _spread: Spread

    def path(self, node: Node) -> list[Node]:
        """Return the walk to a memory, start first; empty for one that it did not reach."""
        return self._spread.path(node)

    def found(self, known: Sequence[Node]) -> list[Node]:
        """Return the most active memories that are not known yet, at most `FOUND`."""
        skipped = frozenset(known)
        new = [node for node in self.activation if node not in skipped]
        return sorted(new, key=lambda node: (-self.activation[node], node))[:FOUND]


def associate(
    direct: Mapping[Node, float], asked: Mapping[Node, float], links_of: LinksOf
) -> Associations:
    """Walk from what was found and what is asked about, and return the memories' activation.

    Empty where links lead to no memory.

    Parameters
    ----------
    direct : the scores in [0, 1] of the memories that were found directly.
    asked : the weights of entities that the query names, above 0.
    """
    own = own_of(direct, asked)
    restart = {node: own[node] for node in seeds_of(direct)} | _scaled(asked, _asked_share(asked))
    reached = spread(
        restart,
        links_of,
        steps=STEPS,
        damping=DAMPING,
        frontier=FRONTIER,
        least=LEAST_READ,
    )
    arrived = {node: mass for node, mass in reached.activation.items() if node.kind == MEMORY}
    if not arrived:
        return Associations({}, reached)
    nodes = own.keys() | arrived.keys()
    mass = {node: arrived.get(node, 0.0) + KEPT * own.get(node, 0.0) for node in nodes}
    largest = max(mass.values())
    return Associations({node: one / largest for node, one in mass.items()}, reached)


def joined(direct: float, activation: float, best: float) -> float:
    """Return the fused score of a memory, by how it fits and what links lead to.

    Parameters
    ----------
    direct : how well it fits the query by itself, in [0, 1].
    activation : in [0, 1].
    best : the largest `direct`.
    """
    return best * (fits_of(direct, best) * activation) ** (1 / ROOT) if best > 0 else direct


def fits_of(direct: float, best: float) -> float:
    """Return how a memory fits, beside the best, as `joined` counts it: in [`LEAST_DIRECT`, 1]."""
    return min(1.0, max(direct / best, LEAST_DIRECT))
