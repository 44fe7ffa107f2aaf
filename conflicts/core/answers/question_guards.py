"""Guards: what keeps two questions apart, however near their vectors are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from conflicts.core.answers.question_words import QuestionWords, words_of_question
from conflicts.core.answers.sorts import is_same_sort
from conflicts.core.qualifiers import name_other_members, qualifiers, sides
from memories.core.lexicon import opposites_of
from memories.core.topic_words import stems

_JOINT: Final = re.compile(r"[-:/_.]")
_ASKED: Final = re.compile(r"\b(?:which|what)\s(?P<noun>[\w-]+)", re.IGNORECASE)
_WITH: Final = re.compile(r"\bwith(?:out)?\b", re.IGNORECASE)
_RATE: Final = re.compile(
    r"\bper\s(?P<unit>hour|day|night|week|month|quarter|year|head|person|seat|user|group|meal|piece)\b|"
    r"\b(?:each|every|an?)\s(?P<time>hour|day|night|week|month|quarter|year|head)\b"
    r"(?=\W*$|[,.;:)]|\s(?:at|by|for|from|in|of|on|to|with|and|or|if|when)\b)|"
    r"\b(?P<often>hour|dai|night|week|month|quarter|year|annual)ly\b|\b(?P<year>annual)\b",
    re.IGNORECASE,
)
_SAME_UNIT: Final = {"dai": "day", "annual": "year", "head": "person"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer, and what surrounds it: the text and scope of its memory."""

    question: str
    content: str = ""
    scope: str = ""
    answer: str = ""

    @property
    def place(self) -> frozenset[str]:
        """Stems of the scope."""
        return frozenset(stems(_JOINT.sub(" ", self.scope)))

    @property
    def around(self) -> frozenset[str]:
        """Stems of the memory and its scope."""
        return self.place | frozenset(stems(self.content))


def are_of_other_terms(a: str, b: str) -> bool:
    """Return whether one question asks per month or with a badge, the other per year or without."""
    withs = [{match[0].lower() for match in _WITH.finditer(text)} for text in (a, b)]
    if all(withs) and withs[0].isdisjoint(withs[1]):
        return True
    mine, theirs = rates(a), rates(b)
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def rates(text: str) -> frozenset[str]:
    """Return the units that a text counts by: "per month", "monthly", "a month"."""
    units = (next(filter(None, match.groups())).lower() for match in _RATE.finditer(text))
    return frozenset(_SAME_UNIT.get(unit, unit) for unit in units)


def are_of_other_times(mine: QuestionWords, theirs: QuestionWords) -> bool:
    """Return whether the questions name other days or months, or other ends of a row."""
    if mine.calendar != theirs.calendar:
        return True
    return bool(mine.order and theirs.order and mine.order.isdisjoint(theirs.order))


def ask_of_other_sides(a: str, b: str) -> bool:
    """Return whether the questions are about two ends, times or groups: "start", "end"."""
    return name_other_members(sides(a), sides(b))


def are_opposite(mine: QuestionWords, theirs: QuestionWords) -> bool:
    """Return whether the questions differ in opposite words: when it opens, when it closes."""
    return any(
        not opposites_of(stem).isdisjoint(theirs.stems - mine.stems)
        for stem in mine.stems - theirs.stems
    )


def are_of_other_parts(mine: QuestionWords, theirs: QuestionWords) -> bool:
    """Return whether one noun has other words before it: "audit logs", "debug logs"."""
    others = dict(theirs.parts)
    return any(
        noun in others
        and modifiers.isdisjoint(theirs.stems)
        and others[noun].isdisjoint(mine.stems)
        and modifiers & mine.nouns
        and others[noun] & theirs.nouns
        for noun, modifiers in mine.parts
    )


def ask_for_other_sides(a: Asked, b: Asked) -> bool:
    """Return whether "which passport" asks for what another sort of question is about."""
    if is_same_sort(a.question, b.question):
        return False
    return _asks_which(a, words_of_question(b.question)) or _asks_which(
        b, words_of_question(a.question)
    )


def _asks_which(one: Asked, other: QuestionWords) -> bool:
    asked = _ASKED.search(one.question)
    return bool(asked and not other.stems.isdisjoint(stems(asked["noun"])))


def are_of_other_cases(a: Asked, b: Asked) -> bool:
    """Return whether one question has a qualifier that is neither in the other nor around it."""
    mine, theirs = qualifiers(a.question), qualifiers(b.question)
    return not (
        mine <= theirs | qualifiers(f"{b.scope} {b.content}")
        and theirs <= mine | qualifiers(f"{a.scope} {a.content}")
    )


def name_other_scopes(a: Asked, b: Asked) -> bool:
    """Return whether each question names its scope and not the other's."""
    mine, theirs = a.place, b.place
    own, other = frozenset(stems(a.question)), frozenset(stems(b.question))
    return bool((own & mine) - other - theirs and (other & theirs) - own - mine)


def knows_names(mine: QuestionWords, theirs: QuestionWords, other: Asked) -> bool:
    """Return whether what one question names is in the other one, or around that."""
    return mine.names <= theirs.stems | other.around
