"""What a model reads of a long story: whole threads, and others where there is room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.batches import cut_batches
from conflicts.core.forgetting import content_tokens
from tests.conflicts.test_core_forgetting import LENGTHS, fact

NUMBERS = st.lists(st.integers(0, 45), min_size=1, max_size=6)


def test_batches_refuse_an_empty_budget() -> None:
    with pytest.raises(ValueError, match="positive"):
        cut_batches([], [], budget_tokens=0)


@given(LENGTHS, st.integers(min_value=1, max_value=300), st.lists(NUMBERS, max_size=8), NUMBERS)
def test_every_thread_that_fits_is_in_a_batch_and_others_add_none(
    lengths: list[int], budget: int, wanted: list[list[int]], offered: list[int]
) -> None:
    facts = [fact(i, length=length) for i, length in enumerate(lengths)]
    size = {f.id: content_tokens(f) for f in facts}
    threads = [[f"f{i:04}" for i in thread] for thread in wanted]
    others = [f"f{i:04}" for i in offered]
    cuts = cut_batches(facts, threads, others=others, budget_tokens=budget)
    alone = cut_batches(facts, threads, budget_tokens=budget)
    ids = [[f.id for f in batch] for batch in cuts]
    for batch in ids:
        assert batch == sorted(set(batch))
        assert len(batch) > 1
        assert sum(size[i] for i in batch) <= budget
    if sum(size.values()) <= budget:
        assert ids == ([list(size)] if len(facts) > 1 else [])
        return
    named = {i for thread in (*threads, others) for i in thread}
    assert {i for batch in ids for i in batch} <= named
    assert all(any(set(a) <= set(b) for b in cuts) for a in alone)
    for thread in threads:
        known = {i for i in thread if i in size}
        if sum(size[i] for i in known) <= budget and len(known) > 1:
            assert any(known <= set(batch) for batch in ids)


def test_an_arc_over_many_months_is_gathered() -> None:
    facts = [fact(i, length=40) for i in range(200)]
    arc = ["f0199", "f0003", "f0090"]
    cuts = cut_batches(facts, [arc, ["f0198", "f0197"]], budget_tokens=30)
    assert [[f.id for f in cut] for cut in cuts] == [
        ["f0003", "f0090", "f0199"], ["f0197", "f0198"],
    ]  # fmt: skip


def test_what_else_is_offered_fills_the_room_in_its_order() -> None:
    facts = [fact(i, length=40) for i in range(200)]
    [cut] = cut_batches(
        facts, [["f0199", "f0003"]], others=["f0100", "f0150", "f0050"], budget_tokens=40
    )
    assert [f.id for f in cut] == ["f0003", "f0100", "f0150", "f0199"]
