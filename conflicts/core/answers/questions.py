"""Decide whether two questions ask for the same thing, in whatever words."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.answers.question_guards import (
    Asked,
    are_of_other_cases,
    are_of_other_parts,
    are_of_other_terms,
    are_of_other_times,
    are_opposite,
    ask_for_other_sides,
    ask_of_other_sides,
    knows_names,
    name_other_scopes,
)
from conflicts.core.answers.question_limits import is_limited
from conflicts.core.answers.question_words import (
    QuestionWords,
    ask_of_two_things,
    words_of_question,
)
from conflicts.core.answers.sorts import are_of_one_sort, is_same_sort, sort_of
from memories.core.answer_values import are_of_one_type
from memories.core.answers import question_hash
from memories.core.topic_words import stems, tokens

# By how many content words each of two questions has that the other one lacks.
MIN_COSINES: Final = (0.70, 0.78, 0.84)
MIN_COSINE: Final = 0.62
MIN_COSINE_OTHER_NOUNS: Final = 0.84
MIN_COSINE_YES_OR_NO: Final = 0.72  # such a question states the whole claim in its words
MIN_COSINE_NARROWER: Final = 0.84  # where one question ends with a case that the other lacks
OTHER_SORT: Final = 0.07  # more, where question words and types of the answers differ
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
_OF_MEASURES: Final = frozenset({"when", "how much", "which"})


def may_be_one_question(
    a: Asked, b: Asked, cosine: float, *, least: float = MIN_COSINE, may_lack_name: bool = False
) -> bool:
    """Return whether two questions may ask for the same thing; symmetric.

    ``cosine`` is that of their vectors, at least ``least``. Names, numbers, periods and qualifiers
    (staging, summer, tier) of one question must be in the other one; names and qualifiers may also
    be in the memory around it. If one of them ``may_lack_name``, only names on both sides count.
    """
    if name_other_scopes(a, b):
        return False
    if question_hash(a.question) == question_hash(b.question):
        return sort_of(a.question) != "reason"
    if (
        not (_is_read(a.question) and _is_read(b.question))
        or cosine < least
        or not _ask_for_one_sort(a, b)
    ):
        return False
    mine, theirs = words_of_question(a.question), words_of_question(b.question)
    is_of_another = (
        mine.numbers != theirs.numbers
        or mine.is_negated != theirs.is_negated
        or are_of_other_times(mine, theirs)
        or are_of_other_terms(a.question, b.question)
        or are_of_other_parts(mine, theirs)
        or are_opposite(mine, theirs)
        or ask_of_other_sides(a.question, b.question)
        or are_of_other_cases(a, b)
        or ask_for_other_sides(a, b)
    )
    known = knows_names(mine, theirs, b), knows_names(theirs, mine, a)
    return not is_of_another and (any(known) if may_lack_name else all(known))


def is_one_question(a: Asked, b: Asked, cosine: float, *, slack: float = 0.0) -> bool:
    """Return whether two questions, which may ask for the same thing, surely do; symmetric.

    ``slack`` lowers the cosine that is needed, where other evidence speaks for it.
    """
    if question_hash(a.question) == question_hash(b.question):
        return True
    if is_limited(a, b):
        return False
    mine, theirs = words_of_question(a.question), words_of_question(b.question)
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
    mine, theirs = words_of_question(a.question), words_of_question(b.question)
    return (
        bool(mine.nouns)
        and mine.nouns <= theirs.stems
        and mine.numbers == theirs.numbers
        and not (mine.is_negated or theirs.is_negated)
        and not are_of_other_times(mine, theirs)
        and not name_other_scopes(a, b)
        and not are_of_other_cases(a, b)
        and knows_names(theirs, mine, a)
    )


def _is_read(question: str) -> bool:
    """Return whether rules and model read a question's language: mostly basic letters."""
    return 2 * sum(map(str.isascii, question)) > len(question)


def _min_cosine(a: str, b: str) -> float:
    """Return the cosine from which two questions may be one, by the words they do not share."""
    mine, theirs = words_of_question(a), words_of_question(b)
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


def _is_narrower(question: str, other: QuestionWords) -> bool:
    """Return whether a question ends with a case that the other lacks: "... at matinees?"."""
    case = _CASE.search(question)
    return case is not None and frozenset(stems(case["case"])).isdisjoint(other.stems)


def _head_of(question: str) -> frozenset[str]:
    """Return the stems of the last noun of "Where is the ...?"; with "Etna the tank" of both."""
    match = _OF_ONE_THING.match(question)
    words = tokens(match["thing"]) if match else []
    nouns = [w for w in words if not words_of_question(question).nouns.isdisjoint(stems(w))]
    heads = [*nouns[-1:], *(nouns[:1] if "the" in words[1:] else ())]
    return frozenset(stem for word in heads for stem in stems(word))
