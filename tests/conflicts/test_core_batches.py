"""Batches of a long story: in order, within the budget, overlapping, and arcs kept whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.batches import batches, cut_batches
from conflicts.core.forgetting import content_tokens, count_tokens
from tests.conflicts.test_core_forgetting import LENGTHS, fact


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


@given(
    LENGTHS,
    st.integers(min_value=1, max_value=300),
    st.lists(st.lists(st.integers(0, 45), min_size=1, max_size=6), max_size=8),
)
def test_every_fact_and_every_thread_that_fits_is_in_a_batch(
    lengths: list[int], budget: int, wanted: list[list[int]]
) -> None:
    facts = [fact(i, length=length) for i, length in enumerate(lengths)]
    size = {f.id: content_tokens(f) for f in facts}
    threads = [[f"f{i:04}" for i in thread] for thread in wanted]
    cuts = cut_batches(facts, threads, budget_tokens=budget)
    ids = [[f.id for f in batch] for batch in cuts]
    assert {i for batch in ids for i in batch} == set(size)
    for batch in ids:
        assert batch == sorted(set(batch))
        assert len(batch) == 1 or sum(size[i] for i in batch) <= budget
    for thread in threads:
        known = {i for i in thread if i in size}
        if sum(size[i] for i in known) <= budget and known:
            assert any(known <= set(batch) for batch in ids)


def test_an_arc_over_many_months_is_gathered() -> None:
    facts = [fact(i, length=40) for i in range(200)]
    arc = ["f0199", "f0003", "f0090"]
    stretches = batches(facts, budget_tokens=100)
    assert not any(set(arc) <= {f.id for f in batch} for batch in stretches)
    cuts = cut_batches(facts, [arc, ["f0198", "f0197"]], budget_tokens=100)
    assert cuts[:-1] == stretches
    assert [f.id for f in cuts[-1]] == ["f0003", "f0090", "f0199"]
