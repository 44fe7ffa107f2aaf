"""The budget of a story, and its forgetting curve."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.facts import Fact
from conflicts.core.forgetting import content_tokens, count_tokens, keep_rate, sample_to_budget

NOW = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)


def fact(number: int, *, hours: float = 0.0, length: int = 40) -> Fact:
    return Fact(
        id=f"f{number:04}",
        lineage=f"l{number}",
        content="x" * length,
        scope="",
        project="",
        agent="",
        session_key="",
        observed_at=NOW - timedelta(hours=hours),
        provenance="user_stated",
    )


LENGTHS = st.lists(st.integers(min_value=0, max_value=900), max_size=40)


@pytest.mark.parametrize(
    ("age", "conflicts", "rate"),
    [
        (timedelta(0), 0, 0.30),
        (timedelta(hours=23), 1, 0.60),
        (timedelta(hours=24), 0, 0.15),
        (timedelta(days=7), 0, 0.07),
        (timedelta(days=900), 2, 0.28),
        (timedelta(days=900), 99, 1.0),
    ],
)
def test_keep_rate_falls_with_age_and_doubles_with_conflicts(
    age: timedelta, conflicts: int, rate: float
) -> None:
    assert keep_rate(age, conflicts) == pytest.approx(rate)


@given(LENGTHS, st.integers())
def test_story_within_budget_forgets_nothing(lengths: list[int], seed: int) -> None:
    facts = [fact(i, hours=i * 50, length=length) for i, length in enumerate(lengths)]
    total = sum(map(content_tokens, facts))
    told = sample_to_budget(facts, now=NOW, rng=random.Random(seed), budget_tokens=total)
    assert told.forgotten == ()
    assert list(told.kept) == sorted(facts, key=lambda f: (f.observed_at, f.id))


@given(LENGTHS, st.integers(), st.randoms(use_true_random=False))
def test_story_keeps_the_protected_and_two_at_least(
    lengths: list[int], seed: int, shuffle: random.Random
) -> None:
    facts = [fact(i, hours=i * 50, length=length) for i, length in enumerate(lengths)]
    always = {f.id for f in facts[::7]}
    told = sample_to_budget(facts, now=NOW, rng=random.Random(seed), always=always, budget_tokens=0)
    kept = {f.id for f in told.kept}
    assert always <= kept
    assert len(kept) >= min(2, len(facts))
    assert sorted(f.id for f in (*told.kept, *told.forgotten)) == [f.id for f in facts]
    shuffle.shuffle(facts)
    again = sample_to_budget(
        facts, now=NOW, rng=random.Random(seed), always=always, budget_tokens=0
    )
    assert again == told


def test_forgetting_follows_the_curve() -> None:
    facts = [fact(i, hours=(1, 100, 1000)[i % 3]) for i in range(9000)]
    kept = sample_to_budget(facts, now=NOW, rng=random.Random(7), budget_tokens=10).kept
    counts = [sum(int(f.id[1:]) % 3 == kind for f in kept) / 3000 for kind in range(3)]
    assert counts == pytest.approx([0.30, 0.15, 0.07], abs=0.03)


def test_previous_conflicts_protect_a_fact() -> None:
    facts = [fact(i, hours=1000) for i in range(50)]
    told = sample_to_budget(
        facts, now=NOW, rng=random.Random(1), budget_tokens=0, conflicts={f.id: 4 for f in facts}
    )
    assert len(told.kept) == 50


@given(LENGTHS, st.integers(), st.integers(0, 39))
def test_a_new_trigger_does_not_shift_the_luck_of_others(
    lengths: list[int], seed: int, chosen: int
) -> None:
    facts = [fact(i, hours=i * 50, length=length) for i, length in enumerate(lengths)]
    always = {f.id for f in facts[chosen : chosen + 1]}
    plain = sample_to_budget(facts, now=NOW, rng=random.Random(seed), budget_tokens=0)
    told = sample_to_budget(facts, now=NOW, rng=random.Random(seed), budget_tokens=0, always=always)
    if len(plain.kept) > 2:
        assert {f.id for f in told.kept} == {f.id for f in plain.kept} | always


@given(st.text(max_size=60))
def test_tokens_are_estimated_to_the_upper_side(text: str) -> None:
    assert max(1, len(text) / 4) <= count_tokens(text) <= max(1, len(text))


def test_the_budget_counts_what_a_fact_takes_where_it_is_read() -> None:
    facts = [fact(i, hours=1000) for i in range(40)]
    whole = sample_to_budget(facts, now=NOW, rng=random.Random(1), budget_tokens=400)
    thinned = sample_to_budget(
        facts, now=NOW, rng=random.Random(1), budget_tokens=400, size=lambda _: 11
    )
    assert (len(whole.forgotten), len(thinned.forgotten) > 20) == (0, True)
