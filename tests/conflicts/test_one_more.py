"""What comes on top of something, and another one of a kind, contradict nothing."""

from __future__ import annotations

import pytest

from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        ("The orchestra rehearses on Mondays.", "The orchestra also rehearses on Thursdays."),
        ("The lake ferry leaves at 9:00.", "Another lake ferry leaves at 15:00."),
        ("The guided tour starts at 11:00.", "An additional guided tour starts at 15:30."),
        ("The shuttle leaves the inn at 8:15.", "A further shuttle leaves the inn at 17:45."),
        ("Blood samples are collected at 10:00.", "Blood samples go at 16:00 as well."),
        ("Bins are emptied on Mondays.", "Bins are emptied on Thursdays too."),
        ("The job runs at 02:00.", "The job runs a second time at 14:00."),
        ("The club trains on Mondays.", "The club likewise trains on Wednesdays."),
        ("The tower is open on Saturdays.", "Besides, the tower is open on Sundays."),
    ],
)
def test_one_more_is_no_conflict(statements: tuple[str, str]) -> None:
    assert rules_of(*statements, cosine=0.85) == []


@pytest.mark.parametrize(
    "statements",
    [
        ("Driving exams last an hour in year one.", "Driving exams last 2 hours in year two."),
        ("The dose is 5 mg in week one.", "The dose is 10 mg in week three."),
        ("Students pay 200 euros in the first year.", "Students pay 300 euros in the second year."),
    ],
)
def test_two_of_a_kind_are_no_conflict(statements: tuple[str, str]) -> None:
    assert rules_of(*statements, cosine=0.85) == []


@pytest.mark.parametrize(
    "statements",
    [
        ("The second shift begins at 14:00.", "The second shift begins at 15:00."),
        ("The club also trains on Mondays.", "The club also trains on Wednesdays."),
        ("The dose is 5 mg in week one.", "The dose is 10 mg in week one."),
        ("The dose is 5 mg in week one.", "The dose is 10 mg in week 1."),
        ("The shed has two keys.", "The shed has three keys."),
    ],
)
def test_one_of_them_said_twice_is(statements: tuple[str, str]) -> None:
    assert len(rules_of(*statements, cosine=0.85)) == 1
