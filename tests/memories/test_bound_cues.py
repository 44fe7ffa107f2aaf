"""The cues by which a text is estimated to set a bound, or to lift one."""

from __future__ import annotations

import pytest

from memories.core.bound_cues import lifts_bound, sets_limit


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Changes are deployed on Wednesdays only.", "Deploy on whatever day you like."),
        ("Never restart the gateway by day.", "Restart it at any time."),
        ("Visitors must be led by a guide.", "Anyone walks round the hall for themselves."),
    ],
)
def test_what_leaves_free_lifts_a_bound(a: str, b: str) -> None:
    assert lifts_bound(a, b)
    assert not lifts_bound(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Changes are deployed on Wednesdays.", "Deploy on whatever day you like."),
        (
            "Changes are deployed on Wednesdays only.",
            "Only Ana deploys, on whatever day she likes.",
        ),
        ("Deploy on any day, but never at noon.", "Deploy on whatever day you like."),
        ("", ""),
    ],
)
def test_a_bound_that_one_side_lacks_or_both_keep_is_not_lifted(a: str, b: str) -> None:
    assert not lifts_bound(a, b)


def test_a_limit_counts_where_the_other_text_has_none() -> None:
    free, limited = "Members borrow books.", "Members borrow three books at most."
    assert sets_limit(free, limited)
    assert not sets_limit(limited, free)
    assert not sets_limit(limited, limited)
