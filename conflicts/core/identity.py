"""Decide which card a finding belongs to, so that people are not asked the same question twice.

A memory has a lineage (its versions); a card covers pairs of lineages, each pair at most once in a
workspace. Findings that share two lineages belong together: N contradicting values are one card,
and a reversal of three facts stays whole. Memories about another subject join no card. A card lists
at most MAX_MEMBERS lineages and counts the others as unlisted; only what a caller reported by name
gets another card instead, together with one member of the first.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from conflicts.core.facts import Finding
from conflicts.core.parts import MAX_MEMBERS, beside_full_card, seat, shorten
from conflicts.core.rules.registry import BY_ANSWERS
from memories.core import claims

LineagePair = frozenset[str]
SameClaim = Callable[[str, str], bool]
OtherSubject = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class OpenCard:
    """A waiting card: the lineages that it covers, and those that it only counts."""

    id: str
    lineages: frozenset[str]
    unlisted: frozenset[str] = frozenset()

    @property
    def known(self) -> frozenset[str]:
        """Return all lineages that the card lists or counts."""
        return self.lineages | self.unlisted


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """A pair of lineages that a person has decided.

    ``claims`` are the members' texts at the time of the verdict; ``rejected`` the lineages that
    lost, empty when both are valid or the card was dismissed. ``answered_anew`` says that the
    members disagree by answers which they did not have then.
    """

    card: str
    claims: Mapping[str, str]
    rejected: frozenset[str] = frozenset()
    answered_anew: bool = False

    @property
    def pair(self) -> LineagePair:
        """Return the two lineages."""
        return frozenset(self.claims)


@dataclass(frozen=True, slots=True)
class Placement:
    """The card of a finding, or why it has none.

    ``lineages`` are all that the card lists for this finding, oldest fact first, and ``unlisted``
    those that it only counts; ``pairs`` are the listed pairs that no card covers yet.
    ``reopened_from`` is the card whose pair is asked about again because a member makes another
    claim now; ``decided_before`` the one with another related verdict: a new memory repeats a
    rejected claim, or a third memory joins a decided pair.
    """

    action: Literal["join", "open", "skip"]
    finding: Finding
    lineages: tuple[str, ...]
    card: str | None = None
    pairs: tuple[LineagePair, ...] = ()
    reopened_from: str | None = None
    decided_before: str | None = None
    unlisted: frozenset[str] = frozenset()


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
    is_reported: bool = False,
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
    is_reported
        Whether a caller named the facts, so that all of them are listed on a card.

    Returns
    -------
    list of Placement
        One per card touched or finding skipped, in order of the findings. A reported finding that
        does not fit on one card has several.
    """
    covered = {pair for card in open_cards for pair in _pairs(sorted(card.lineages))}
    # What a caller reported is listed, so it joins nothing that is only counted.
    cards = {c.id: replace(c, unlisted=frozenset()) if is_reported else c for c in open_cards}
    placed: list[Placement] = []
    opened: dict[int, OpenCard] = {}  # of `placed`, by position
    verdicts: dict[LineagePair, list[DecidedPair]] = defaultdict(list)
    for verdict in decided:
        verdicts[verdict.pair].append(verdict)
    waiting = deque(shorten(finding, lineage_of, claim_of) for finding in findings)
    while waiting:
        finding = waiting.popleft()
        lineages = tuple(dict.fromkeys(lineage_of[i] for i in finding.fact_ids))
        full = is_reported and _full(lineages, [*cards.values(), *opened.values()], is_other)
        if full:
            waiting.appendleft(beside_full_card(finding, full, lineage_of, claim_of))
            continue
        # All are asked, so that what is not known yet is compared at once.
        judged = {
            pair: [_settles(one, finding, claim_of, same_claim) for one in verdicts.get(pair, ())]
            for pair in _pairs(lineages)
        }
        undecided = {pair for pair, is_settled in judged.items() if not any(is_settled)}
        card = _best_card(lineages, cards.values(), is_other)
        sibling = _first_card(lineages, opened, is_other)
        into = card or opened.get(sibling)
        listed = seat(into.lineages if into else frozenset(), lineages)
        further = {*lineages, *(lineage_of[i] for i in finding.unlisted)}.difference(listed)
        fresh = tuple(p for p in _pairs(listed) if p in undecided and p not in covered)
        covered.update(fresh)
        placement = Placement("skip", finding, listed, pairs=fresh, unlisted=frozenset(further))
        if not undecided:
            placed.append(placement)
        elif card is not None:
            placed.append(replace(placement, action="join", card=card.id))
            cards[card.id] = _widen(card, placement)
        elif sibling in opened:
            placed[sibling] = _fold(placed[sibling], placement)
            opened[sibling] = _as_card(placed[sibling])
        else:
            reopened, before = _find_touched_verdicts(
                finding, lineages, claim_of, decided, same_claim
            )
            placed.append(
                replace(placement, action="open", reopened_from=reopened, decided_before=before)
            )
            opened[len(placed) - 1] = _as_card(placed[-1])
    return placed


