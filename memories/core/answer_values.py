"""Compare two answers to one question: do they agree, or does each exclude the other?"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memories.core import claims, measures
from memories.core.answer_bounds import exclude_by_amount
from memories.core.answer_forms import ValueRelation, compare_forms
from memories.core.answer_spelling import spell_alike
from memories.core.claims import Quantity
from memories.core.lexicon import concept_of, opposites_of
from memories.core.reading import read_cached
from memories.core.topic_words import names, stems, tokens

MAX_CHARS: Final = 300  # longer answers are not compared
_KEPT: Final = 4096
_YES: Final = re.compile(r"^\W*yes\b", re.IGNORECASE)
_YES_NO: Final = re.compile(
    r"^\W*(?:(?P<yes>yes|true|always)|(?P<no>no(?!\s(?:more|less|fewer|later|earlier)\sthan\b)|not|never|false|none|nobody|"
    r"nothing|neither))\b[\s,;:.–-]*(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
# What follows limits the yes or no to a case.
_LIMIT: Final = re.compile(
    r"\b(?:if|unless|except|when|where|while|but|without|outside|partly|mostly|some|sometimes|"
    r"usually|planned|pending|yet|follows?|missing|waiting|paused)\b",
    re.IGNORECASE,
)
# An amount of zero in words: "free of charge", "nothing extra".
_ZERO: Final = re.compile(
    r"^\W*(?:nothing|none|zero|free|gratis|no\s(?:charge|fees?|costs?|price))\b(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_CASE: Final = re.compile(r"\b(?:if|unless|except|for|when|while|during|onwards?)\b", re.IGNORECASE)
# Says in which order an answer names things: "the office first, then the beds".
_IN_ORDER: Final = re.compile(r"\b(?:first|then|before|afterwards)\b", re.IGNORECASE)
_AGAINST_ORDER: Final = re.compile(r"\b(?:after|last)\b", re.IGNORECASE)
MIN_WORDS_BESIDE: Final = 2  # content words of an answer that is more than its amount
_DIGIT_COMMA: Final = re.compile(r"\d,\d")
# When an answer holds is no part of it: "in the yard this month".
_AT_PRESENT: Final = re.compile(
    r"(?<=\w)\s(?:(?:all|for)\s)?(?:this\s(?:week|month|quarter|term|season|year)|today|tonight|now|"
    r"currently|at\spresent|at\sthe\smoment)\W*$",
    re.IGNORECASE,
)
# A time and nothing else: "a quarter", "every quarter", "three months".
_PERIOD: Final = re.compile(
    r"(?:once\s)?(?P<each>(?:every|each|per)\s)?(?P<count>[\w.]{1,20}\s)?"
    r"(?P<unit>(?:second|minute|hour|day|week|fortnight|month|quarter|year|decade)s?)",
    re.IGNORECASE,
)
_ONE: Final = frozenset(["", "a ", "an "])  # "a quarter" may be said of how long, and how often
_UNIT: Final = re.compile(r"\b[^\W\d]{1,30}$|[°%$€£]")  # what stands after the number
_VERSION: Final = re.compile(r"\d{1,4}(?:\.\d{1,4}){0,3}")
_ROLE: Final = re.compile(r"^\W*(?:the|our|a|an)\s[a-z]")
_VAGUE: Final = re.compile(
    r"^\W*(?:unknown|unclear|not\s(?:known|stated|decided|sure)|open|tbd|undecided|pending|varies|"
    r"it\sdepends|depends|various|several|n/?a)\b",
    re.IGNORECASE,
)


def compare_values(a: str, b: str) -> ValueRelation:
    """Return how two answers to one question relate; symmetric.

    `same` when they agree or one only says more ("Priya", "Priya Nair"), `other` when both cannot
    be the answer, `unclear` when no rule decides. Claim comparison decides about units, dates,
    versions and kinds of things; answers that share no word are different ones.
    """
    if max(len(a), len(b)) > MAX_CHARS or _VAGUE.match(a) or _VAGUE.match(b):
        return "unclear"
    first, second = sorted(spell_alike(a, b))
    return _compare(first, second)


def is_yes_or_no(answer: str) -> bool:
    """Return whether an answer begins with yes or no."""
    return bool(_YES_NO.match(answer))


def is_yes(answer: str) -> bool:
    """Return whether an answer begins with yes."""
    return bool(_YES.match(answer))


def denies_all(answer: str) -> bool:
    """Return whether an answer is a no that holds in every case."""
    found = _YES_NO.match(answer)
    return bool(found and found["no"] and not _LIMIT.search(found["rest"]))


def is_measured(answer: str) -> bool:
    """Return whether an answer gives an amount or a time."""
    return _type_of(answer) != "words"


def is_time(answer: str) -> bool:
    """Return whether an answer gives a date or a time."""
    return _type_of(answer) == "time"


def are_of_one_type(a: str, b: str) -> bool:
    """Return whether both answers are times, or both are amounts of one unit."""
    mine, theirs = _type_of(a), _type_of(b)
    if mine == theirs == "amount":
        return bool({q.unit for q in _quantities(a)} & {q.unit for q in _quantities(b)})
    return mine == theirs == "time"


def is_name(answer: str) -> bool:
    """Return whether an answer has a name and no amount or time."""
    return bool(_names(answer)) and not is_measured(answer)


def mentions(text: str, answer: str) -> bool:
    """Return whether a text has all words and values of an answer that is no yes or no."""
    if _YES_NO.match(answer):
        return False
    words = frozenset(stems(answer))
    if not words.issubset(stems(text)):
        return False
    mine, theirs = _dates(answer), _quantities(answer)
    if not (words or mine or theirs):
        return False
    known = [quantity for claim in read_cached(text).claims for quantity in claim.quantities]
    dates = {date for claim in read_cached(text).claims for date in claim.dates}
    return mine <= dates and all(
        any(p.unit == q.unit and _agree(p, q) for p in known) for q in theirs
    )


@lru_cache(maxsize=_KEPT)
def _compare(a: str, b: str) -> ValueRelation:
    if (zero := _compare_zero(a, b)) is not None:
        return zero
    mine, theirs = _YES_NO.match(a), _YES_NO.match(b)
    if mine or theirs:
        return _compare_yes_no(mine, theirs)
    if _are_of_other_cases(a, b):
        return "unclear"
    if _are_in_other_order(a, b) or exclude_by_amount(a, b, _quantities(a), _quantities(b)):
        return "other"
    if (found := compare_forms(a, b)) is not None:
        return found
    return "other" if _are_opposite(a, b) else _compare_claims(a, b)


def _are_equal_periods(a: str, b: str) -> bool:
    """Return whether two times are as long, or as often: "a quarter" and "every three months"."""
    mine, theirs = (_PERIOD.fullmatch(one.strip(" .,;")) for one in (a, b))
    if mine is None or theirs is None:
        return False
    is_either = any((one["count"] or "").lower() in _ONE - {""} for one in (mine, theirs))
    if not is_either and bool(mine["each"]) != bool(theirs["each"]):
        return False
    one, other = _seconds(mine), _seconds(theirs)
    return len(one) == len(other) == 1 and _agree(one[0], other[0])


def _seconds(period: re.Match[str]) -> list[Quantity]:
    """Return how long a time is, read where only a time can stand: behind "for"."""
    count = (period["count"] or "").lower()
    length = f"{'a ' if count in _ONE else count}{period['unit']}"
    told = read_cached(f"It lasts for {length}.").claims
    return [q for claim in told for q in claim.quantities if q.unit == "s"]


def _compare_zero(a: str, b: str) -> ValueRelation | None:
    """Compare "nothing" or "free of charge" with an amount; None for other answers."""
    mine, theirs = _ZERO.match(a), _ZERO.match(b)
    if mine and theirs:
        return "same"
    zero, amounts = (mine, _quantities(b)) if mine else (theirs, _quantities(a))
    if zero is None or not amounts or any(quantity.value <= 0 for quantity in amounts):
        return None
    return "unclear" if _CASE.search(zero["rest"]) else "other"


def _compare_claims(a: str, b: str) -> ValueRelation:
    """Compare answers that are neither yes nor no by claim comparison, then by their words."""
    relation = claims.compare(_sentence(a), _sentence(b)).relation
    if relation == "contradicts" and _name_other_dates(a, b):
        return "other"
    is_finer = _is_finer_version(a, b, is_dotted=relation == "contradicts")
    if relation in ("same", "refines") or _share_value(a, b) or is_finer:
        return "same"
    if bool(_ROLE.match(a)) != bool(_ROLE.match(b)) and (_names(a) or _names(b)):
        return "unclear"  # "the treasurer" may be Olga
    if _type_of(a) != _type_of(b) and not (_says_more(a) and _says_more(b)):
        return "unclear"
    if relation == "contradicts" or _quantities(a):
        return "other"
    return _compare_words(a, b)


def _name_other_dates(a: str, b: str) -> bool:
    """Return whether both answers name dates or days, none in common: "1 May", "1 June"."""
    mine, theirs = _dates(a), _dates(b)
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _compare_yes_no(mine: re.Match[str] | None, theirs: re.Match[str] | None) -> ValueRelation:
    """Compare yes with no; an answer that is neither, or holds in one case only, is unclear."""
    if mine is None or theirs is None:
        return "unclear"
    if bool(mine["yes"]) == bool(theirs["yes"]):
        return "same"
    return "unclear" if _LIMIT.search(mine["rest"]) or _LIMIT.search(theirs["rest"]) else "other"


def _are_of_other_cases(a: str, b: str) -> bool:
    """Return whether both answers hold in a case that they name: "two, if enrolled in 2022"."""
    return bool(_CASE.search(a) and _CASE.search(b))


def _are_in_other_order(a: str, b: str) -> bool:
    """Return whether two answers name the same two things or more in another order of time."""
    if not (_IN_ORDER.search(a) and _IN_ORDER.search(b)):
        return False
    if _AGAINST_ORDER.search(a) or _AGAINST_ORDER.search(b):
        return False
    mine, theirs = (list(dict.fromkeys(stems(_IN_ORDER.sub(" ", text)))) for text in (a, b))
    shared = [stem for stem in mine if stem in theirs]
    return shared[:2] != [stem for stem in theirs if stem in mine][:2]


def _says_more(answer: str) -> bool:
    """Return whether an answer is no bare amount or time: "it is sent again after an hour"."""
    told = read_cached(_sentence(answer)).claims
    values = {stem for claim in told for q in claim.quantities for stem in stems(q.text)}
    return len(frozenset(stems(answer)) - values) >= MIN_WORDS_BESIDE


def _are_opposite(a: str, b: str) -> bool:
    """Return whether two answers differ in opposite words alone: "the first", "the last"."""
    mine, theirs = (frozenset(map(concept_of, tokens(text.lower()))) for text in (a, b))
    only, other = mine - theirs, theirs - mine
    return len(only) == len(other) == 1 and not opposites_of(min(only)).isdisjoint(other)


def _sentence(answer: str) -> str:
    """Return an answer as a statement, which is what claim comparison reads."""
    return f"The answer is {answer.strip().rstrip('.!?')}."


def _share_value(a: str, b: str) -> bool:
    """Return whether one answer has the other's value among its values: "75 s (75000 ms)"."""
    if _are_equal_periods(a, b):
        return True
    mine, theirs = _quantities(a), _quantities(b)
    if _leaves_unit_out(mine, theirs) or _leaves_unit_out(theirs, mine):
        return True
    units = {q.unit for q in mine} & {q.unit for q in theirs}
    return bool(units) and all(
        any(_agree(p, q) for p in mine for q in theirs if p.unit == q.unit == unit)
        for unit in units
    )


