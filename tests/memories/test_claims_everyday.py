"""Everyday pairs: limits in other words, what is refused, opening hours, who alone may do it."""

from __future__ import annotations

import pytest

from memories.core.claims import compare


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("Only admins can delete projects.", "Anyone can delete projects."),
        ("Every employee may approve holidays.", "Only managers may approve holidays."),
        ("Everyone has a key to the lab.", "Only Petra has a key to the lab."),
        ("The library closes at 10 pm.", "The library is open until 11 pm."),
        ("The market ends at 14:00.", "The market runs until 3 pm."),
        ("The course is held in person.", "The course is held online."),
        ("The bus leaves every 20 minutes.", "The bus leaves every half hour."),
        ("The exam is written.", "The exam is oral."),
        ("The limit is inclusive.", "The limit is exclusive."),
        ("The office has 30 desks.", "The office has 50 standing desks."),
        ("Quay 1 has 3 benches.", "Quay 1 has 6 benches with a roof."),
        # A number of times, of what is needed, and of all with something of theirs.
        ("The job is retried 5 times.", "The job is retried 3 times with backoff."),
        ("The password needs 12 characters.", "The password needs 8 random characters."),
        ("The cluster has 5 nodes.", "The cluster has 3 nodes with the new kernel."),
        ("The team has 6 developers.", "The team has 4 more developers."),
    ],
)
def test_what_cannot_both_hold_contradicts(stored: str, incoming: str) -> None:
    assert compare(stored, incoming).relation == "contradicts"
    assert compare(incoming, stored).relation == "contradicts"


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("The library closes at 10 pm.", "The library is open until 22:00."),
        (
            "Passwords must not be shorter than 12 characters.",
            "Passwords must have at least 12 characters.",
        ),
        ("Uploads over 20 MB are rejected.", "Uploads may be at most 20 MB."),
        ("Only admins can delete projects.", "Nobody but admins can delete projects."),
        ("The bus leaves every 30 minutes.", "The bus leaves every half hour."),
    ],
)
def test_other_words_for_the_same_do_not_contradict(stored: str, incoming: str) -> None:
    assert compare(stored, incoming).relation != "contradicts"
    assert compare(incoming, stored).relation != "contradicts"


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("The library opens at 10 am.", "The library is open until 11 pm."),
        ("Only admins can delete projects.", "Anyone can read projects."),
        ("Only admins can delete projects.", "Every admin can delete projects."),
        ("Only Petra has a key to the safe.", "Everyone has a key to the lab."),
        ("Everyone in the Porto office has a key.", "Only Petra has a key."),
        ("Only Petra has a key to the lab.", "Not everyone has a key to the lab."),
        ("The course is on-site in spring.", "The course is remote in winter."),
        ("The bakery opens at 6.", "The bakery is open until 18:00."),
        ("The alarm is armed at 22:00.", "The alarm is disarmed at 6:00."),
        ("Quay 1 has 6 benches.", "Quay 1 has 2 benches with a roof."),
        ("The shop rents 40 bicycles.", "The shop rents 6 bicycles without gears."),
        ("The office has 30 desks.", "The office has 5 standing desks."),
        ("Boats under 8 m pay 12 euros a night.", "Boats over 8 m pay 18 euros a night."),
        ("Boats under 8 m pay 12 euros a night.", "Boats under 10 m pay 14 euros a night."),
        ("The crane lifts 12 tonnes.", "We want the crane to lift 16 tonnes."),
    ],
)
def test_what_may_both_hold_does_not_contradict(stored: str, incoming: str) -> None:
    assert compare(stored, incoming).relation != "contradicts"
    assert compare(incoming, stored).relation != "contradicts"
