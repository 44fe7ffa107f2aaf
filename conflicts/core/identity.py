"""Decide which card a finding belongs to, so that people are not asked the same question twice.

A memory has a lineage (its versions); a card covers pairs of lineages, each pair at most once in a
workspace. Findings that share two lineages belong together: N contradicting values are one card,
and a reversal of three facts stays whole. Memories about another subject join no card. A card has
at most MAX_MEMBERS lineages: the others get another card, together with one member of the first, so
that both cards have two sides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from conflicts.core.facts import Finding
from conflicts.core.parts import MAX_MEMBERS, about, parts_of
from memories.core import claims

LineagePair = frozenset[str]
SameClaim = Callable[[str, str], bool]
OtherSubject = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class OpenCard:
    """A waiting card with the lineages that it covers."""

    id: str
    lineages: frozenset[str]


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """A pair of lineages that a person has decided.

    ``claims`` are the members' texts at the time of the verdict; ``rejected`` the lineages that
    lost, empty when both are valid or the card was dismissed.
    """

    card: str
    claims: Mapping[str, str]
    rejected: frozenset[str] = frozenset()

    @property
    def pair(self) -> LineagePair:
        """Return the two lineages."""
        return frozenset(self.claims)


@dataclass(frozen=True, slots=True)
class Placement:
    """The card of a finding, or why it has none.

    ``lineages`` are all that the card covers for this finding, oldest fact first; ``pairs`` only
    those that no card covers yet. ``reopened_from`` is the card whose pair is asked about again
    because a member makes another claim now; ``decided_before`` the one with another related
    verdict: a new memory repeats a rejected claim, or a third memory joins a decided pair.
    """

    action: Literal["join", "open", "skip"]
    finding: Finding
    lineages: tuple[str, ...]
    card: str | None = None
    pairs: tuple[LineagePair, ...] = ()
    reopened_from: str | None = None
    decided_before: str | None = None


def says_the_same(a: str, b: str) -> bool:
    """Return whether two texts make the same claim, so that an edit changed at most the wording."""
    return a == b or claims.compare(a, b).relation == "same"


def _nobody(a: str, b: str) -> bool:
    """Return False: any two lineages count as one subject."""
    return False


def place(
    findings: Sequence[Finding],
    *,
    lineage_of: Mapping[str, str],
    claim_of: Mapping[str, str],
    open_cards: Sequence[OpenCard],
    decided: Sequence[DecidedPair],
    same_claim: SameClaim = says_the_same,
    is_other: OtherSubject = _nobody,
) -> list[Placement]:
    """Sort findings into open cards, new cards, and what has been decided already.

    Parameters
    ----------
    findings
        Of one run, in its order; a later one that shares two lineages with an earlier new one
        is folded into it.
    lineage_of
        Lineage of each fact id.
    claim_of
        Current text of each lineage.
    open_cards, decided
        What the workspace holds; ``decided`` oldest verdict first.
    same_claim
        Judges whether the claim of a member has changed since the verdict.
    is_other
        Judges whether two lineages clearly speak of two things.

    Returns
    -------
    list of Placement
        One per card touched or finding skipped, in order of the findings. A finding that does not
        fit on one card has several.
    """
    covered = {pair for card in open_cards for pair in _pairs(sorted(card.lineages))}
    cards = {card.id: card.lineages for card in open_cards}
    placed: list[Placement] = []
    waiting = deque(findings)
    while waiting:
        finding = waiting.popleft()
        lineages = tuple(dict.fromkeys(lineage_of[i] for i in finding.fact_ids))
        full = _full(lineages, [*cards.values(), *_select_opened(placed)], is_other)
        if full or len(lineages) > MAX_MEMBERS:
            parts = parts_of(finding, full, lineage_of)
            waiting.extendleft(about(finding, part, lineage_of, claim_of) for part in parts[::-1])
            continue
        settled = {d.pair for d in decided if _still_holds(d, claim_of, same_claim)}
        undecided = [pair for pair in _pairs(lineages) if pair not in settled]
        fresh = tuple(pair for pair in undecided if pair not in covered)
        covered.update(fresh)
        placement = Placement("skip", finding, lineages, pairs=fresh)
        card = _best_card(lineages, cards, is_other)
        sibling = _sibling(lineages, placed, is_other)
        if not undecided:
            placed.append(placement)
        elif card is not None:
            placed.append(replace(placement, action="join", card=card))
            cards[card] = cards[card].union(lineages)
        elif sibling is not None:
            placed[sibling] = _fold(placed[sibling], placement)
        else:
            reopened, before = _find_touched_verdicts(lineages, claim_of, decided, same_claim)
            placed.append(
                replace(placement, action="open", reopened_from=reopened, decided_before=before)
            )
    return placed


def _pairs(lineages: Sequence[str]) -> list[LineagePair]:
    return [frozenset(pair) for pair in combinations(lineages, 2)]


def _still_holds(decided: DecidedPair, claim_of: Mapping[str, str], same_claim: SameClaim) -> bool:
    """Return whether both members still make the claims they made at the verdict."""
    # Both are asked, so that what is not known yet is compared at once.
    held = [
        lineage not in claim_of or same_claim(text, claim_of[lineage])
        for lineage, text in decided.claims.items()
    ]
    return all(held)


def _full(
    lineages: Sequence[str], cards: Sequence[frozenset[str]], is_other: OtherSubject
) -> frozenset[str]:
    """Return the members of a full card that a finding would join; empty when it has room."""
    for members in cards:
        is_wider = not members.issuperset(lineages)
        has_room = len(members.union(lineages)) <= MAX_MEMBERS
        if is_wider and not has_room and _is_one_question(lineages, members, is_other):
            return members
    return frozenset()


def _select_opened(placed: Sequence[Placement]) -> list[frozenset[str]]:
    return [frozenset(one.lineages) for one in placed if one.action == "open"]


def _best_card(
    lineages: Sequence[str], cards: Mapping[str, frozenset[str]], is_other: OtherSubject
) -> str | None:
    """Return the open card that shares the most lineages, at least two; the smaller id on a tie."""
    shared = [
        (-len(members.intersection(lineages)), card)
        for card, members in cards.items()
        if _is_one_question(lineages, members, is_other)
    ]
    return min(shared, default=(0, None))[1]


def _sibling(
    lineages: Sequence[str], placed: Sequence[Placement], is_other: OtherSubject
) -> int | None:
    """Return the position of a new card of this run that shares two lineages."""
    for i, placement in enumerate(placed):
        members = frozenset(placement.lineages)
        if placement.action == "open" and _is_one_question(lineages, members, is_other):
            return i
    return None


def _is_one_question(
    lineages: Sequence[str], members: frozenset[str], is_other: OtherSubject
) -> bool:
    """Return whether a finding shares two lineages with a card and adds no other subject.

    A card that already has several subjects, as older ones may, accepts no more.
    """
    if len(members.intersection(lineages)) < 2:
        return False
    newcomers = [lineage for lineage in lineages if lineage not in members]
    return not any(is_other(new, member) for new in newcomers for member in members)


def _fold(first: Placement, second: Placement) -> Placement:
    """Return the first placement, widened by the lineages, pairs and rules of the second."""
    rules = tuple(dict.fromkeys((*first.finding.rules, *second.finding.rules)))
    return replace(
        first,
        finding=replace(first.finding, rules=rules),
        lineages=tuple(dict.fromkeys((*first.lineages, *second.lineages))),
        pairs=(*first.pairs, *second.pairs),
    )


def _find_touched_verdicts(
    lineages: Sequence[str],
    claim_of: Mapping[str, str],
    decided: Sequence[DecidedPair],
    same_claim: SameClaim,
) -> tuple[str | None, str | None]:
    """Return the newest verdict that a finding reopens, and the newest other related one."""
    members = set(lineages)
    reopened = before = None
    for verdict in reversed(decided):
        if verdict.pair <= members:
            if _still_holds(verdict, claim_of, same_claim):
                before = before or verdict.card
            else:
                reopened = reopened or verdict.card
        elif _is_repeated(verdict, lineages, claim_of, same_claim):
            before = before or verdict.card
    return reopened, before


def _is_repeated(
    verdict: DecidedPair,
    lineages: Sequence[str],
    claim_of: Mapping[str, str],
    same_claim: SameClaim,
) -> bool:
    """Return whether a new memory repeats a rejected claim, against a decided member."""
    if verdict.pair.isdisjoint(lineages):
        return False
    lost = [verdict.claims[lineage] for lineage in sorted(verdict.rejected & verdict.pair)]
    newcomers = [claim_of[lineage] for lineage in lineages if lineage not in verdict.pair]
    return any(same_claim(old, new) for old in lost for new in newcomers)
