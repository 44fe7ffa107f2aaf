"""Two answers to one question agree, exclude each other, or nobody can tell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.answer_values import compare_values, mentions

SAME = [
    ("Priya", "Priya Nair"),
    ("75 s", "75000 ms (75 s)"),
    ("90 days", "three months"),
    ("weekly", "every week"),
    ("three", "3"),
    ("Thursdays", "Thursday"),
    ("yes", "yes, on all hosts"),
    ("no", "no, it was sold"),
    ("40 EUR", "EUR 40"),
    ("minus 19", "between -25 and -15 degrees"),
    ("30", "30 minutes"),
    ("nothing", "free of charge"),
    ("P. Nair", "Priya Nair"),
    ("Gate A", "gate A"),
    ("OPS@acme.example", "ops@acme.example"),
    ("v3", "v3.1"),
    ("round first, then sum", "first round, then sum"),
    ("sum after rounding", "round first, then sum"),
]
OTHER = [
    ("75 s", "30000 ms (30 s)"),
    ("Priya Nair", "Tom Eskildsen"),
    ("the support lead", "the treasurer"),
    ("yes", "no"),
    ("yes, everywhere", "no, it was sold"),
    ("12 May", "2 June"),
    ("the first one received", "the last one received"),
    ("weekly", "monthly"),
    ("Postgres 15", "Postgres 17"),
    ("minus 9", "between -25 and -15 degrees"),
    ("in the meadow", "shut up in the yard this month"),
    ("nothing, it is included", "4 EUR"),
    ("free of charge", "4 EUR"),
    ("the day shift", "the night shift"),
    ("the senior ranger", "the junior ranger"),
    ("gate A", "gate B"),
    ("A", "B"),
    ("eu-west-1", "us-east-1"),
    ("us-east-1a", "us-east-1b"),
    ("ops@acme.example", "it@acme.example"),
    ("/var/log/loom", "/srv/log/loom"),
    ("Ana Ruiz", "Ana Gomez"),
    ("Ana Ruiz", "Ben Ruiz"),
    ("round first, then sum", "sum first, then round"),
    ("1 May", "1 June"),
    ("gate 3 on the north side", "gate 3 on the south side"),
    ("Monday at 9", "Tuesday at 9"),
    ("room 3, on Mondays", "room 3, on Fridays"),
    ("the office first, then the beds", "first at the beds, then in the office"),
    ("the mean of all judges", "the best of three rounds by the last jury"),
]
UNCLEAR = [
    ("yes", "no, except on Mondays"),
    ("yes", "weekly"),
    ("pick accuracy", "40 EUR"),
    ("unknown", "Priya"),
    ("two, for students of 2022", "one, for students of 2023"),
    ("nothing for members", "4 EUR"),
    ("none", "0 EUR"),
    ("three readers", "the complete jury"),
    ("the copy in the red folder", "the copy on the blue shelf"),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_answers_that_agree_are_the_same(a: str, b: str) -> None:
    assert (compare_values(a, b), compare_values(b, a)) == ("same", "same")


@pytest.mark.parametrize(("a", "b"), OTHER)
def test_answers_that_exclude_each_other_are_other_answers(a: str, b: str) -> None:
    assert (compare_values(a, b), compare_values(b, a)) == ("other", "other")


@pytest.mark.parametrize(("a", "b"), UNCLEAR)
def test_answers_that_no_rule_can_judge_are_unclear(a: str, b: str) -> None:
    assert (compare_values(a, b), compare_values(b, a)) == ("unclear", "unclear")


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_compare_alike_in_both_orders(a: str, b: str) -> None:
    assert compare_values(a, b) == compare_values(b, a)


def test_a_text_mentions_an_answer_with_all_its_words_and_values() -> None:
    text = "Glass is collected on Thursdays here; the other bank has Tuesday and 2 bins."
    assert mentions(text, "Tuesdays")
    assert mentions(text, "two bins")
    assert not mentions(text, "Friday")
    assert not mentions(text, "three bins")
    assert not mentions(text, "yes")


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ("a quarter", "three months", "same"),
        ("a quarter", "every three months", "same"),
        ("every quarter", "every 3 months", "same"),
        ("a day", "24 hours", "same"),
        ("every quarter", "three months", "other"),
        ("a quarter", "four months", "unclear"),
        ("a quarter", "25 percent", "unclear"),
        ("a quarter", "every four months", "unclear"),
    ],
)
def test_a_period_is_compared_by_how_long_it_is(a: str, b: str, relation: str) -> None:
    assert compare_values(a, b) == compare_values(b, a) == relation