def _leaves_unit_out(bare: tuple[Quantity, ...], full: tuple[Quantity, ...]) -> bool:
    """Return whether one number without a unit is that of the other, or in its range: "30"."""
    if len(bare) != 1 or len(full) != 1 or bare[0].unit != "count" or full[0].unit == "count":
        return False
    if bare[0].noun or bare[0].upper is not None:
        return False
    number = _UNIT.sub(" ", full[0].text)
    told = read_cached(_sentence(f"between {number}" if " and " in number else number)).claims
    return any(_agree(bare[0], q) for claim in told for q in claim.quantities)


def _is_finer_version(a: str, b: str, *, is_dotted: bool) -> bool:
    """Return whether one answer gives the other's version more exactly: "3.12", "3.12.4".

    An equal number counts as well unless ``is_dotted``, as of answers that contradict each other.
    """
    mine, theirs = (_VERSION.findall(text) for text in (a, b))
    if len(mine) != 1 or len(theirs) != 1:
        return False
    rests = [frozenset(stems(_VERSION.sub(" ", text))) for text in (a, b)]
    if not (rests[0] <= rests[1] or rests[1] <= rests[0]):
        return False
    short, long = sorted((mine[0], theirs[0]), key=len)
    return bool(long.startswith(f"{short}.") or (long == short and not is_dotted))


