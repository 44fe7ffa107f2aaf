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
from memories.core.quoting import in_one_line

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
    ("text", "line"),
    [
        ("Kim\nLee", "Kim Lee"),
        (" Kim\r\n\t\u2028\u2029\u00a0\u3000 Lee\v\f", "Kim Lee"),
        ("Kim\x1b[31m\x07Lee\x85\x7f", "Kim [31m Lee"),
        ("the \u202elead\u202c, \u202anot\u202b \u202dhim", "the lead, not him"),
        ("\u2066a\u2067b\u2068c\u2069d\u200e\u200f\u061c", "abcd"),
        ("re\u200bfu\u200cn\u200dd\u2060s\ufeff\u00ad\u3164\u2800", "refunds"),
        ("a\U000e0041\U000e007f\ufe0f\U000e0100b", "ab"),
        ("\u202e\u200b", ""),
        ("\u4e2d\u200d\u6587 \u0410\u200c\u0411", "\u4e2d\u6587 \u0410\u0411"),
        ("\u0645\u06cc\u200c\u200c\u202e\u0634 \u200c", "\u0645\u06cc\u200c\u0634"),
        ("\U0001f469\u200d\u200da", "\U0001f469a"),
    ],
)
def test_a_text_in_one_line_has_nothing_unseen(text: str, line: str) -> None:
    assert in_one_line(text) == line
    assert in_one_line(line) == line


@pytest.mark.parametrize(
    "text",
    [
        "the support lead",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian, with a non-joiner
        "\u0915\u094d\u200d\u0937 \u0d28\u0d4d\u200d \u0dc1\u0dca\u200d\u0dbb",  # Indic joiners
        "\U0001f469\u200d\U0001f4bb \U0001f468\U0001f3fd\u200d\U0001f33e",
        "\u2764\ufe0f\u200d\U0001f525 \u2764\ufe0e 1\ufe0f\u20e3 \U0001fae8 \U0001f1e9\U0001f1ea",
        "\u05de\u05d9 \u05de\u05d0\u05e9\u05e8? \u8ab0\u304c e\u0301",
    ],
)
def test_scripts_and_symbols_stay_as_they_are_written(text: str) -> None:
    assert in_one_line(text) == text


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
