"""Answers: identity of a question, contradictions within a memory, union."""

from __future__ import annotations

import pytest

from memories.core.answers import (
    Answer,
    find_contradiction,
    is_answer_to_itself,
    is_unchanged,
    question_hash,
    unite,
)

APPROVES = Answer("Who approves refunds?", "the support lead")


@pytest.mark.parametrize(
    "spelling",
    [
        "Who approves refunds",
        "who  approves\nrefunds ?",
        "WHO APPROVES REFUNDS??",
        "Who approves refunds\uff1f",
        "Who approves\u200b refunds?\u200b",
    ],
)
def test_spellings_of_one_question_have_one_identity(spelling: str) -> None:
    assert question_hash(spelling) == APPROVES.identity


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Who approves refunds?", "Who approves rules?"),
        ("Is 5 MB enough?", "Is 5 Mb enough?"),
        ("?", "!"),
        ("誰が返金を承認しますか？", "誰が返品を承認しますか？"),
    ],
)
def test_other_questions_have_other_identities(question: str, other: str) -> None:
    assert question_hash(question) != question_hash(other)


def test_a_record_is_read_back() -> None:
    changed = Answer("Who approves refunds?", "the support lead", "finance")
    assert Answer.from_record(changed.as_record()) == changed
    assert Answer.from_record({"question": "Q?", "answer": "a"}) == Answer("Q?", "a")


def test_an_answer_that_repeats_the_question_is_recognised() -> None:
    assert is_answer_to_itself(Answer("Who approves refunds?", "who approves refunds"))
    assert is_answer_to_itself(Answer("Who approves refunds?", "x", "Who approves refunds?"))
    assert not is_answer_to_itself(APPROVES)


def test_an_earlier_answer_that_is_the_present_one_is_recognised() -> None:
    assert is_unchanged(Answer("Q?", "The lead.", "the lead"))
    assert not is_unchanged(Answer("Q?", "the lead", "finance"))
    assert not is_unchanged(Answer("Q?", "the lead"))


def test_two_answers_to_one_question_contradict_unless_they_agree() -> None:
    again = Answer("who approves refunds", "The support lead.")
    assert find_contradiction([APPROVES, again]) is None
    finance = Answer("Who approves refunds", "finance")
    assert find_contradiction([Answer("Q?", "a"), APPROVES, finance]) == (1, 2)
    changed = Answer("Who approves refunds?", "the support lead", "finance")
    assert find_contradiction([APPROVES, changed]) == (0, 1)


def test_a_union_keeps_the_own_answer_of_one_question() -> None:
    other = Answer("Who approves refunds", "finance")
    limit = Answer("What is the limit?", "5")
    assert unite([APPROVES], [other, limit]) == (APPROVES, limit)
    assert unite([], [APPROVES, APPROVES]) == (APPROVES,)
