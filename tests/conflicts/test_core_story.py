"""The budget of a story, its forgetting curve, and its overlapping batches."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.facts import Fact
from conflicts.core.story import batches, count_tokens, keep_rate, tell

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
    total = sum(count_tokens(f.content) for f in facts)
    told = tell(facts, now=NOW, rng=random.Random(seed), budget_tokens=total)
    assert told.forgotten == ()
    assert list(told.kept) == sorted(facts, key=lambda f: (f.observed_at, f.id))


@given(LENGTHS, st.integers(), st.randoms(use_true_random=False))
def test_story_keeps_the_protected_and_two_at_least(
    lengths: list[int], seed: int, shuffle: random.Random
) -> None:
    facts = [fact(i, hours=i * 50, length=length) for i, length in enumerate(lengths)]
    always = {f.id for f in facts[::7]}
    told = tell(facts, now=NOW, rng=random.Random(seed), always=always, budget_tokens=0)
    kept = {f.id for f in told.kept}
    assert always <= kept
    assert len(kept) >= min(2, len(facts))
    assert sorted(f.id for f in (*told.kept, *told.forgotten)) == [f.id for f in facts]
    shuffle.shuffle(facts)
    again = tell(facts, now=NOW, rng=random.Random(seed), always=always, budget_tokens=0)
    assert again == told


def test_forgetting_follows_the_curve() -> None:
    facts = [fact(i, hours=(1, 100, 1000)[i % 3]) for i in range(9000)]
    kept = tell(facts, now=NOW, rng=random.Random(7), budget_tokens=10).kept
    counts = [sum(int(f.id[1:]) % 3 == kind for f in kept) / 3000 for kind in range(3)]
    assert counts == pytest.approx([0.30, 0.15, 0.07], abs=0.03)


def test_previous_conflicts_protect_a_fact() -> None:
    facts = [fact(i, hours=1000) for i in range(50)]
    told = tell(
        facts, now=NOW, rng=random.Random(1), budget_tokens=0, conflicts={f.id: 4 for f in facts}
    )
    assert len(told.kept) == 50


@given(LENGTHS, st.integers(min_value=1, max_value=300), st.floats(0, 0.9))
def test_batches_cover_in_order_within_budget_and_overlap(
    lengths: list[int], budget: int, share: float
) -> None:
    facts = [fact(i, length=length) for i, length in enumerate(lengths)]
    cut = batches(facts, budget_tokens=budget, overlap_share=share)
    assert [f for f in facts if any(f in batch for batch in cut)] == facts
    for batch in cut:
        first = facts.index(batch[0])
        assert list(batch) == facts[first : first + len(batch)]
        assert len(batch) == 1 or sum(count_tokens(f.content) for f in batch) <= budget
    starts = [facts.index(batch[0]) for batch in cut]
    assert starts == sorted(set(starts))
    for left, right in pairwise(facts):
        if count_tokens(left.content) + count_tokens(right.content) <= budget:
            assert any(left in batch and right in batch for batch in cut)


def test_arc_across_a_boundary_is_in_one_batch() -> None:
    facts = [fact(i, length=40) for i in range(30)]
    cut = batches(facts, budget_tokens=100, overlap_share=0.3)
    ends = [batch[-1] for batch in cut[:-1]]
    for end in ends:
        place = facts.index(end)
        arc = facts[place - 1 : place + 2]
        assert any(all(f in batch for f in arc) for batch in cut)


def test_batches_refuse_an_empty_budget() -> None:
    with pytest.raises(ValueError, match="positive"):
        batches([], budget_tokens=0)
