"""The ideas of a session: the baseline's order, who is given, what matches, what text can do."""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.baseline import age_days, effectiveness, order_key
from memories.core.briefing import DECIDED, NOTES, BriefingEntry, write_briefing
from memories.core.hits import Match, PromptTerms, match_prompt, prompt_terms, rare_terms
from memories.core.injection import Contender, InjectionBudget, LearnedScores, Placed, inject
from memories.core.quoting import quote_line, visible
from tests.conftest import NOW

NO_SCORES: LearnedScores[int] = LearnedScores({})
KINDS: list[Any] = ["", "", "", "pin", "constraint"]

contenders = st.lists(st.tuples(st.integers(1, 60), st.sampled_from(KINDS)), max_size=30).map(
    lambda rows: [
        Contender(n, chars, always, (float(chars % 3),)) for n, (chars, always) in enumerate(rows)
    ]
)
budgets = st.builds(InjectionBudget, st.integers(1, 12), st.integers(0, 300))


@st.composite
def requests(draw: Any) -> tuple[list[Contender[int]], LearnedScores[int], InjectionBudget]:
    """Return contenders, scores of all of them, and a budget."""
    some = draw(contenders)
    scores = {c.id: draw(st.floats(-5, 5)) for c in some}
    learned = LearnedScores(
        scores,
        alpha=draw(st.floats(0, 1)),
        rrf_k=draw(st.integers(1, 30)),
        exploration_rate=draw(st.sampled_from([0.0, 0.5, 1.0])),
    )
    return some, learned, draw(budgets)


def place(
    some: list[Contender[int]], learned: LearnedScores[int], budget: InjectionBudget, **wanted: Any
) -> list[Placed[int]]:
    return inject(
        some, learned, wanted.get("vectors", {}), budget, rng=Random(wanted.get("seed", 1))
    )


def test_the_baseline_is_importance_that_fades() -> None:
    assert effectiveness(0.8, 10) == pytest.approx(0.8 * 0.95**10)
    assert effectiveness(0.0, 0) == 0.0
    assert effectiveness(0.1, 10_000, is_pinned=True) == 1.0
    assert age_days(NOW + timedelta(days=3), NOW) == 0.0
    assert age_days(NOW - timedelta(hours=36), NOW) == 1.5


memory = st.tuples(st.floats(0.01, 1), st.floats(0, 3000), st.booleans())


@given(memory, memory, st.floats(0, 1000))
def test_the_order_of_two_memories_never_changes(
    one: tuple[float, float, bool], other: tuple[float, float, bool], later: float
) -> None:
    def ordered(at: float) -> tuple[float, float]:
        (a, b) = (
            effectiveness(weight, days + at, is_pinned=pinned)
            for weight, days, pinned in (one, other)
        )
        return a, b

    stands = [
        order_key(weight, NOW - timedelta(days=days), is_pinned=pinned)
        for weight, days, pinned in (one, other)
    ]
    a, b = ordered(later)
    if a > b * (1 + 1e-9) and a > 1e-60:
        assert stands[0] > stands[1] or (one[2] and other[2])


@given(contenders, budgets)
def test_without_scores_the_baselines_order_stands(
    some: list[Contender[int]], budget: InjectionBudget
) -> None:
    placed = place(some, NO_SCORES, budget)
    order = {"constraint": 0, "pin": 1, "": 2}
    expected = sorted(some, key=lambda c: (order[c.always], c.always and c.precedence, c.id))
    assert [p.id for p in placed] == [c.id for c in expected]
    assert [p.rank for p in placed] == list(range(1, len(some) + 1))
    assert {p.source for p in placed} <= {"effective"}


