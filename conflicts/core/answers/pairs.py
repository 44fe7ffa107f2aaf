"""Compare two answers to one question with the memories that give them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from conflicts.core import apart
from conflicts.core.answers.index import StatedAnswer
from conflicts.core.comparable import is_of_other_place, may_be_of_one_thing
from conflicts.core.conditions import are_parted
from conflicts.core.cues import GOES_BACK, SETTLES
from conflicts.core.occasions import is_of_other_time
from conflicts.core.statements import Statement, read
from conflicts.core.subjects import LocatedText, are_of_other_subjects, note_of
from conflicts.core.timeline import Timeline
from memories.core.answer_values import (
    compare_values,
    is_time,
    is_yes_or_no,
    mentions,
)
from memories.core.topic_words import stems

MIN_COMMON: Final = 2  # words of a question in the text that answers it
# How long a statement of "this week" speaks for, and what takes time is measured.
_RELATIVE: Final = re.compile(
    r"\b(?:this|next|last|coming)\s(?P<unit>week|sprint|month|quarter|term|season|year|time|spring|"
    r"summer|autumn|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|"
    r"\b(?P<day>today|tonight|tomorrow|yesterday)\b",
    re.IGNORECASE,
)
# What is done "if you want to know what is left for tonight" is done on any day.
_CONDITION: Final = re.compile(r"^(?:if|when|whenever|to)\b[^,;.]{1,200},", re.IGNORECASE)
# "From today on" begins a period that does not end.
_THIS_TIME: Final = re.compile(
    r"(?<!\bfrom\s)(?<!\bas\sof\s)(?<!\bsince\s)(?<!\bstarting\s)"
    r"\b(?:this\s(?P<unit>week|sprint|month|time|year|term|season|summer|winter)"
    r"|(?P<day>today|tonight|yesterday(?!['’]s)))\b",
    re.IGNORECASE,
)
_MONTH: Final = re.compile(
    r"\bin\s(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"\b(?=\W*$|[.,;])"
)
_NUMBERED: Final = re.compile(r"\b(?P<noun>[A-Za-z]{3,30})\s#?(?P<number>\d+(?:\.\d+)*)\b")
_DAYS: Final = {
    "week": 7,
    "sprint": 7,
    "month": 31,
    "quarter": 92,
    "term": 120,
    "year": 300,
    "time": 60,
}
_SEASON_DAYS: Final = 120


def exclude_each_other(timeline: Timeline, old: StatedAnswer, new: StatedAnswer) -> bool:
    """Return whether two answers of comparable memories cannot both hold."""
    if compare_values(old.answer.answer, new.answer.answer) != "other":
        return False
    return are_comparable(timeline, old, new)


def are_comparable(timeline: Timeline, old: StatedAnswer, new: StatedAnswer) -> bool:
    """Return whether the memories may contradict each other, and speak of one period."""
    a, b = timeline.statements[old.position], timeline.statements[new.position]
    if not may_be_of_one_thing(a, b) or is_of_other_place(a, b) or apart.are_apart(a, b):
        return False
    if are_of_other_subjects(_note(a, old), _note(b, new)):
        return False
    answers = f"{old.answer.answer} {new.answer.answer}"
    if is_of_other_time(a, b, asked=answers) or _are_parted(a, b, old, new):
        return False
    if _number_other_things(a, b, old, new):
        return False
    return not _are_of_other_periods(timeline, old, new)


def _note(statement: Statement, stated: StatedAnswer) -> LocatedText:
    return replace(note_of(statement.fact), answer=stated.answer.answer)


def _are_parted(a: Statement, b: Statement, old: StatedAnswer, new: StatedAnswer) -> bool:
    """Return whether one text has a condition that the other does not mention.

    What stands in the answer itself is no condition of it: "not without a clerk's signature" where
    the answer is a clerk. Two writers who ask the same yes or no in the same words, and answer
    plainly, know of none.
    """
    is_plain = is_yes_or_no(old.answer.answer) and is_yes_or_no(new.answer.answer)
    if is_plain and old.answer.identity == new.answer.identity:
        return False
    asked = f"{old.answer.question} {new.answer.question}"
    return are_parted(
        _with_words(a, f"{asked} {new.answer.answer}"),
        _with_words(b, f"{asked} {old.answer.answer}"),
    )


def _with_words(statement: Statement, words: str) -> Statement:
    """Return a statement that mentions some words more."""
    return read(replace(statement.fact, content=f"{statement.fact.content} {words}"))


def _number_other_things(a: Statement, b: Statement, old: StatedAnswer, new: StatedAnswer) -> bool:
    """Return whether the texts number one noun differently, beside the answers."""
    mine, theirs = _numbers(a, old), _numbers(b, new)
    return any(mine[noun].isdisjoint(theirs[noun]) for noun in mine.keys() & theirs.keys())


def _numbers(statement: Statement, stated: StatedAnswer) -> dict[str, set[str]]:
    """Return the numbers of each noun of a text, without those of the answer."""
    found: dict[str, set[str]] = {}
    for match in _NUMBERED.finditer(statement.fact.content):
        if match["number"] not in stated.answer.answer:
            found.setdefault(match["noun"].lower(), set()).add(match["number"])
    return found


def _are_of_other_periods(timeline: Timeline, old: StatedAnswer, new: StatedAnswer) -> bool:
    """Return whether an answer of "this week" is older or newer than its period."""
    gap = timeline.facts[new.position].observed_at - timeline.facts[old.position].observed_at
    months = [
        {match[0].lower() for match in _MONTH.finditer(timeline.facts[one.position].content)}
        for one in (old, new)
        if not is_time(one.answer.answer)
    ]
    if len(months) > 1 and all(months) and months[0].isdisjoint(months[1]):
        return True
    return any(
        gap >= timedelta(days=_days_of(match))
        for one in (old, new)
        for pattern, text in (
            (_RELATIVE, f"{one.answer.question} {one.answer.answer}"),
            (_THIS_TIME, _CONDITION.sub("", timeline.facts[one.position].content)),
        )
        for match in pattern.finditer(text)
    )


def _days_of(period: re.Match[str]) -> int:
    unit = (period["unit"] or "").lower()
    return _DAYS.get(unit, 7 if unit.endswith("day") else _SEASON_DAYS) if unit else 2


def says_it_was(new: StatedAnswer, value: str) -> bool:
    """Return whether an answer names another one as its predecessor."""
    return new.answer.was is not None and compare_values(new.answer.was, value) == "same"


def tells_return(timeline: Timeline, new: StatedAnswer) -> bool:
    """Return whether an answer says that it is a change, or its memory that something is back."""
    return new.answer.was is not None or timeline.has_cue(new.position, *GOES_BACK)


def announces_change(timeline: Timeline, new: StatedAnswer) -> bool:
    """Return whether an answer or its memory tells of a change.

    The word of an answer alone does not change what is known: its memory must speak of the matter.
    """
    content = timeline.facts[new.position].content
    if not _is_spoken_of(content, new):
        return False
    return new.answer.was is not None or timeline.has_cue(new.position, *SETTLES)


def _is_spoken_of(content: str, stated: StatedAnswer) -> bool:
    """Return whether a text has the answer, or two words of the question."""
    answer = stated.answer
    if mentions(content, answer.answer):
        return True
    words = frozenset(stems(content))
    told = words.intersection(stems(answer.answer))
    return bool(told) or len(words.intersection(stems(answer.question))) >= MIN_COMMON
