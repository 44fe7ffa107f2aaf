"""The drawing of a story: sides, order, room for dates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.arc import LABEL_ROOM, LEFT, WIDTH, arc_of

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_reversal_goes_down_and_up_again() -> None:
    arc = arc_of([(START + timedelta(days=n), n != 30) for n in (0, 30, 60)])
    assert arc is not None
    assert [stretch.turn for stretch in arc.stretches] == ["down", "up"]
    assert [(point.number, point.x) for point in arc.points] == [(1, 12.0), (2, 50.0), (3, 88.0)]
    assert all(point.is_labelled for point in arc.points)


def test_one_statement_is_no_story() -> None:
    assert arc_of([(START, True)]) is None


@given(st.lists(st.tuples(st.integers(0, 10**9), st.booleans()), min_size=2, max_size=12))
def test_points_stay_in_order_and_dates_apart(story: list[tuple[int, bool]]) -> None:
    moments = sorted(story)
    arc = arc_of([(START + timedelta(seconds=s), yes) for s, yes in moments])
    assert arc is not None
    places = [point.x for point in arc.points]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (LEFT, LEFT + WIDTH)
    labelled = [point.x for point in arc.points if point.is_labelled]
    assert labelled[0] == LEFT
    assert all(b - a >= LABEL_ROOM for a, b in pairwise(labelled))
