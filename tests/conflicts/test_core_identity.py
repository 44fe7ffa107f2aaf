"""Which card a finding belongs to."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.facts import Finding
from conflicts.core.identity import DecidedPair, OpenCard, Placement, place
from conflicts.core.parts import MAX_MEMBERS


def finding(*lineages: str) -> Finding:
    """A finding over facts whose ids are those of their lineages."""
    return Finding(
        kind="ambiguity",
        fact_ids=lineages,
        yes_keeps=lineages[-1:],
        question="Is it so?",
        reasoning="They disagree.",
        severity="medium",
        confidence=0.7,
        suggestion=None,
        rules=("ambiguity.number",),
    )


CLAIMS = {
    "a": "The limit is 10 MB.",
    "b": "The limit is 20 MB.",
    "c": "The limit is 30 MB.",
    "d": "The port is 80.",
    "e": "The limit is 10 MB.",
}


def decide(
    *findings: Finding,
    cards: dict[str, str] | None = None,
    decided: tuple[DecidedPair, ...] = (),
    claims: dict[str, str] | None = None,
) -> list[Placement]:
    texts = {**CLAIMS, **(claims or {})}
    return place(
        findings,
        lineage_of={name: name for name in texts},
        claim_of=texts,
        open_cards=[OpenCard(card, frozenset(names)) for card, names in (cards or {}).items()],
        decided=decided,
        same_claim=str.__eq__,
    )


def pairs(*names: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(name) for name in names)


def verdict(card: str, winner: str, loser: str | None = None, other: str = "") -> DecidedPair:
    names = (winner, loser or other)
    return DecidedPair(card, {n: CLAIMS[n] for n in names}, frozenset({loser} if loser else ()))


def test_new_finding_opens_a_card_with_all_its_pairs() -> None:
    arc = finding("a", "b", "c")
    assert decide(arc) == [
        Placement("open", arc, ("a", "b", "c"), pairs=pairs("ab", "ac", "bc")),
    ]


def test_finding_that_shares_two_lineages_joins_the_card() -> None:
    arc = finding("a", "b", "c")
    assert decide(arc, cards={"K": "ab", "M": "cd"}) == [
        Placement("join", arc, ("a", "b", "c"), card="K", pairs=pairs("ac", "bc")),
    ]


def test_second_run_joins_without_new_pairs() -> None:
    again = finding("b", "a")
    assert decide(again, cards={"K": "ab"}) == [Placement("join", again, ("b", "a"), card="K")]


def test_finding_that_shares_one_lineage_opens_its_own_card() -> None:
    other = finding("b", "d")
    assert [p.action for p in decide(other, cards={"K": "ab"})] == ["open"]


def test_finding_joins_the_card_with_most_in_common() -> None:
    arc = finding("a", "b", "c")
    assert [p.card for p in decide(arc, cards={"K": "ab", "M": "abc", "L": "abc"})] == ["L"]


def test_disagreeing_values_of_one_run_are_one_card() -> None:
    first, second = finding("a", "b"), finding("a", "b", "c")
    assert decide(first, second) == [
        Placement("open", first, ("a", "b", "c"), pairs=pairs("ab", "ac", "bc")),
    ]


def test_decided_pair_is_skipped() -> None:
    pair = finding("a", "b")
    assert decide(pair, decided=(verdict("K", "b", other="a"),)) == [
        Placement("skip", pair, ("a", "b")),
    ]


def test_decided_pair_comes_back_linked_when_a_claim_has_changed() -> None:
    pair = finding("a", "b")
    old = verdict("K", "b", other="a")
    assert decide(pair, decided=(old,), claims={"a": "The limit is 99 MB."}) == [
        Placement("open", pair, ("a", "b"), pairs=pairs("ab"), reopened_from="K"),
    ]


def test_new_memory_with_a_rejected_value_opens_a_linked_card() -> None:
    again = finding("b", "e")
    assert decide(again, decided=(verdict("K", "b", loser="a"),)) == [
        Placement("open", again, ("b", "e"), pairs=pairs("be"), decided_before="K"),
    ]


def test_new_memory_with_another_value_opens_an_unlinked_card() -> None:
    other = finding("b", "c")
    assert [p.decided_before for p in decide(other, decided=(verdict("K", "b", loser="a"),))] == [
        None
    ]


def test_third_value_beside_a_decided_pair_opens_a_linked_card_for_the_new_pairs() -> None:
    arc = finding("a", "b", "c")
    assert decide(arc, decided=(verdict("K", "b", other="a"),)) == [
        Placement("open", arc, ("a", "b", "c"), pairs=pairs("ac", "bc"), decided_before="K"),
    ]


def test_a_card_may_reopen_one_verdict_and_repeat_what_another_rejected() -> None:
    arc = finding("a", "b", "d")
    decided = (verdict("K", "b", loser="c"), verdict("L", "b", other="a"))
    claims = {"a": "The limit is 99 MB.", "d": CLAIMS["c"]}
    [placed] = decide(arc, decided=decided, claims=claims)
    assert (placed.reopened_from, placed.decided_before) == ("L", "K")


def test_two_versions_of_one_lineage_are_no_pair() -> None:
    versions = Finding("ambiguity", ("a1", "a2"), ("a2",), "Is it so?", "r", "low", 0.5, None, ())
    placed = place(
        [versions],
        lineage_of={"a1": "a", "a2": "a"},
        claim_of={"a": "x"},
        open_cards=[],
        decided=[],
    )
    assert placed == [Placement("skip", versions, ("a",))]


GROUPS = st.lists(st.sets(st.sampled_from("abcde"), min_size=2, max_size=4), max_size=6)


@given(GROUPS, st.sets(st.sampled_from("abcde"), min_size=2, max_size=3))
def test_each_pair_is_given_to_one_card_only(groups: list[set[str]], card: set[str]) -> None:
    placed = decide(*(finding(*sorted(g)) for g in groups), cards={"K": "".join(card)})
    given_pairs = [pair for p in placed for pair in p.pairs]
    assert len(given_pairs) == len(set(given_pairs))
    assert not set(given_pairs) & {frozenset(pair) for pair in combinations(card, 2)}
    expected = {frozenset(pair) for g in groups for pair in combinations(sorted(g), 2)}
    assert expected <= set(given_pairs) | {frozenset(pair) for pair in combinations(card, 2)}


MANY = [f"m{n:02}" for n in range(3 * MAX_MEMBERS)]


Cards = dict[str, OpenCard]


def file_all(findings: list[Finding], held: Cards, *, is_reported: bool = False) -> Cards:
    """Return the cards after the findings were placed."""
    found = place(
        findings,
        lineage_of={name: name for name in MANY},
        claim_of={name: f"The limit is {name}." for name in MANY},
        open_cards=list(held.values()),
        decided=(),
        same_claim=str.__eq__,
        is_reported=is_reported,
    )
    cards = dict(held)
    for placement in found:
        assert set(placement.finding.fact_ids) <= {*placement.lineages, *placement.unlisted}
        assert set().union(*placement.pairs) <= set(placement.lineages)
        yes = set(placement.finding.yes_keeps)
        assert yes, "somebody says yes"
        assert yes < set(placement.finding.fact_ids), "and somebody says no"
        if is_reported:
            assert not placement.unlisted
        name = placement.card or f"new {len(cards)}"
        card = cards.get(name, OpenCard(name, frozenset()))
        members = card.lineages.union(placement.lineages)
        cards[name] = OpenCard(name, members, (card.unlisted | placement.unlisted) - members)
    return cards


STORIES = st.lists(
    st.lists(st.sampled_from(MANY), min_size=2, unique=True).map(sorted), min_size=1, max_size=6
)


@given(STORIES, st.integers(1, 5), st.booleans())
def test_no_card_lists_too_many_and_nobody_is_left_out(
    stories: list[list[str]], yes: int, is_reported: bool
) -> None:
    cards: Cards = {}
    for whole in stories:
        story = whole[:MAX_MEMBERS] if is_reported else whole
        keeps = tuple(story[-min(yes, len(story) - 1) :])
        asked = replace(finding(*story), yes_keeps=keeps)
        cards = file_all([asked], cards, is_reported=is_reported)
        assert max(len(card.lineages) for card in cards.values()) <= MAX_MEMBERS
        assert set(story) <= set().union(*(card.known for card in cards.values()))
        if is_reported:
            assert set(story) <= set().union(*(card.lineages for card in cards.values()))
        assert file_all([asked], cards, is_reported=is_reported) == cards, "asked once"


@given(STORIES)
def test_findings_of_one_run_share_the_room_of_a_card(stories: list[list[str]]) -> None:
    held = {"K": OpenCard("K", frozenset(MANY[: MAX_MEMBERS - 1]))}
    cards = file_all([finding(*story) for story in stories], held)
    assert max(len(card.lineages) for card in cards.values()) <= MAX_MEMBERS
    assert set().union(*map(set, stories)) <= set().union(*(c.known for c in cards.values()))


def test_a_new_value_of_a_full_card_is_counted_there() -> None:
    full = OpenCard("K", frozenset(MANY[:MAX_MEMBERS]), frozenset(MANY[MAX_MEMBERS:20]))
    for near in (MANY[0], MANY[15]):  # listed, counted
        cards = file_all([finding(MANY[16], near, MANY[30])], {"K": full})
        assert cards == {"K": replace(full, unlisted=full.unlisted | {MANY[30]})}
