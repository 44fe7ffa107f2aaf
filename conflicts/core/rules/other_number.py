"""Two texts in other words give different amounts of one unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from conflicts.core.apart import is_observed
from conflicts.core.comparable import scope_words
from conflicts.core.numbered_things import are_of_other_numbers, labels_of
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from conflicts.core.stated_values import stated_quantities
from conflicts.core.statements import Statement
from memories.core import measures
from memories.core.claims import Quantity
from memories.core.counted_parts import counts_a_part
from memories.core.function_words import words_of
from memories.core.lexicon import concept_of
from memories.core.reasons import Difference

RULE: Final = Rule(
    id="ambiguity.other-words.number",
    meaning="Two statements, often worded differently, give different amounts of one unit.",
    module=__name__,
    example=(
        "The largest upload to the archive is 25 MB.",
        "The archive takes uploads up to 50 MB.",
    ),
)
MIN_COSINE: Final = 0.70
STRENGTH: Final = 0.70
CLOSE: Final = 0.05  # rounding between units: 2 °C and 36 °F
_LIMITS: Final = frozenset(
    map(
        concept_of,
        words_of(
            "limit maximum minimum max min most least largest smallest longest shortest highest"
            " lowest cap bound quota allow allowed must need required threshold"
        ),
    )
)
_GROUPS: Final = frozenset(
    map(
        concept_of,
        words_of("child kid baby infant toddler teenager youth pupil student apprentice senior"
                 " pensioner retiree"),
    )
)  # fmt: skip
_OFFSET: Final = re.compile(r"\s(?:before|ahead|earlier|prior|in\sadvance|beforehand)\b", re.I)


def find(pair: FactPair) -> Clash | None:
    """Compare the amounts of a unit of which each text gives only one."""
    is_near = pair.cosine >= MIN_COSINE or _is_named_by_scope(pair)
    if not is_near or is_observed(pair.a, pair.b):
        return None
    for mine, theirs in _comparable(pair.a, pair.b):
        text = f"other value: {mine.text} against {theirs.text}"
        reason = Difference(text, measures.amount(mine), measures.amount(theirs))
        return pair.clash(RULE, reason, strength=STRENGTH)
    return None


def _is_named_by_scope(pair: FactPair) -> bool:
    """Return whether a text leaves its thing to its scope, and the other names it.

    "The limit is 1,000 requests per second" in the scope "auth", and "Auth allows 5,000".
    """
    return _leaves_to_scope(pair.a, pair.b) or _leaves_to_scope(pair.b, pair.a)


def _leaves_to_scope(a: Statement, b: Statement) -> bool:
    named = scope_words(a.fact)
    rates = [
        {q.unit for claim in s.reading.claims for q in claim.quantities if "/" in q.unit}
        for s in (a, b)
    ]
    opening = b.order[:1]
    return bool(
        named and rates[0] & rates[1] and named.isdisjoint(a.stems) and named.intersection(opening)
    )


def _comparable(a: Statement, b: Statement) -> Iterator[tuple[Quantity, Quantity]]:
    """Yield quantities of one unit when no two of that unit are close."""
    mine, theirs = stated_quantities(a), stated_quantities(b)
    for unit in sorted({q.unit for q in mine} & {q.unit for q in theirs}):
        left = [q for q in mine if q.unit == unit]
        right = [q for q in theirs if q.unit == unit]
        if unit == "count" and not _counts_same(a, b, left, right):
            continue
        if len(left) != 1 or len(right) != 1 or _is_close(left[0], right[0]):
            continue
        if _both_hold(a, left[0], b, right[0]) or _is_for_one_group(a, b):
            continue
        if _counts_a_part(a, left[0], b, right[0]) or _label_other_things(a, left[0], b, right[0]):
            continue
        if _is_offset(a, left[0]) == _is_offset(b, right[0]):
            yield left[0], right[0]


def _label_other_things(a: Statement, mine: Quantity, b: Statement, theirs: Quantity) -> bool:
    """Return whether the texts label one noun differently, beside the amounts compared."""
    return are_of_other_numbers(
        labels_of(a.fact.content, mine.text), labels_of(b.fact.content, theirs.text)
    )


def _counts_a_part(a: Statement, mine: Quantity, b: Statement, theirs: Quantity) -> bool:
    """Return whether one text may count a part of what the other one counts."""
    one, other = (
        next(
            claim
            for claim in statement.reading.claims
            if any(one.text == quantity.text for one in claim.quantities)
        )
        for statement, quantity in ((a, mine), (b, theirs))
    )
    return counts_a_part(one, mine, other, theirs)


def _both_hold(a: Statement, mine: Quantity, b: Statement, theirs: Quantity) -> bool:
    """Return whether one is a lower and one an upper bound, or a bound and an amount within it."""
    if measures.conflict(mine, theirs) or "about" in (mine.bound, theirs.bound):
        return False
    bounded = {mine.bound, theirs.bound}
    if bounded == {"least", "most"}:
        return True
    exact = a if mine.bound == "exact" else b  # "the largest upload is 25 MB" is a bound as well
    return len(bounded) == 2 and "exact" in bounded and _LIMITS.isdisjoint(exact.stems)


def _is_for_one_group(a: Statement, b: Statement) -> bool:
    """Return whether only one text limits its amount to a group of people: children, pensioners."""
    return (_GROUPS & a.stems) != (_GROUPS & b.stems)


def _is_offset(statement: Statement, quantity: Quantity) -> bool:
    """Return whether a span is an offset from something: "five days before"."""
    text = statement.fact.content
    at = text.find(quantity.text)
    return at >= 0 and bool(_OFFSET.match(text, at + len(quantity.text)))


def _counts_same(a: Statement, b: Statement, left: list[Quantity], right: list[Quantity]) -> bool:
    """Return whether two bare numbers count the same noun."""
    if len(left) != 1 or len(right) != 1:
        return False
    mine, theirs = concept_of(left[0].noun), concept_of(right[0].noun)
    if not left[0].noun or not right[0].noun:
        return False
    return theirs in a.stems or mine in b.stems or "times" in (left[0].noun, right[0].noun)


def _is_close(a: Quantity, b: Quantity) -> bool:
    return abs(a.value - b.value) <= CLOSE * max(abs(a.value), abs(b.value))
