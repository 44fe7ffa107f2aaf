"""Decide whether two questions ask for the same thing, in whatever words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from conflicts.core.answers.sorts import are_of_one_sort, is_same_sort, sort_of
from conflicts.core.answers.values import are_of_one_type
from conflicts.core.apart import IDLE_MODIFIERS
from conflicts.core.qualifiers import qualifiers
from conflicts.core.topic_words import names, stems, tokens
from memories.core.answers import question_hash
from memories.core.calendar_words import MONTHS, SEASONS, WEEKDAYS
from memories.core.lexicon import opposites_of
from memories.core.number_words import NUMBER_WORDS
from memories.core.reading import read_cached

# By how many content words each of two questions has that the other one lacks.
MIN_COSINES: Final = (0.70, 0.78, 0.84)
MIN_COSINE: Final = 0.62
MIN_COSINE_OTHER_NOUNS: Final = 0.84
MIN_COSINE_YES_OR_NO: Final = 0.72  # such a question states the whole claim in its words
MIN_COSINE_NARROWER: Final = 0.84  # where one question ends with a case that the other lacks
OTHER_SORT: Final = 0.14  # more, where question words and types of the answers differ
_KEPT: Final = 8192
_WORDS: Final = frozenset({"may", "march", "fall", "sun", "sat", "mar", "wed"})
_JOINT: Final = re.compile(r"[-:/_.]")
_NEGATION: Final = re.compile(r"\b(?:no|not|never|n't)\b", re.IGNORECASE)
_ASKED: Final = re.compile(r"\b(?:which|what)\s(?P<noun>[\w-]+)", re.IGNORECASE)
_OF_ONE_THING: Final = re.compile(
    r"^(?:where|when|who|what)\s(?:is|are|was|were)\s"
    r"(?P<thing>(?:(?!(?:in|on|at|for|of|during|by|with|to|from|between|after|before|about)\b)"
    r"[\w'’&-]{1,30}\W{0,2}){1,6})",
    re.IGNORECASE,
)
_CASE: Final = re.compile(
    r"\s(?:at|during|when|while|if|for|with|without|on)\s(?P<case>(?:(?!\b(?:at|during|when|while|if|"
    r"for|with|without|on)\b)[^?]){1,80})\?*\s*$",
    re.IGNORECASE,
)
# "Which one", "one of", "no one" count nothing.
_NUMBER: Final = re.compile(
    r"\d+(?:[.,:]\d+)*|"
    rf"\b(?:{'|'.join(sorted(NUMBER_WORDS.keys() - {'one', 'half'}))})\b|"
    r"(?<=\w{4}\s)(?<!\bevery\s)one\b(?!\sof\b)",
    re.IGNORECASE,
)
_WITH: Final = re.compile(r"\bwith(?:out)?\b", re.IGNORECASE)
_PER: Final = re.compile(
    r"\b(?:per|an?|each|every)\s(?P<unit>hour|day|night|week|month|quarter|year|head|person|seat|"
    r"user|group)\b",
    re.IGNORECASE,
)
# Months that are words as well ("may", "march") count with a capital only.
_CALENDAR: Final = re.compile(
    rf"\b(?:{'|'.join(word for word in (*MONTHS, *WEEKDAYS, *SEASONS) if word not in _WORDS)})s?\b|"
    rf"(?-i:{'|'.join(word.capitalize() for word in sorted(_WORDS))})\b",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    r"\b(?:before|after|during|until|since|first|last|next|previous|primary|secondary|second|third|"
    r"minimum|maximum|min|max|least|most|earliest|latest)\b",
    re.IGNORECASE,
)

_WHICH: Final = frozenset({"which", "what"})
_OF_MEASURES: Final = frozenset({"when", "how much", "which"})
_SAME_ORDER: Final = {"until": "before", "max": "maximum", "min": "minimum"}


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


def common_nouns(a: str, b: str) -> frozenset[str]:
    """Return the stems that both questions have, and that are no verb in either."""
    return _words(a).nouns & _words(b).nouns


def only_adds_nouns(a: str, b: str) -> bool:
    """Return whether question `b` has nouns that `a` lacks, and lacks none of those of `a`."""
    mine, theirs = _words(a).nouns, _words(b).nouns
    return mine < theirs


def names_its_thing(a: str, b: str) -> bool:
    """Return whether question `b` is `a` with nouns: "our address", "the address of the shop"."""
    mine, theirs = _words(a), _words(b)
    return (
        bool(mine.stems)
        and mine.stems <= theirs.stems
        and (theirs.stems - mine.stems <= theirs.nouns)
    )


def ask_of_two_things(a: str, b: str) -> bool:
    """Return whether two questions differ in one word: "Who signs leases?", "Who signs checks?".

    What "which" asks for may have two names: "which queue", "which broker".
    """
    mine, theirs = tokens(a.lower()), tokens(b.lower())
    differing = [at for at, (x, y) in enumerate(zip(mine, theirs, strict=False)) if x != y]
    if len(mine) != len(theirs) or len(differing) != 1 or not differing[0]:
        return False
    at = differing[0]
    is_asked_for = not _WHICH.isdisjoint(mine[max(0, at - 2) : at])
    return not is_asked_for and stems(mine[at]) != stems(theirs[at])


def may_be_one_question(
    a: Asked, b: Asked, cosine: float, *, least: float = MIN_COSINE, may_lack_name: bool = False
) -> bool:
    """Return whether two questions may ask for the same thing; symmetric.

    ``cosine`` is that of their vectors, at least ``least``. Names, numbers, periods and qualifiers
    (staging, summer, tier) of one question must be in the other one; names and qualifiers may also
    be in the memory around it. If one of them ``may_lack_name``, only names on both sides count.
    """
    if _name_other_scopes(a, b):
        return False
    if question_hash(a.question) == question_hash(b.question):
        return sort_of(a.question) != "reason"
    if (
        not (_is_read(a.question) and _is_read(b.question))
        or cosine < least
        or not _ask_for_one_sort(a, b)
    ):
        return False
    mine, theirs = _words(a.question), _words(b.question)
    is_of_another = (
        mine.numbers != theirs.numbers
        or mine.is_negated != theirs.is_negated
        or _are_of_other_times(mine, theirs)
        or _are_of_other_terms(a.question, b.question)
        or _are_of_other_parts(mine, theirs)
        or _are_opposite(mine, theirs)
        or _are_of_other_cases(a, b)
        or _ask_for_other_sides(a, b)
    )
    known = _knows_names(mine, theirs, b), _knows_names(theirs, mine, a)
    return not is_of_another and (any(known) if may_lack_name else all(known))


def is_one_question(a: Asked, b: Asked, cosine: float, *, slack: float = 0.0) -> bool:
    """Return whether two questions, which may ask for the same thing, surely do; symmetric.

    ``slack`` lowers the cosine that is needed, where other evidence speaks for it.
    """
    if question_hash(a.question) == question_hash(b.question):
        return True
    mine, theirs = _words(a.question), _words(b.question)
    if not slack and not (
        mine.names <= theirs.stems | b.place and theirs.names <= mine.stems | a.place
    ):
        return False
    if slack and ask_of_two_things(a.question, b.question):
        slack = 0.0
    least = _min_cosine(a.question, b.question)
    # "What is the cut-off?" and "When is it?" ask for the same where both answers are a time.
    if not is_same_sort(a.question, b.question) and not are_of_one_type(a.answer, b.answer):
        least += OTHER_SORT
    return cosine >= least - slack


def _ask_for_one_sort(a: Asked, b: Asked) -> bool:
    """Return whether two questions ask for one sort: "Until when?", "How long before?"."""
    if are_of_one_sort(a.question, b.question):
        return True
    sorts = {sort_of(a.question), sort_of(b.question)}
    return sorts <= _OF_MEASURES and are_of_one_type(a.answer, b.answer)


def presupposes(a: Asked, b: Asked) -> bool:
    """Return whether ``b`` can only be asked if ``a`` is answered with yes, by their nouns."""
    if sort_of(a.question) != "yes or no" or sort_of(b.question) in ("yes or no", "reason", ""):
        return False
    mine, theirs = _words(a.question), _words(b.question)
    return (
        bool(mine.nouns)
        and mine.nouns <= theirs.stems
        and mine.numbers == theirs.numbers
        and not (mine.is_negated or theirs.is_negated)
        and not _are_of_other_times(mine, theirs)
        and not _name_other_scopes(a, b)
        and not _are_of_other_cases(a, b)
        and _knows_names(theirs, mine, a)
    )


def _is_read(question: str) -> bool:
    """Return whether rules and model read a question's language: mostly basic letters."""
    return 2 * sum(map(str.isascii, question)) > len(question)


