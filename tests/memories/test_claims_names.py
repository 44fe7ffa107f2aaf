"""Owners and names inside a claim: who does what to whose, and which of several is meant."""

from __future__ import annotations

import pytest

from memories.core.claims import compare


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ("Alice reviews Bob's changes.", "Bob reviews Alice's changes.", "contradicts"),
        ("Alice reviews Bob\u2019s changes.", "Bob reviews Alice\u2019s changes.", "contradicts"),
        ("Alice reviews Bob's changes.", "Bob's changes are reviewed by Alice.", "same"),
        ("Alice reviews Bob's changes.", "Alice's changes are reviewed by Bob.", "contradicts"),
        ("Anna's manager is Tom.", "Tom's manager is Anna.", "different"),
        ("The server's timeout is 30 s.", "The server timeout is 30 seconds.", "same"),
    ],
)
def test_exchanged_owners_never_say_the_same(a: str, b: str, relation: str) -> None:
    assert (compare(a, b).relation, compare(b, a).relation) == (relation, relation)


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ("Backups of alpha-db start at 2:15.", "Backups of db-main start at 3:45.", "different"),
        ("Backups of db-main start at 2:15.", "Backups of db-main start at 3:45.", "contradicts"),
        ("The main database has 3 replicas.", "The database has 5 replicas.", "contradicts"),
    ],
)
def test_word_inside_a_name_tells_things_apart(a: str, b: str, relation: str) -> None:
    assert (compare(a, b).relation, compare(b, a).relation) == (relation, relation)
