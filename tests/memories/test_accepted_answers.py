"""What a model says of one statement is in its words: nothing comes from another one it read."""

from __future__ import annotations

import pytest

from memories.core.accepted_answers import accept_answers
from memories.core.answer_prompt import Statement
from memories.core.answers import Answer

OFFICE = "Somebody from the office signs refunds."
FRAUD = "Ana Kovac was fired for fraud; Eve took over."
WHO = "Who signs refunds?"


def accepted(answer: Answer, content: str = OFFICE, other: str = FRAUD) -> bool:
    given = accept_answers([answer], Statement(content), [Statement(other)])
    assert given in {(), (answer,)}
    return bool(given)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(WHO, "Ana"),
        Answer(WHO, "Kovac"),
        Answer(WHO, "ana"),
        Answer(WHO, "somebody", "Eve"),
        Answer(WHO, "Ana from the office"),
        Answer(WHO, "Officer"),  # a name may begin as another word does
        Answer(WHO, "An"),
        Answer(WHO, "the office A"),
        Answer("Kovac signs refunds?", "yes"),
        Answer("kovac signs refunds?", "yes"),
        Answer("Fraud: who signs refunds?", "somebody"),
    ],
)
def test_names_and_words_of_another_statement_are_refused(answer: Answer) -> None:
    assert not accepted(answer)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(WHO, "somebody from the office"),
        Answer(WHO, "Somebody", "the office"),
        Answer(WHO, "somebody in an office"),
        Answer(WHO, "The office"),
        Answer("Does somebody sign refunds?", "Yes"),
        Answer("Was it somebody who signs refunds?", "No"),  # "was" is a word of the other one
        Answer("For what does somebody sign?", "refunding"),
        Answer("Refunds are signed by whom?", "somebody"),
        Answer("Signing refunds falls to whom?", "somebody of the office"),
    ],
)
def test_words_of_the_statement_are_accepted(answer: Answer) -> None:
    assert accepted(answer)


def test_a_name_may_stand_in_both_statements() -> None:
    content = "Ana signs refunds, not Eve any more."
    assert accepted(Answer(WHO, "Ana", "Eve"), content)
    assert accepted(Answer("Ana signs refunds?", "yes"), content)


def test_a_word_without_spaces_around_it_is_found() -> None:
    content, other = "返金は平井が承認します。", "検品は佐藤が承認します。"
    assert accepted(Answer("返金は誰が承認しますか？", "平井"), content, other)
    assert not accepted(Answer("返金は誰が承認しますか？", "佐藤"), content, other)


@pytest.mark.parametrize(
    ("content", "question", "answer"),
    [
        (
            "بازپرداخت\u200cها را پشتیبان\u200cها تأیید می\u200cکنند.",
            "چه کسانی بازپرداخت\u200cها را تأیید می\u200cکنند؟",
            "پشتیبان\u200cها",
        ),
        ("The badge of the fire crew is 👩\u200d🚒 red.", "What is the badge?", "👩\u200d🚒 red"),
    ],
)
def test_joiners_that_reading_needs_are_kept(content: str, question: str, answer: str) -> None:
    given = Answer(question, answer)
    assert accept_answers([given], Statement(content), []) == (given,)
    bare = Answer(question.replace("\u200c", ""), answer.replace("\u200c", ""))
    assert accept_answers([bare], Statement(content), []) == (bare,)


def test_characters_that_reorder_or_hide_are_left_out() -> None:
    given = Answer("Who signs re\u200bfunds?\u202e", "the \u2066office\u2069\u200d")
    assert accept_answers([given], Statement(OFFICE), []) == (Answer(WHO, "the office"),)
