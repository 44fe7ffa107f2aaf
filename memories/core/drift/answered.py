"""Find in an edited statement what a memory answers, and what stands in the place of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from memories.core.answer_values import compare_values
from memories.core.answers import Answer
from memories.core.drift.edits import LEAST_LIKENESS, Edit
from memories.core.drift.parts import words_of
from memories.core.drift.passages import Statement, plain_of
from memories.core.drift.support import Scored, Support, covered

_OF_ITS_OWN: Final = 3  # words of an answer that no statement about something else has
_WORD: Final = re.compile(r"\w+(?:[.,:]\w+)*")


@dataclass(frozen=True, slots=True)
class OtherAnswer:
    """An edit that replaced what a memory answers, with the reason for people."""

    edit: Edit
    reason: str


def carries_an_answer(support: Support, answers: Iterable[Answer]) -> bool:
    """Return whether one supporting statement gives an answer of the memory."""
    return any(_gives(one.statement, answer) for answer in answers for one in support.sentences)


def answered_otherwise(
    answers: Sequence[Answer], edits: Sequence[Edit], present: Sequence[Scored]
) -> OtherAnswer | None:
    """Return the edit that has another answer where the memory's stood, None when none is sure.

    The answer is nowhere else in the note, and the comparison of answers is sure that both cannot
    hold.
    """
    for answer in answers:
        keys = _keys(answer)
        for edit in edits:
            if edit.after is None or edit.likeness < LEAST_LIKENESS:
                continue
            if not _gives(edit.before.statement, answer):
                continue
            if any(_repeats(one.statement, keys, answer) for one in present):
                continue
            told = _in_place_of(edit.before.statement, edit.after, keys)
            if told and compare_values(answer.answer, told) == "other":
                return OtherAnswer(edit, said_otherwise(answer, told))
    return None


def said_otherwise(answer: Answer, told: str) -> str:
    """Return the reason for people: the question with both answers."""
    return f"{plain_of(answer.question)} The memory says {answer.answer}, the note {told}"


def lost_answers(
    answers: Iterable[Answer], lost: Iterable[str], edits: Sequence[Edit]
) -> tuple[Answer, ...]:
    """Return the answers that edited statements gave, of which words are gone (`lost`, by key)."""
    gone = set(lost)
    said = [edit.before.statement for edit in edits]
    return tuple(
        one for one in answers if _keys(one) & gone and any(_gives(told, one) for told in said)
    )


def _keys(answer: Answer) -> frozenset[str]:
    return frozenset(words_of(answer.answer))


def _gives(statement: Statement, answer: Answer) -> bool:
    """Return whether a statement has all words of an answer, and is about the question.

    Its other words are what it is about; of one that is nothing but the answer its headings tell.
    A name or a number stands in other statements, too; a longer answer hardly does.
    """
    keys = _keys(answer)
    said = covered(statement).keys()
    if len(keys) >= _OF_ITS_OWN:
        return keys <= said
    own = words_of(statement.text).keys() - keys
    asked = words_of(answer.question).keys() - keys
    return bool(keys) and keys <= said and not asked.isdisjoint(own or said)


def _repeats(statement: Statement, keys: frozenset[str], answer: Answer) -> bool:
    """Return whether a statement has the answer, and more words of the question."""
    said = covered(statement).keys()
    return keys <= said and bool(said & words_of(answer.question).keys() - keys)


def _in_place_of(before: Statement, after: Statement, keys: frozenset[str]) -> str:
    """Return the words that stand where those with these keys stood, as written; "" if none do."""
    told = words_of(before.text)
    if not keys <= told.keys():
        return ""
    wanted = {word for key in keys for word in _lower(told[key])}
    old, new = (list(_WORD.finditer(text)) for text in (before.text, after.text))
    left, right = ([word[0].lower() for word in words] for words in (old, new))
    first, last = _narrowest(left, wanted)
    start, end = len(new), 0
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if i1 > last or i2 <= first or j1 == j2:
            continue
        is_kept = kind == "equal"
        start = min(start, j1 + max(first - i1, 0) if is_kept else j1)
        end = max(end, j2 - max(i2 - 1 - last, 0) if is_kept else j2)
    return after.text[new[start].start() : new[end - 1].end()] if start < end else ""


def _narrowest(words: Sequence[str], wanted: Set[str]) -> tuple[int, int]:
    """Return the first and last position of the shortest part that has all wanted words."""
    places: dict[str, int] = {}
    best = (0, len(words) - 1)
    for position, word in enumerate(words):
        if word not in wanted:
            continue
        places[word] = position
        if len(places) == len(wanted) and position - min(places.values()) < best[1] - best[0]:
            best = (min(places.values()), position)
    return best


def _lower(written: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(written)]