def _type_of(answer: str) -> str:
    """Return whether an answer is an amount, a time or words; what a comma adds does not count."""
    head = answer.partition(",")[0] if not _DIGIT_COMMA.search(answer) else answer
    head = _AT_PRESENT.sub("", head) or head
    found = read_cached(_sentence(head)).claims
    if any(claim.quantities or claim.versions for claim in found):
        return "amount"
    return "time" if any(claim.dates for claim in found) else "words"


def _dates(answer: str) -> frozenset[str]:
    found = read_cached(_sentence(answer)).claims
    return frozenset(date for claim in found for date in claim.dates)


def _agree(a: Quantity, b: Quantity) -> bool:
    """Return whether two amounts may both be the answer: a range or a bound holds others."""
    return measures.is_near(a, b) or not measures.conflict(a, b)


def _quantities(answer: str) -> tuple[Quantity, ...]:
    found = read_cached(_sentence(answer)).claims
    return tuple(quantity for claim in found for quantity in claim.quantities)


def _compare_words(a: str, b: str) -> ValueRelation:
    """Compare answers by their words: one within the other is the same, none in common another."""
    mine, theirs = frozenset(stems(a)), frozenset(stems(b))
    if not mine or not theirs:
        return "unclear"
    if mine <= theirs or theirs <= mine:
        return "same"
    if mine.isdisjoint(theirs):
        return "other"
    named, other_named = _names(a), _names(b)
    if named and other_named and named.isdisjoint(other_named):
        return "other"
    return "unclear"


def _names(answer: str) -> frozenset[str]:
    return names(_sentence(answer))
