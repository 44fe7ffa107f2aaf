"""Join clashes about one matter, so that N disagreeing values are one finding.

The cost grows with the number of clashes, not with its square: groups are found by their members,
and a fact is compared with at most so many members of so many groups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from conflicts.core.ambiguities import find_clash
from conflicts.core.parts import MAX_MEMBERS
from conflicts.core.rules.pair import Clash
from conflicts.core.subjects import are_of_one_subject
from conflicts.core.timeline import Timeline

SAME_MATTER_COSINE: Final = 0.70
# A group with more members than a card lists is settled: newcomers are compared with the first few.
FIRST_MEMBERS: Final = 4
# Of a fact in very many groups, so many are tried.
MAX_GROUPS_TRIED: Final = 24


@dataclass(slots=True)
class _Group:
    """Clashes about one matter, their facts in the order of joining, and facts that do not fit."""

    clashes: list[Clash] = field(default_factory=list)
    members: dict[int, None] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)

    @property
    def compared(self) -> list[int]:
        """Return the members that a newcomer is compared with."""
        is_settled = len(self.members) > MAX_MEMBERS
        return list(islice(self.members, FIRST_MEMBERS if is_settled else None))


def join_clashes(timeline: Timeline, clashes: Sequence[Clash]) -> list[list[Clash]]:
    """Join clashes about one matter.

    A clash joins the first group that it shares a fact with when its other fact disagrees with, or
    is very near to, the members: a chain of different matters stays apart.
    """
    pairs = {(clash.older, clash.newer) for clash in clashes}
    groups: list[_Group] = []
    groups_of: dict[int, list[int]] = defaultdict(list)
    for clash in clashes:
        both = (clash.older, clash.newer)
        near = sorted({g for i in both for g in groups_of[i][:MAX_GROUPS_TRIED]})
        own = next((g for g in near if _fits(timeline, groups[g], both, pairs)), None)
        if own is None:
            own = len(groups)
            groups.append(_Group())
        groups[own].clashes.append(clash)
        for i in both:
            if i not in groups[own].members:
                groups[own].members[i] = None
                groups_of[i].append(own)
    return [group.clashes for group in groups]


def _fits(
    timeline: Timeline, group: _Group, both: tuple[int, int], pairs: set[tuple[int, int]]
) -> bool:
    """Return whether the facts of a clash that are not in the group fit its members."""
    for newcomer in both:
        if newcomer in group.members:
            continue
        if newcomer in group.refused:
            return False
        for member in group.compared:
            pair = (min(newcomer, member), max(newcomer, member))
            if member not in both and pair not in pairs and not _is_one_matter(timeline, *pair):
                group.refused.add(newcomer)
                return False
    return True


def _is_one_matter(timeline: Timeline, older: int, newer: int) -> bool:
    """Return whether two facts of one subject are near in meaning or disagree."""
    if not are_of_one_subject(timeline.facts[i] for i in (older, newer)):
        return False
    is_near = timeline.cosine(older, newer) >= SAME_MATTER_COSINE
    return is_near or find_clash(timeline, older, newer) is not None
