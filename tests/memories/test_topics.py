"""Contradictions of two claims are read in the context of their texts."""

from __future__ import annotations

import pytest

from memories.core.claims import compare, read
from memories.core.gate import decide
from memories.core.topics import announces_change


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Delivery slips are kept ten years; paper originals are not needed.",
         "Work contracts are kept ten years; paper originals are needed."),
        ("Fedder: glass bins are emptied on Tuesdays.",
         "Marlow: glass bins are emptied on Fridays."),
        ("Study S-31: the fee is paid; two visits are left.",
         "Study S-13: the fee is paid; five visits are left."),
    ],
)  # fmt: skip
def test_texts_that_introduce_two_things_do_not_contradict(a: str, b: str) -> None:
    assert compare(a, b).relation == "different"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ana owns the calendar.", "Piet owns the calendar."),
        ("Invoices are kept ten years; paper originals are not needed.",
         "Invoices are kept ten years; paper originals are needed."),
    ],
)  # fmt: skip
def test_one_thing_with_two_values_does(a: str, b: str) -> None:
    assert compare(a, b).relation == "contradicts"


@pytest.mark.parametrize(
    ("text", "announces"),
    [
        ("From 1 April the bins are emptied on Fridays.", True),
        ("The limit is 50 MB instead of 100 MB.", True),
        ("The hall has 35 seats, fewer than before.", True),
        ("The shop is open from Monday to Friday.", False),
        ("The bins are emptied on Fridays.", False),
    ],
)
def test_an_announced_change_is_seen(text: str, announces: bool) -> None:
    assert announces_change(read(text)) is announces


def test_the_gate_does_not_keep_an_announced_change_apart() -> None:
    old = "The bins are emptied on Tuesdays."
    for new, outcome in (
        ("The bins are emptied on Fridays.", "kept_apart"),
        ("From 1 April the bins are emptied on Fridays.", "created"),
    ):
        decision = decide(
            compare(old, new), 0.9, threshold=0.6, policy="merge",
            provenance_stored="assistant_derived", provenance_incoming="assistant_derived",
        )  # fmt: skip
        assert decision.outcome == outcome
