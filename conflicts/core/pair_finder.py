"""Find stale claims and ambiguities among pairs of facts, one fact after the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from conflicts.core.ambiguities import find_clash
from conflicts.core.clash_groups import join_clashes
from conflicts.core.facts import Finding
from conflicts.core.findings import of_clashes
from conflicts.core.rules import gone_then_used, version_left
from conflicts.core.rules.pair import Clash
from conflicts.core.subjects import are_of_one_subject
from conflicts.core.timeline import Timeline


class PairFinder:
    """Compares facts with their neighbours, each pair once.

    Parameters
    ----------
    timeline
        The facts.
    states
        Those that declare a state and nothing else: they take no part.
    taken
        Facts of findings: pairs within one of them are left out.
    """

    def __init__(
        self, timeline: Timeline, states: Collection[int], taken: Sequence[set[int]]
    ) -> None:
        self._timeline, self._taken = timeline, taken
        past = {i for i, fact in enumerate(timeline.facts) if fact.is_past}
        self._apart = past.union(states)
        self._seen: set[tuple[int, int]] = set()
        self._stale: dict[tuple[int, int], Finding] = {}
        self._clashes: dict[tuple[int, int], Clash] = {}

    def read(self, position: int) -> None:
        """Compare a fact with its neighbours."""
        if position in self._apart:
            return
        for other in self._timeline.neighbours(position):
            pair = (min(position, other), max(position, other))
            if other not in self._apart and pair not in self._seen:
                self._seen.add(pair)
                self._compare(*pair)

    def findings(self) -> list[Finding]:
        """Return what the pairs give, those that clash about one matter as one finding."""
        clashes = [self._clashes[pair] for pair in sorted(self._clashes)]
        groups = join_clashes(self._timeline, clashes)
        return [
            *(self._stale[pair] for pair in sorted(self._stale)),
            *(of_clashes(self._timeline, group) for group in groups),
        ]

    def _compare(self, older: int, newer: int) -> None:
        timeline, muted = self._timeline, self._timeline.settings.muted_rules
        if any({older, newer} <= facts for facts in self._taken):
            return
        stale = _find_stale(timeline, older, newer)
        clash = None if stale else find_clash(timeline, older, newer)
        if clash and clash.rule.id in muted:
            clash = None
        facts = (timeline.facts[older], timeline.facts[newer])
        if not (stale or clash) or not are_of_one_subject(facts):
            return
        if stale:
            self._stale[older, newer] = stale
        if clash:
            self._clashes[older, newer] = clash


def _find_stale(timeline: Timeline, older: int, newer: int) -> Finding | None:
    """Return what makes the older fact stale, by the rules that are not muted."""
    muted = timeline.settings.muted_rules
    if gone_then_used.RULE.id not in muted and (
        ending := gone_then_used.find(timeline, older, newer)
    ):
        return gone_then_used.finding_of(timeline, ending)
    return None if version_left.RULE.id in muted else version_left.find(timeline, older, newer)
