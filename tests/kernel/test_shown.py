"""Numbers that stand in a page by themselves are told from parts of ids and times."""

import pytest

from tests.shown import shows_number


@pytest.mark.parametrize("text", ["<b>0.86</b>", "$0.86", "was 0.86.", "(0.86, 1)", "'x': 0.86}"])
def test_a_number_by_itself_is_seen(text: str) -> None:
    assert shows_number(text, "0.86")


@pytest.mark.parametrize("text", ["21:08:00.868030", "10.86", "0.865", "a-0.86-b", "egr_0.86x"])
def test_parts_of_times_and_ids_are_not(text: str) -> None:
    assert not shows_number(text, "0.86")
