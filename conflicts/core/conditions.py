"""Conditions that part two claims about one thing: "without a receipt", "older than 90 days"."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.statements import Statement
from memories.core.lexicon import concept_of
from memories.core.topic_words import tokens

_OF_DEGREE: Final = (
    r"older|newer|younger|longer|shorter|larger|smaller|bigger|heavier|lighter|higher|lower|later|"
    r"earlier|more|less|fewer"
)
_CONDITIONS: Final = re.compile(
    r"\b(?:without\s(?!anyone\b|anybody\b|exceptions?\b|fail\b|doubt\b)(?P<lacking>[^.,;:]{1,60})"
    rf"|(?P<degree>(?:{_OF_DEGREE})\sthan\s(?!once\b|one\b)[^.,;:]{{1,30}})"
    r"|(?P<bound>(?:below|under|above|over|beyond|exceeding|up\sto)\s(?:[$€£]\s?)?\d[^.,;:]{0,20})"
    r"|(?:if\s(?!you(?:\sare|['’]re)?\s(?:look|need|want|search|wonder))|unless\s|provided\sthat\s|"
    r"as\slong\sas\s|except\s)(?P<clause>[^.,;:]{1,80})"
    r"|(?:in|during)\s(?:the\s)?(?P<season>spring|summer|autumn|fall|winter))",
    re.IGNORECASE,
)
_DAY_PART: Final = re.compile(
    r"\b(?:in\sthe\s|at\s|over\s)(mornings?|noon|afternoons?|evenings?|nights?)\b",
    re.IGNORECASE,
)
_IN_ANY_CASE: Final = re.compile(
    r"\b(?:(?:under|in)\s(?:any|no|all)\s(?:circumstances?|cases?)|always|never|whatever|"
    r"regardless|at\sall\stimes|without\sexception)\b",
    re.IGNORECASE,
)
# What follows from the condition begins without a comma: "if you are on call you will be phoned".
_CONSEQUENCE: Final = re.compile(
    r"(?<=\w)\s(?:(?:you|we|they|he|she|it|one)\s(?:will|can|may|must|should|have\sto|need)|"
    r"(?:the|our|an?)\s\w{1,40}\s(?:is|are|was|were|has|have|goes|go|will|can|may|must|should|"
    r"\w{2,30}s\s(?:at|from|until|in|on|for|by)))\b",
    re.IGNORECASE,
)
_POSSESSIVE: Final = re.compile(r"['’]s$")
_MOSTLY: Final = 0.5


def are_parted(a: Statement, b: Statement) -> bool:
    """Return whether either text has a condition that the other does not mention."""
    return _adds_condition(a, b) or _adds_condition(b, a)


def are_under_conditions(a: Statement, b: Statement) -> bool:
    """Return whether either text holds only if something is so that the other does not mention."""
    return _adds_condition(a, b, "clause") or _adds_condition(b, a, "clause")


def are_day_parts(a: Statement, b: Statement) -> bool:
    """Return whether the texts are about two parts of the day."""
    mine, theirs = (
        {match[1].lower().rstrip("s") for match in _DAY_PART.finditer(s.fact.content)}
        for s in (a, b)
    )
    return bool(mine and theirs and mine.isdisjoint(theirs))


def _adds_condition(a: Statement, b: Statement, group: str = "") -> bool:
    """Return whether `a` has a condition, of the group of the pattern if one is given."""
    if _IN_ANY_CASE.search(b.fact.content):
        return False
    for match in _CONDITIONS.finditer(a.fact.content):
        condition = match[group] if group else next(words for words in match.groups() if words)
        if condition and not _is_mentioned(condition, b):
            return True
    return False


def _is_mentioned(condition: str, other: Statement) -> bool:
    """Return whether another text has most words of a condition, in whatever form."""
    condition = _CONSEQUENCE.split(condition, maxsplit=1)[0]
    found = (_POSSESSIVE.sub("", word) for word in tokens(condition.lower()))
    words = [word for word in found if len(word) > 3 or word.isdigit()]
    text = other.fact.content.lower()
    mentioned = sum(word in text or concept_of(word) in other.stems for word in words)
    return mentioned >= _MOSTLY * len(words)
