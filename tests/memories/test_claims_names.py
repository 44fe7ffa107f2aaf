"""Owners and names inside a claim: who does what to whose, and which of several is meant."""

from __future__ import annotations

import pytest

from memories.core.claims import compare
from memories.core.gate import CLEARLY_DIFFERENT


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The cutover rota is handled by Wanda.",
         "The cutover rota is handled by Jorge, who has taken it over from Wanda."),
        ("The billing service is owned by Ana.",
         "The billing service is owned by Ben, who took it from Ana."),
        ("Backups are stored in Oslo.", "Backups are stored in Bergen, moved there from Oslo."),
    ],
)  # fmt: skip
def test_who_is_named_in_passing_does_not_fill_the_slot(before: str, after: str) -> None:
    assert compare(before, after).relation not in ("same", "refines")
    assert compare(after, before).relation not in ("same", "refines")


def test_what_is_added_in_passing_is_left_to_people() -> None:
    for passing in ("who took over from Max", "who left in May", "which Max doubts"):
        found = compare("Releases are approved by Lena.",
                        f"Releases are approved by Lena, {passing}.")  # fmt: skip
        assert found.relation == "different"
        assert found.confidence < CLEARLY_DIFFERENT
