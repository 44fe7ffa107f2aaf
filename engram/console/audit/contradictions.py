"""Compare near statements claim by claim, and let the detective find what contradicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from conflicts.core.detective import detect
from conflicts.core.facts import DetectiveSettings, Fact
from conflicts.core.questions import quote
from conflicts.core.rules import gone_then_used, state_returns, value_returns
from engram.console.audit.candidates import Group, near_pairs
from engram.console.audit.contexts import may_clash
from engram.console.audit.documents import Statement
from engram.console.audit.findings import Finding, Place, place_of
from engram.kernel.embedding import embed
from memories.core.claims import ClaimComparison, compare
from memories.core.drift.estimate import Estimate
from memories.core.reasons import distinct

LEAST_CONFIDENCE: Final = 0.8  # of the comparison
LEAST_COSINE: Final = 0.6
LEAST_LIKELIHOOD: Final = 0.5  # of a contradiction
MOST_DOUBT: Final = 0.3  # likelihood of a contradiction from which two texts may not be the same
MOST_PAIRS: Final = 400  # that are embedded, the surest first
_PLACES: Final = 6  # of one text that a finding lists
_QUESTION_CHARS: Final = 130
# Files are read in no order that tells what came after what, so that arcs are not looked for.
_MUTED: Final = frozenset([value_returns.RULE.id, state_returns.RULE.id, gone_then_used.RULE.id])


@dataclass(frozen=True, slots=True)
class Pair:
    """Two groups of statements whose texts were compared, the earlier first."""

    a: Group
    b: Group
    found: ClaimComparison


def compare_near(
    groups: Sequence[Group], advance: Callable[[int], object], total: Callable[[int], object]
) -> list[Pair]:
    """Return the near pairs that contradict each other or say the same, in their order."""
    near = near_pairs([group.text for group in groups])
    total(len(near))
    pairs = []
    for i, j in near:
        advance(1)
        a, b = groups[i], groups[j]
        may_contradict = any(may_clash(s, t) for s in a.statements for t in b.statements)
        may_repeat = {s.path for s in a.statements}.isdisjoint(s.path for s in b.statements)
        if not (may_contradict or may_repeat):
            continue
        found = compare(a.text, b.text)
        is_told = {"contradicts": may_contradict, "same": may_repeat}.get(found.relation, False)
        if is_told and found.confidence >= LEAST_CONFIDENCE:
            pairs.append(Pair(a, b, found))
    return pairs


def find_contradictions(
    pairs: Sequence[Pair],
    time_of: Callable[[Statement], datetime],
    estimate: Estimate,
    model: str,
) -> list[Finding]:
    """Return the contradictions of which comparison, likelihood and the detective are sure."""
    against = [pair for pair in pairs if pair.found.relation == "contradicts"]
    against.sort(key=lambda pair: -pair.found.confidence)
    likely = []
    for pair in against[:MOST_PAIRS]:
        chances = estimate(pair.a.text, pair.b.text)
        if chances.contradicts + chances.updates >= LEAST_LIKELIHOOD:
            likely.append(pair)
    groups = {group.key: group for pair in likely for group in (pair.a, pair.b)}
    if not groups:
        return []
    confirmed = _detected(list(groups.values()), time_of, model)
    return [
        _finding(pair, time_of)
        for pair in likely
        if frozenset([pair.a.key, pair.b.key]) in confirmed
    ]


def _detected(
    groups: Sequence[Group], time_of: Callable[[Statement], datetime], model: str
) -> set[frozenset[str]]:
    """Return the pairs of texts between which the detective sees a conflict."""
    facts = [
        Fact(
            id=str(i), lineage=str(i), content=group.text, scope="",
            project="", agent="", session_key="", observed_at=time_of(group.statements[0]),
            provenance="user_stated",
        )
        for i, group in enumerate(groups)
    ]  # fmt: skip
    vectors = embed([group.text for group in groups], model)
    now = max(fact.observed_at for fact in facts) + timedelta(days=1)
    settings = DetectiveSettings(neighbour_cosine=LEAST_COSINE, muted_rules=_MUTED)
    found = detect(facts, np.asarray(vectors), now=now, settings=settings)
    keys = {fact.id: group.key for fact, group in zip(facts, groups, strict=True)}
    return {
        frozenset([keys[a], keys[b]])
        for finding in found
        for a in finding.fact_ids
        for b in finding.fact_ids
        if a < b
    }


def find_rewordings(pairs: Sequence[Pair], estimate: Estimate) -> list[Finding]:
    """Return the pairs that say the same in other words."""
    same = [pair for pair in pairs if pair.found.relation == "same"]
    return [
        Finding(
            "same-claim",
            _places(pair.a, pair.b),
            f"Should {quote(pair.a.text, _QUESTION_CHARS)} and "
            f"{quote(pair.b.text, _QUESTION_CHARS)} be one statement?",
            "They say the same in other words; an edit of one leaves the other behind.",
        )
        for pair in same[:MOST_PAIRS]
        if estimate(pair.a.text, pair.b.text).contradicts < MOST_DOUBT
    ]


def _finding(pair: Pair, time_of: Callable[[Statement], datetime]) -> Finding:
    older, newer = sorted((pair.a, pair.b), key=lambda g: (time_of(g.statements[0]), g is pair.b))
    reasons = "; ".join(distinct(pair.found.reasons)[:2])
    return Finding(
        "contradiction",
        _places(newer, older),
        f"Does {quote(newer.text, _QUESTION_CHARS)} hold, rather than "
        f"{quote(older.text, _QUESTION_CHARS)}?",
        f"They disagree ({reasons}), and no statement settles which one holds.",
    )


def _places(first: Group, second: Group) -> tuple[Place, ...]:
    return tuple(
        place_of(statement) for group in (first, second) for statement in group.statements[:_PLACES]
    )
