"""Bound what a card lists: a person reads all of it to answer.

Of a finding with more members than a card lists, the newest of both sides are listed and the others
counted (`unlisted`). What a caller reported by name is listed all the same: on a further card, if
its card is full.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from conflicts.core.facts import Finding
from conflicts.core.questions import OF_SOME, ask_ambiguity

MAX_MEMBERS: Final = 12  # lineages that a card lists
MAX_UNLISTED: Final = 1000  # further lineages that a card counts


def shorten(
    finding: Finding, lineage_of: Mapping[str, str], claim_of: Mapping[str, str]
) -> Finding:
    """Return the finding about the newest facts of both sides, as many as a card lists."""
    facts = finding.fact_ids
    if len({lineage_of[i] for i in facts}) <= MAX_MEMBERS:
        return finding
    chosen = {side[-1] for side in _sides(finding, facts) if side}
    for i in reversed(facts):
        if len({lineage_of[j] for j in chosen | {i}}) <= MAX_MEMBERS:
            chosen.add(i)
    listed = tuple(i for i in facts if i in chosen)
    others = tuple(i for i in facts if i not in chosen)
    return replace(
        _about(finding, listed, lineage_of, claim_of), unlisted=(*finding.unlisted, *others)
    )


def beside_full_card(
    finding: Finding,
    full: Collection[str],
    lineage_of: Mapping[str, str],
    claim_of: Mapping[str, str],
) -> Finding:
    """Return the finding about the facts that a full card lacks, with one of its other side."""
    held = [i for i in finding.fact_ids if lineage_of[i] in full]
    facts = [i for i in finding.fact_ids if i not in held]
    says_yes = facts[-1] in finding.yes_keeps
    other = [i for i in held if (i in finding.yes_keeps) != says_yes] or held
    kept = tuple(i for i in finding.fact_ids if i in facts or i == other[-1])
    return _about(finding, kept, lineage_of, claim_of)


def seat(members: Collection[str], lineages: Sequence[str]) -> tuple[str, ...]:
    """Return which lineages a card lists after they join: its members, then the newest of these."""
    newcomers = [lineage for lineage in lineages if lineage not in members]
    room = max(MAX_MEMBERS - len(members), 0)
    admitted = newcomers[len(newcomers) - room :] if len(newcomers) > room else newcomers
    return tuple(lineage for lineage in lineages if lineage in members or lineage in admitted)


def _sides(finding: Finding, facts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the facts that say yes and those that do not; neither is empty."""
    for_yes = [i for i in facts if i in finding.yes_keeps] or list(facts[-1:])
    against = [i for i in facts if i not in for_yes] or list(facts[:-1])
    return for_yes, against


def _about(
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
        reasoning=OF_SOME,
        suggestion=None,
    )