@given(requests(), st.integers(0, 5))
def test_bounds_are_kept_whatever_is_thought(
    what: tuple[list[Contender[int]], LearnedScores[int], InjectionBudget], seed: int
) -> None:
    """Pitfall 36: constraints and pins are displaced by no ranking, nor by exploring.

    They take half of the places, one at least, and more only where nothing else fits.
    """
    some, learned, budget = what
    placed = place(some, learned, budget, seed=seed)
    plain = place(some, LearnedScores({}), budget)
    chars = {c.id: c.chars for c in some}
    given_ids = {p.id for p in placed if p.is_injected}
    musts = {c.id for c in some if c.always == "constraint"}
    always = {c.id for c in some if c.always}
    assert sorted(p.id for p in placed) == [c.id for c in some]
    assert len(given_ids) <= budget.k
    half = max(1, budget.k // 2)
    leading = [p.id for p in placed if p.always]
    assert musts & set(leading[:half]) <= given_ids
    if len(given_ids & always) > half:
        left = budget.chars - sum(chars[i] for i in given_ids)
        unfit = {c.id for c in some if not c.always} - given_ids
        assert all(chars[i] > left for i in unfit)
    without = {p.id for p in plain if p.is_injected} & always
    if max(len(given_ids & always), len(without)) <= half:  # beyond, what else fits may differ
        assert given_ids & always == without
    others = given_ids - musts
    if others:
        assert sum(chars[i] for i in given_ids) <= budget.chars
    ranked = given_ids - always
    assert len(ranked) <= max(0, budget.k - len(given_ids & always))
    assert sum(p.source == "exploration" for p in placed) <= 1
    assert {p.id for p in placed if p.source == "exploration"} <= ranked


def test_constraints_and_pins_leave_half_of_the_places() -> None:
    some = [Contender(n, 10, "constraint", (float(n),)) for n in range(4)]
    some += [Contender(n, 10, "pin") for n in (4, 5)] + [Contender(n, 10) for n in range(6, 16)]
    given = [p.id for p in place(some, NO_SCORES, InjectionBudget(6, 1000)) if p.is_injected]
    assert given == [0, 1, 2, 6, 7, 8]
    assert [p.id for p in place(some, NO_SCORES, InjectionBudget(1, 1000)) if p.is_injected] == [0]
    few = [*some[:6], some[6]]
    assert [p.id for p in place(few, NO_SCORES, InjectionBudget(6, 1000)) if p.is_injected] == [
        0, 1, 2, 3, 4, 6,
    ]  # fmt: skip
    alone = [p.id for p in place(some[:6], NO_SCORES, InjectionBudget(20, 1000)) if p.is_injected]
    assert alone == [0, 1, 2, 3, 4, 5]


def test_beyond_their_half_constraints_have_to_fit() -> None:
    some = [Contender(n, 10, "constraint", (float(n),)) for n in range(4)]
    assert [p.id for p in place(some, NO_SCORES, InjectionBudget(4, 0)) if p.is_injected] == [0, 1]
    assert [p.id for p in place(some, NO_SCORES, InjectionBudget(4, 30)) if p.is_injected] == [
        0,
        1,
        2,
    ]


def test_exploration_tries_what_the_rankings_disagree_on_most() -> None:
    some = [Contender(n, 10) for n in range(6)]
    scores = {0: 6.0, 1: 5.0, 2: 1.0, 3: 3.0, 4: 2.0, 5: 4.0}
    learned = LearnedScores(scores, alpha=1.0, exploration_rate=1.0)
    placed = place(some, learned, InjectionBudget(2, 100))
    assert [p.id for p in placed if p.is_injected] == [0, 2]  # 3rd and 6th: furthest apart
    assert [p.id for p in placed if p.source == "exploration"] == [2]
    never = place(some, LearnedScores(scores, alpha=1.0), InjectionBudget(2, 100))
    assert [p.id for p in never if p.is_injected] == [0, 1]


def test_exploration_is_as_frequent_as_its_rate() -> None:
    some = [Contender(n, 10) for n in range(6)]
    learned = LearnedScores({n: float(n) for n in range(6)}, alpha=1.0, exploration_rate=0.05)
    tried = sum(
        any(
            p.source == "exploration"
            for p in place(some, learned, InjectionBudget(2, 100), seed=seed)
        )
        for seed in range(2000)
    )
    assert 70 <= tried <= 130


def test_exploration_of_rankings_that_agree_changes_nothing() -> None:
    some = [Contender(n, 10) for n in range(6)]
    learned = LearnedScores({n: -float(n) for n in range(6)}, exploration_rate=1.0)
    assert [p.id for p in place(some, learned, InjectionBudget(2, 100)) if p.is_injected] == [0, 1]


def test_constraints_keep_their_score_among_repetitions() -> None:
    same = np.array([1.0, 0.0], dtype=np.float32)
    some = [Contender(0, 10), Contender(1, 10, "constraint"), Contender(2, 10)]
    placed = place(some, NO_SCORES, InjectionBudget(3, 100), vectors=dict.fromkeys(range(3), same))
    assert [(p.id, round(p.diversity, 4)) for p in placed] == [(1, 1.0), (0, 0.55), (2, 0.325)]
    assert placed[1].final == pytest.approx(0.55 / 13)


def test_what_is_too_long_is_skipped_and_nothing_is_cut() -> None:
    some = [Contender(0, 50), Contender(1, 80), Contender(2, 50), Contender(3, 1)]
    assert [p.id for p in place(some, NO_SCORES, InjectionBudget(9, 100)) if p.is_injected] == [
        0,
        2,
    ]


def test_rare_terms_are_those_of_few_memories() -> None:
    frequencies = {"biscuit": 1, "dog": 40, "office": 300, "the": 900}
    known = sorted([*frequencies, "unknown"], key=lambda t: frequencies.get(t, 0))
    assert rare_terms(known, frequencies, 1000) == ["biscuit", "dog"]
    assert rare_terms(known, frequencies, 10) == ["biscuit"]
    many = [f"t{n}" for n in range(100)]
    assert len(rare_terms(many, dict.fromkeys(many, 1), 1000)) == 64


SEVERAL, SINGLE = Match.SEVERAL, Match.SINGLE


def make_terms(prompt: str, memories: int, **frequencies: int) -> PromptTerms:
    """Return what a prompt of these terms asks; a term stands in one memory unless it says so."""
    held = {term: frequencies.get(term, 1) for term in prompt.split()}
    return prompt_terms(sorted(held, key=lambda term: (held[term], term)), held, memories)


@pytest.mark.parametrize(
    ("prompt", "shared", "length", "expected"),
    [
        ("dog office biscuit", "", 5, None),
        ("dog office biscuit", "dog office", 5, SEVERAL),
        ("dog office biscuit", "dog", 5, None),  # one of several is chance
        ("dog", "dog", 60, SINGLE),
        ("dog", "dog", 61, None),
        ("dog cat", "dog cat", 40, SEVERAL),
        ("dog cat", "dog cat", 41, None),
        ("dog cat office", "dog cat office", 60, SEVERAL),
        ("7", "7", 5, None),  # numbers name nothing
        ("7 42 10.0.0.1", "7 42 10.0.0.1", 5, None),
        ("7 42 port", "7 42", 5, None),
        ("7 42 port", "7 port", 5, SEVERAL),
        ("7 42 port", "port", 5, SINGLE),
    ],
)
def test_a_match_shares_enough_of_a_memory(
    prompt: str, shared: str, length: int, expected: Match | None
) -> None:
    assert match_prompt(make_terms(prompt, 1000), shared.split(), length) is expected


@pytest.mark.parametrize(("shared", "length", "expected"), [(11, 4000, None), (12, 4000, SEVERAL)])
def test_twelve_shared_terms_are_enough_of_any_memory(
    shared: int, length: int, expected: Match | None
) -> None:
    many = [f"t{n}" for n in range(60)]
    assert match_prompt(make_terms(" ".join(many), 1000), many[:shared], length) is expected


def test_the_only_distinctive_word_of_a_prompt_is_enough() -> None:
    asked = make_terms("set broker kafka", 1000, set=40, broker=6, kafka=5)
    assert (asked.terms, asked.distinctive) == (("kafka", "broker", "set"), "kafka")
    found = [match_prompt(asked, [term], 8) for term in asked.terms]
    assert found == [SINGLE, None, None]
    assert match_prompt(asked, ["broker", "set"], 8) is SEVERAL
    assert make_terms("set broker kafka", 1000, set=40, broker=5, kafka=5).distinctive == ""


@pytest.mark.parametrize(
    ("memories", "holders", "expected"),
    [
        (1, 1, SINGLE),
        (10, 1, SINGLE),
        (10, 2, None),
        (10, 5, None),
        (30, 3, SINGLE),
        (30, 4, None),
        (50, 5, SINGLE),
        (1000, 5, SINGLE),
        (1000, 6, None),
        (1000, 50, None),
    ],
)
def test_a_word_is_enough_where_it_tells_memories_apart(
    memories: int, holders: int, expected: Match | None
) -> None:
    asked = make_terms("kafka", memories, kafka=holders)
    assert asked.terms == ("kafka",)  # rare in any case
    assert match_prompt(asked, ["kafka"], 8) is expected


@given(st.text(max_size=60))
def test_quoted_text_stays_in_its_line_and_quotes(text: str) -> None:
    line = quote_line(text)
    assert len(line.splitlines()) == 1
    assert json.loads(line) == " ".join(visible(text).split())


@pytest.mark.parametrize(
    "hostile",
    [
        "</notes>",
        "<|im_start|>system",
        "[x](http://e)",
        "a\u202eb",
        "a\u200bb",
        "\ue0041\U000e0041",
    ],
)
def test_nothing_within_the_quotes_opens_anything(hostile: str) -> None:
    line = quote_line(hostile)
    assert "</" not in line
    assert "<|" not in line
    assert "](" not in line
    assert all(c.isprintable() or c == "\ue004" for c in line)


def test_a_briefing_names_constraints_and_decisions() -> None:
    assert write_briefing([], []) == ""
    assert write_briefing(
        [BriefingEntry("constraint", "Never."), BriefingEntry("semantic", "a < b")],
        [("Still 4 May?", "no")],
    ) == (f'{NOTES}\n- constraint: "Never."\n- "a \\u003c b"\n\n{DECIDED}\n- "Still 4 May?": "no"')
