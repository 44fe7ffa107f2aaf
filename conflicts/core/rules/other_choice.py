"""Two texts name different members of one kind: French and English."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from conflicts.core.rules.other_things import are_of_other_things
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from conflicts.core.statements import Statement, explain_words
from memories.core.lexicon import INCLUSIVE, KINDS
from memories.core.reasons import Difference
from memories.core.topics import other_names

RULE: Final = Rule(
    id="ambiguity.other-words.choice",
    meaning="Two statements, often worded differently, name two things of one kind: two languages.",
    module=__name__,
    example=(
        "The guide to hall two is written in French.",
        "For hall two there is a guide in English.",
    ),
)
STRENGTH: Final = 0.65
_WHERE: Final = frozenset({"in", "on", "at"})


def find(pair: FactPair) -> Clash | None:
    """Return a clash when the texts name two members of one kind, unless their subjects differ.

    "Written in French" is "not written in English".
    """
    if not pair.is_one_matter or not pair.names_exclude or pair.is_denied_by_one:
        return None
    kinds = _other_kinds(pair.a, pair.b)
    if kinds is None or _are_of_other_things(pair, kinds.sides) or _describe(pair, kinds.sides):
        return None
    if _takes_many(pair.a, kinds.sides) or _takes_many(pair.b, kinds.sides):
        return None
    return pair.clash(RULE, kinds, strength=STRENGTH)


def _are_of_other_things(pair: FactPair, values: frozenset[str]) -> bool:
    """Return whether names tell the texts apart, unless the values are names themselves."""
    if values <= pair.a.names | pair.b.names:
        return False
    return bool(other_names(pair.a.reading, pair.b.reading)) or are_of_other_things(pair)


def _takes_many(statement: Statement, values: frozenset[str]) -> bool:
    """Return whether a text says what is accepted, supported or the like, as others may be, too."""
    return any(
        claim.verb in INCLUSIVE and term.key in values and term.prep not in _WHERE
        for claim in statement.reading.claims
        for term in claim.terms
    )


def _describe(pair: FactPair, values: frozenset[str]) -> bool:
    """Return whether both values describe nouns that only one text has: "the oak salad bowl"."""
    return _describes(pair.a, pair.b, values) and _describes(pair.b, pair.a, values)


def _describes(statement: Statement, other: Statement, values: frozenset[str]) -> bool:
    terms = [term for claim in statement.reading.claims for term in claim.terms]
    return any(
        term.key in values
        and noun.kind == "word"
        and not noun.is_verb
        and noun.prep == term.prep
        and noun.region == term.region
        and noun.key not in other.stems
        for term, noun in pairwise(terms)
    )


def _other_kinds(a: Statement, b: Statement) -> Difference | None:
    """Return as a reason two members of one kind, one of each text; None without such."""
    first: dict[str, str] = {}  # of each kind, their first member
    for word in sorted(b.stems - a.stems):
        for kind in KINDS.get(word, ()):
            first.setdefault(kind, word)
    first.pop("status", None)
    for word in sorted(a.stems - b.stems):
        if found := [first[kind] for kind in KINDS.get(word, ()) if kind in first]:
            return explain_words("other choice", a, word, b, min(found))
    return None
