"""Ids increase with time."""

from __future__ import annotations

from time import time

from engram.kernel.ids import next_id, next_ids


def test_ids_increase_within_a_process() -> None:
    ids = [next_id() for _ in range(10_000)]
    assert ids == sorted(set(ids))


def test_an_id_is_of_version_seven_and_tells_its_time() -> None:
    before = int(time() * 1000)
    made = next_id()
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert before <= made.int >> 80 <= int(time() * 1000) + 1


def test_ids_are_not_guessed_from_another() -> None:
    assert len({next_id().int % (1 << 62) for _ in range(1000)}) == 1000


def test_many_ids_at_once_increase_among_those_before_and_after() -> None:
    ids = [next_id(), *next_ids(1000), next_id()]
    assert ids == sorted(set(ids))
    assert {made.version for made in ids} == {7}
    assert len({made.int % (1 << 62) for made in ids}) == 1002
    assert next_ids(0) == []