@dataclass(frozen=True, slots=True)
class _Words:
    """The content words of a question: stems, those of nouns, names, and words before nouns."""

    stems: frozenset[str]
    nouns: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    calendar: frozenset[str]
    order: frozenset[str]
    parts: tuple[tuple[str, frozenset[str]], ...]
    is_negated: bool


@lru_cache(maxsize=_KEPT)
def _words(question: str) -> _Words:
    found = frozenset(stems(question))
    terms = [term for claim in read_cached(question).claims for term in claim.terms]
    verbs = {term.key for term in terms if term.is_verb}
    before: dict[str, set[str]] = {}
    for modifier, noun in pairwise(tokens(question)):
        for stem in stems(noun) if modifier.lower() not in IDLE_MODIFIERS else ():
            before.setdefault(stem, set()).update(stems(modifier))
    return _Words(
        found,
        found - verbs,
        names(question),
        frozenset(map(_as_digits, _NUMBER.findall(question))),
        # "May" that opens a question is no month.
        frozenset(match[0].lower().rstrip("s") for match in _CALENDAR.finditer(question, 1)),
        frozenset(
            _SAME_ORDER.get(word := match[0].lower(), word) for match in _ORDER.finditer(question)
        ),
        tuple((noun, frozenset(modifiers)) for noun, modifiers in sorted(before.items())),
        bool(_NEGATION.search(question)),
    )


