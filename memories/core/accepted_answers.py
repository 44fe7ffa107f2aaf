"""Which answers of a language model are stored: the limits of callers, and the statement's words.

A model reads several statements at once. What it says of one must not come from another, whose
erasure it would outlive: numbers, names and the words of an answer must stand in the statement.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
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
from memories.core.function_words import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    words_of,
)
from memories.core.quoting import in_one_line, visible
from memories.core.spelling import same_letters

STEM_CHARS: Final = 4  # of a longer word only the beginning is looked up
QUOTED_WORDS: Final = 4  # so many words in a row of another statement are a quotation
_WORD: Final = re.compile(r"\w+")
# Answers to a question about whether something holds, in no words of the statement.
_BARE: Final = frozenset({"yes", "no"})
# Words that join those of the statement and tell nothing: "in Ghent", "the lead of the team".
# Capitals count: an "A" may be a hall, "An" a name.
_LINKING: Final = words_of("The a an the of to in at by for is are s")
# What a question may begin with, whatever else was read.
_OPENING: Final = DETERMINERS | PRONOUNS | AUXILIARIES | PREPOSITIONS | CONJUNCTIONS | words_of(
    "when where why how"
)  # fmt: skip


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
    earlier = in_one_line(answer.was or "") or None
    return Answer(in_one_line(answer.question), in_one_line(answer.answer), earlier)


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
    if _begins_with_word_of(answer.question, statement, others):
        return False
    return _is_in_words_of(answer, statement) and not _quotes(texts, statement, others)


def _is_in_words_of(answer: Answer, statement: Statement) -> bool:
    """Return whether numbers and names, and the words of the answers, stand in the statement."""
    own, words = _text_of(statement), _words_of(statement)
    for text in (answer.question, answer.answer, answer.was or ""):
        for position, word in enumerate(_written(text)):
            is_name = position > 0 and any(c.isupper() for c in word)
            if (is_name or any(c.isdigit() for c in word)) and word.casefold() not in words:
                return False
    told = (answer.answer, answer.was or "")
    return all(_is_told(word, own, words) for text in told for word in _written(text))


def _is_told(word: str, own: str, words: Collection[str]) -> bool:
    """Return whether a word of an answer stands in the statement, a longer one by its beginning.

    Names, and words too short to have a beginning, must stand there whole. Scripts without
    capitals may write words together: there also a short word is looked up as a part.
    """
    folded = word.casefold()
    if folded in words or folded in _BARE or word in _LINKING:
        return True
    has_case, is_name = word.upper() != word.lower(), word != word.lower()
    is_whole = is_name or (has_case and len(word) < STEM_CHARS)
    return not is_whole and folded[:STEM_CHARS] in own


def _begins_with_word_of(question: str, statement: Statement, others: Sequence[Statement]) -> bool:
    """Return whether a question begins with a word of another statement, perhaps a name."""
    first = _written(question.casefold())[0]
    if first in _OPENING or first in _words_of(statement):
        return False
    return any(first in _words_of(other) for other in others)


def _written(text: str) -> list[str]:
    """Return the words of a text, each whole where a joiner shapes it."""
    return _WORD.findall(visible(text))


def _words_of(statement: Statement) -> frozenset[str]:
    return frozenset(_WORD.findall(_text_of(statement)))


def _text_of(statement: Statement) -> str:
    return visible(f"{statement.content} {statement.place}").casefold()


def _quotes(texts: Sequence[str], own: Statement, others: Sequence[Statement]) -> bool:
    """Return whether a text has words in a row of another statement that are not in its own."""
    said = {run for text in texts for run in _runs(text)} - _runs(own.content)
    return bool(said) and any(not said.isdisjoint(_runs(other.content)) for other in others)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _written(text.casefold())
    return {tuple(words[i : i + QUOTED_WORDS]) for i in range(len(words) - QUOTED_WORDS + 1)}