def _pairs(lineages: Sequence[str]) -> list[LineagePair]:
    return [frozenset(pair) for pair in combinations(lineages, 2)]


def _settles(
    decided: DecidedPair,
    finding: Finding,
    claim_of: Mapping[str, str],
    same_claim: SameClaim,
) -> bool:
    """Return whether a verdict answers a finding: not one by answers that were given since."""
    is_new = decided.answered_anew and not BY_ANSWERS.isdisjoint(finding.rules)
    return _still_holds(decided, claim_of, same_claim) and not is_new


def _still_holds(decided: DecidedPair, claim_of: Mapping[str, str], same_claim: SameClaim) -> bool:
    """Return whether both members still make the claims they made at the verdict."""
    # Both are asked, so that what is not known yet is compared at once.
    held = [
        lineage not in claim_of or same_claim(text, claim_of[lineage])
        for lineage, text in decided.claims.items()
    ]
    return all(held)


def _full(
    lineages: Sequence[str], cards: Iterable[OpenCard], is_other: OtherSubject
) -> frozenset[str]:
    """Return the members of a full card that a finding would join; empty when it has room."""
    for card in cards:
        is_wider = not card.lineages.issuperset(lineages)
        has_room = len(card.lineages.union(lineages)) <= MAX_MEMBERS
        if is_wider and not has_room and _is_one_question(lineages, card, is_other):
            return card.lineages
    return frozenset()


def _as_card(opened: Placement) -> OpenCard:
    return OpenCard("", frozenset(opened.lineages), opened.unlisted)


def _best_card(
    lineages: Sequence[str], cards: Iterable[OpenCard], is_other: OtherSubject
) -> OpenCard | None:
    """Return the open card that shares the most lineages, at least two; the smaller id on a tie."""
    shared = [card for card in cards if _is_one_question(lineages, card, is_other)]
    return min(shared, key=lambda c: (-len(c.known.intersection(lineages)), c.id), default=None)


def _first_card(
    lineages: Sequence[str], opened: Mapping[int, OpenCard], is_other: OtherSubject
) -> int:
    """Return the position of the first new card of this run that shares two lineages, else -1."""
    fitting = (i for i, card in opened.items() if _is_one_question(lineages, card, is_other))
    return next(fitting, -1)


def _is_one_question(lineages: Sequence[str], card: OpenCard, is_other: OtherSubject) -> bool:
    """Return whether a finding shares two lineages with a card and adds no other subject.

    A card that already has several subjects, as older ones may, accepts no more.
    """
    if len(card.known.intersection(lineages)) < 2:
        return False
    newcomers = [lineage for lineage in lineages if lineage not in card.known]
    return not any(is_other(new, member) for new in newcomers for member in card.lineages)


def _widen(card: OpenCard, joined: Placement) -> OpenCard:
    """Return the card with what joins it."""
    lineages = card.lineages.union(joined.lineages)
    return OpenCard(card.id, lineages, card.unlisted.union(joined.unlisted).difference(lineages))


def _fold(first: Placement, second: Placement) -> Placement:
    """Return the first placement, widened by the lineages, pairs and rules of the second."""
    rules = tuple(dict.fromkeys((*first.finding.rules, *second.finding.rules)))
    lineages = tuple(dict.fromkeys((*first.lineages, *second.lineages)))
    return replace(
        first,
        finding=replace(first.finding, rules=rules),
        lineages=lineages,
        pairs=(*first.pairs, *second.pairs),
        unlisted=first.unlisted.union(second.unlisted).difference(lineages),
    )


def _find_touched_verdicts(
    finding: Finding,
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
            if _settles(verdict, finding, claim_of, same_claim):
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