def _as_digits(number: str) -> str:
    """Return a number in digits: "two" is "2"."""
    value = NUMBER_WORDS.get(number.lower())
    return number if value is None else f"{value:g}"


def _are_of_other_terms(a: str, b: str) -> bool:
    """Return whether one question asks per month or with a badge, the other per year or without."""
    withs = [{match[0].lower() for match in _WITH.finditer(text)} for text in (a, b)]
    if all(withs) and withs[0].isdisjoint(withs[1]):
        return True
    mine, theirs = ({match["unit"].lower() for match in _PER.finditer(text)} for text in (a, b))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _min_cosine(a: str, b: str) -> float:
    """Return the cosine from which two questions may be one, by the words they do not share."""
    mine, theirs = _words(a), _words(b)
    others = min(len(mine.stems - theirs.stems), len(theirs.stems - mine.stems))
    if sort_of(a) == sort_of(b) == "yes or no":
        least = MIN_COSINE_YES_OR_NO
    elif _ask_of_other_things(a, b) or (mine.nouns - theirs.stems and theirs.nouns - mine.stems):
        least = MIN_COSINE_OTHER_NOUNS
    else:
        least = MIN_COSINES[min(others, len(MIN_COSINES) - 1)]
    is_narrower = _is_narrower(a, theirs) or _is_narrower(b, mine)
    return max(least, MIN_COSINE_NARROWER) if is_narrower else least


def _ask_of_other_things(a: str, b: str) -> bool:
    """Return whether "Where is the X?" and "Where is the Y?" ask of an X that is no Y."""
    mine, theirs = _head_of(a), _head_of(b)
    return bool(mine and theirs and mine.isdisjoint(theirs))


def _is_narrower(question: str, other: _Words) -> bool:
    """Return whether a question ends with a case that the other lacks: "... at matinees?"."""
    case = _CASE.search(question)
    return case is not None and frozenset(stems(case["case"])).isdisjoint(other.stems)


def _head_of(question: str) -> frozenset[str]:
    """Return the stems of the last noun of "Where is the ...?"; with "Etna the tank" of both."""
    match = _OF_ONE_THING.match(question)
    words = tokens(match["thing"]) if match else []
    nouns = [w for w in words if not _words(question).nouns.isdisjoint(stems(w))]
    heads = [*nouns[-1:], *(nouns[:1] if "the" in words[1:] else ())]
    return frozenset(stem for word in heads for stem in stems(word))


def _are_of_other_times(mine: _Words, theirs: _Words) -> bool:
    """Return whether the questions name other days or months, or other ends of a row."""
    if mine.calendar != theirs.calendar:
        return True
    return bool(mine.order and theirs.order and mine.order.isdisjoint(theirs.order))


def _are_opposite(mine: _Words, theirs: _Words) -> bool:
    """Return whether the questions differ in opposite words: when it opens, when it closes."""
    return any(
        not opposites_of(stem).isdisjoint(theirs.stems - mine.stems)
        for stem in mine.stems - theirs.stems
    )


def _are_of_other_parts(mine: _Words, theirs: _Words) -> bool:
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


def _ask_for_other_sides(a: Asked, b: Asked) -> bool:
    """Return whether "which passport" asks for what another sort of question is about."""
    if is_same_sort(a.question, b.question):
        return False
    return _asks_which(a, _words(b.question)) or _asks_which(b, _words(a.question))


def _asks_which(one: Asked, other: _Words) -> bool:
    asked = _ASKED.search(one.question)
    return bool(asked and not other.stems.isdisjoint(stems(asked["noun"])))


def _are_of_other_cases(a: Asked, b: Asked) -> bool:
    """Return whether one question has a qualifier that is neither in the other nor around it."""
    mine, theirs = qualifiers(a.question), qualifiers(b.question)
    return not (
        mine <= theirs | qualifiers(f"{b.scope} {b.content}")
        and theirs <= mine | qualifiers(f"{a.scope} {a.content}")
    )


def _name_other_scopes(a: Asked, b: Asked) -> bool:
    """Return whether each question names its scope and not the other's."""
    mine, theirs = a.place, b.place
    own, other = frozenset(stems(a.question)), frozenset(stems(b.question))
    return bool((own & mine) - other - theirs and (other & theirs) - own - mine)


def _knows_names(mine: _Words, theirs: _Words, other: Asked) -> bool:
    """Return whether what one question names is in the other one, or around that."""
    return mine.names <= theirs.stems | other.around
