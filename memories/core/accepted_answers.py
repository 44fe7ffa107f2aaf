"""Which answers of a language model are stored: the limits of callers, and the statement's words.

A model reads several statements at once. What it says of one must not come from another, whose
erasure it would outlive: numbers, names and the words of an answer must stand in the statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core.answer_prompt import Statement
from memories.core.answers import (
    ANSWER_MAX_CHARS,
    MAX_ANSWERS,
    QUESTION_MAX_CHARS,
    Answer,
    find_contradiction,
    is_answer_to_itself,
    is_unchanged,
    unite,
)
from memories.core.quoting import visible
from memories.core.spelling import same_letters

STEM_CHARS: Final = 4  # a shorter word is not looked up; of a longer one its beginning is
QUOTED_WORDS: Final = 4  # so many words in a row of another statement are a quotation
_WORD: Final = re.compile(r"\w+")
# Answers to a question about whether something holds, in no words of the statement.
_BARE: Final = frozenset({"yes", "no"})


def accept_answers(
    given: Sequence[Answer], statement: Statement, others: Sequence[Statement]
) -> tuple[Answer, ...]:
    """Return the answers to store about a statement, in order; `others` were read with it.

    Of several answers to one question that contradict each other none is stored.
    """
    fitting = [answer for one in given if _fits(answer := _cleaned(one), statement, others)]
    while (found := find_contradiction(fitting)) is not None:
        doubtful = fitting[found[0]].identity
        fitting = [answer for answer in fitting if answer.identity != doubtful]
    return unite(fitting, ())[:MAX_ANSWERS]


def _cleaned(answer: Answer) -> Answer:
    def line(text: str) -> str:
        return " ".join(visible(text).split())

    return Answer(line(answer.question), line(answer.answer), line(answer.was or "") or None)


def _fits(answer: Answer, statement: Statement, others: Sequence[Statement]) -> bool:
    texts = (answer.question, answer.answer, answer.was or "")
    limits = (QUESTION_MAX_CHARS, ANSWER_MAX_CHARS, ANSWER_MAX_CHARS)
    if not (_WORD.search(answer.question) and _WORD.search(answer.answer)):
        return False
    if any(len(text) > most for text, most in zip(texts, limits, strict=True)):
        return False
    if is_answer_to_itself(answer) or is_unchanged(answer):
        return False
    if same_letters(answer.question, statement.content):  # it asks; it answers nothing
        return False
    return _is_in_words_of(answer, statement) and not _quotes(texts, statement, others)


def _is_in_words_of(answer: Answer, statement: Statement) -> bool:
    """Return whether numbers and names, and the words of the answers, stand in the statement."""
    own = visible(f"{statement.content} {statement.place}").casefold()
    words = frozenset(_WORD.findall(own))
    for text in (answer.question, answer.answer, answer.was or ""):
        for position, word in enumerate(_WORD.findall(text)):
            is_name = position > 0 and any(c.isupper() for c in word)
            if (is_name or any(c.isdigit() for c in word)) and word.casefold() not in words:
                return False
    spoken = f"{answer.answer} {answer.was or ''}".casefold()
    return all(
        word[:STEM_CHARS] in own
        for word in _WORD.findall(spoken)
        if len(word) >= STEM_CHARS and word not in _BARE
    )


def _quotes(texts: Sequence[str], own: Statement, others: Sequence[Statement]) -> bool:
    """Return whether a text has words in a row of another statement that are not in its own."""
    said = {run for text in texts for run in _runs(text)} - _runs(own.content)
    return bool(said) and any(not said.isdisjoint(_runs(other.content)) for other in others)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(visible(text).casefold())
    return {tuple(words[i : i + QUOTED_WORDS]) for i in range(len(words) - QUOTED_WORDS + 1)}
