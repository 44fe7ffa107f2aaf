"""What commits could ask their writers, and how the threshold rises with what was asked lately."""

from __future__ import annotations

from collections import deque

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core import asking
from memories.core.comparing import CHARS_A_CALL, Comparer
from memories.services.commit import nearby
from memories.services.commit.transaction import Committed
from memories.services.index.search_index import WordIndex


def score_neighbours(workspace: Workspace, result: Committed) -> list[nearby.ScoredPair]:
    """Return the pairs of a commit that no rule judges, the highest score first."""
    comparer = Comparer(CHARS_A_CALL)
    with in_workspace(workspace):
        near = nearby.find_nearby([result], WordIndex(), comparer, workspace.embedding_model)
    return nearby.score_pairs(near.get(0, ()), comparer)


class Restraint:
    """What a writer was asked about its newest memories, one after the other."""

    def __init__(self) -> None:
        self._counts: deque[int] = deque(maxlen=asking.LATELY)

    @property
    def rise(self) -> float:
        """By how much a score must be higher than where little is asked (0 and more)."""
        lately = sum(self._counts) / asking.LATELY
        return asking.threshold(lately) - asking.WORTH_ASKING

    def add(self, asked: int) -> None:
        """Take in how many questions the next memory was asked."""
        self._counts.append(asked)
