"""Split a finding with too many members into findings that fit on a card.

Each part has members of both sides, so that it is a question by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from conflicts.core.facts import Finding
from conflicts.core.questions import ask_ambiguity

MAX_MEMBERS: Final = 20  # lineages of a card: a person reads them all to answer


def parts_of(
    finding: Finding, full: frozenset[str], lineage_of: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """Return the groups of facts of each card, in the order of the finding.

    The members of a full card stay on it; when too many are left for one card, the newest come
    first. Each further group gets one fact of the other side.
    """
    facts = finding.fact_ids
    held = [i for i in facts if lineage_of[i] in full]
    if held:
        return [_with_other_side(finding, [i for i in facts if i not in held], held)]
    sides = _sides(finding, facts)
    first = {side[-1] for side in sides if side}
    for i in reversed(facts):
        if len({lineage_of[j] for j in first | {i}}) <= MAX_MEMBERS:
            first.add(i)
    kept = tuple(i for i in facts if i in first)
    return [kept, _with_other_side(finding, [i for i in facts if i not in first], kept)]


def _with_other_side(
    finding: Finding, facts: Sequence[str], held: Sequence[str]
) -> tuple[str, ...]:
    """Return facts with the newest of `held` that is on the other side than their newest."""
    says_yes = facts[-1] in finding.yes_keeps
    other = [i for i in held if (i in finding.yes_keeps) != says_yes] or held
    return tuple(i for i in finding.fact_ids if i in facts or i == other[-1])


def _sides(finding: Finding, facts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the facts that say yes and those that do not; neither is empty."""
    for_yes = [i for i in facts if i in finding.yes_keeps] or list(facts[-1:])
    against = [i for i in facts if i not in for_yes] or list(facts[:-1])
    return for_yes, against


def about(
    finding: Finding,
    facts: tuple[str, ...],
    lineage_of: Mapping[str, str],
    claim_of: Mapping[str, str],
) -> Finding:
    """Return the finding about some of its facts only."""
    for_yes, against = _sides(finding, facts)
    named, other = (claim_of[lineage_of[side[-1]]] for side in (for_yes, against))
    return replace(
        finding,
        kind="ambiguity",
        fact_ids=facts,
        yes_keeps=tuple(i for i in facts if i in for_yes),
        question=ask_ambiguity(named, other),
        suggestion=None,
    )
