"""Decide the relation of two claims: `same`, `refines`, `contradicts` or `different`.

Every rule first requires that everything else agrees. Two claims contradict when one slot has
values that exclude each other; when two slots differ they are on two topics. Pairs that no rule
can judge are `different`: precision is preferred to recall.
"""

from __future__ import annotations

import re

from memories.core import one_value
from memories.core.agreements import agreement
from memories.core.alignment import TermPair
from memories.core.cases import (
    Case,
    CaseReading,
    Relation,
    build_case,
    different,
    is_agent_slot,
    names,
    on_topic,
    positions,
)
from memories.core.claim_types import Claim, Term
from memories.core.contradictions.registry import RULES
from memories.core.function_words import AUXILIARIES, words_of
from memories.core.longer_names import BEFORE_NAMES
from memories.core.slot_words import IDENTIFIED

__all__ = ["OF_TWO_THINGS", "CaseReading", "Relation", "relate"]

# Interchangeable prepositions of time and place; "" stands for "during" and "when".
# Words that tell one of two like things from the other: "the north ward".
_POSITIONS = BEFORE_NAMES | words_of(
    "northern southern eastern western front back rear left right top bottom morning evening day"
    " night early late"
)
OF_TWO_THINGS = "one sentence of two things"
_OF_THINGS = frozenset(["of", "for"])
_YEARS = "year"
_YEAR = re.compile(r"(?:19|20)\d\d")
_WITHIN = frozenset(["", "in", "on", "at", "for", "of", "within", "every"])


def relate(a: Claim, b: Claim) -> CaseReading:
    """Decide the relation of two claims.

    Returns
    -------
    CaseReading
        `contradicts` and `same` are symmetric; `refines` names the finer side.
    """
    return one_value.find(a, b) or _relate_cases(a, b, build_case(a, b))


def _relate_cases(a: Claim, b: Claim, case: Case) -> CaseReading:
    if not on_topic(case):
        # A paraphrase may have few common words; different values as well make it unlikely.
        is_clear = bool(case.found.clashes or case.found.opposed)
        confidence = 0.5 if is_clear else 0.45
        return different("they speak of different things", confidence=confidence)
    if a.modality != b.modality:
        return different(f"one is a {a.modality}, the other a {b.modality}", confidence=0.6)
    if reason := _other_subject(case):
        return different(reason, confidence=0.7)
    if a.modality == "fact":
        for rule in RULES:
            if verdict := rule(case):
                return verdict
    if reason := _find_substitution(case):
        return different(reason, confidence=0.6)
    return agreement(case)


def _other_subject(case: Case) -> str:
    """Return a reason when the two are on different things, places or times, else ""."""
    for region in ("subject", "condition"):
        left = [term for term in case.left_a if term.region == region]
        right = [term for term in case.left_b if term.region == region]
        may_differ = region == "subject" and is_agent_slot(case)
        if left and right and not may_differ:
            return f"other {region}: {names(left)} vs {names(right)}"
        clashing = case.found.clashes + case.found.opposed
        for pair in clashing:
            is_here = pair.a.region == pair.b.region == region
            if is_here and not may_differ and not _is_claimed(pair, alone=len(clashing) == 1):
                return f"other {region}: {pair.a.written} vs {pair.b.written}"
    return _other_bearer(case) or _other_position(case) or _other_item(case)


def _other_position(case: Case) -> str:
    """Return a reason when opposite words tell two things apart: "of the north ward", else ""."""
    for pair in case.found.opposed + case.found.clashes:
        terms = (pair.a, pair.b)
        names_things = all(term.text.lower() in _POSITIONS for term in terms)
        is_of_thing = any(term.region == "subject" or term.prep in _OF_THINGS for term in terms)
        if names_things and is_of_thing:
            return f"other subject: {pair.a.written} vs {pair.b.written}"
    return ""


def _other_item(case: Case) -> str:
    """Return a reason when a value names another item or the conditions differ, else ""."""
    clashes = case.found.clashes
    labels = [pair for pair in clashes if pair.a.kind == "label"]
    narrows_subject = any(
        _is_of_thing(pair) or (_leads_a_verb(case.a, pair.a) and _leads_a_verb(case.b, pair.b))
        for pair in labels
    )
    opens_both = any(_opens(case.a, pair.a) and _opens(case.b, pair.b) for pair in labels)
    if labels and (len(clashes) > len(labels) or opens_both or narrows_subject):
        return f"other item: {labels[0].a.written} vs {labels[0].b.written}"
    for pair in case.found.same:
        if pair.a.region == pair.b.region == "condition" and _leads_differ(pair):
            return f"other condition: {pair.a.prep} vs {pair.b.prep} {pair.a.written}"
    return ""


def _is_of_thing(pair: TermPair) -> bool:
    """Return whether labels belong to what is spoken of: "the comb in case 4", "of room 2"."""
    terms = (pair.a, pair.b)
    return pair.a.text.split()[0].lower() in IDENTIFIED or any(
        (term.prep and term.region == "subject") or term.prep in _OF_THINGS for term in terms
    )


def _leads_a_verb(claim: Claim, label: Term) -> bool:
    """Return whether a labelled thing does something: "where patient 5820 is being nursed"."""
    _, _, rest = claim.text.partition(label.text)
    return rest.split()[:1] != [] and rest.split()[0] in AUXILIARIES


def _opens(claim: Claim, label: Term) -> bool:
    """Return whether a sentence begins with the labelled thing: "Room 12 seats 20"."""
    words = claim.text.split()
    at = 1 + (words[0].lower() == "the")
    return words[at : at + 1] == label.text.split()[-1:] and len(words) > at + 2


def _other_bearer(case: Case) -> str:
    """Return a reason when only one of two names has "Old", "East" or the like before it."""
    for alone in (case.left_a, case.left_b):
        named = [term for term in alone if term.region == "subject" and term.text[0].isupper()]
        if named and all(term.text.lower() in BEFORE_NAMES for term in named):
            return f"other subject: {names(named)}"
    return ""


def _leads_differ(pair: TermPair) -> bool:
    """Return True for "before the audit", "after the audit"; not "in summer", "during summer"."""
    return not {pair.a.prep, pair.b.prep} <= _WITHIN and pair.a.prep != pair.b.prep


def _is_claimed(pair: TermPair, *, alone: bool) -> bool:
    """Return True for a term that does not identify the subject: the verb, a count or an age."""
    quantity = pair.a.quantity
    is_count = (
        quantity is not None
        and quantity.unit == "count"
        and not _YEAR.fullmatch(pair.a.text)  # "the 2021 accounts"
    )
    is_age = (
        quantity is not None and pair.a.prep == pair.b.prep == "from" and _YEARS in quantity.text
    )
    return pair.a.is_verb or ((is_count or is_age) and alone)


def _find_substitution(case: Case) -> str:
    """Return a reason when one sentence has different words in one slot, else "".

    A paraphrase has another structure; the same structure with another filler ("picks her up from
    school", "picks her up from violin lessons") is another fact.
    """
    left_a, left_b = case.left_a, case.left_b
    if not case.both_left or case.a.verb != case.b.verb or case.parity_differs:
        return ""
    if any(term.is_verb for term in left_a + left_b):
        return ""
    if {(t.region, t.prep) for t in left_a} != {(t.region, t.prep) for t in left_b}:
        return ""
    pairs = case.found.same
    if any((p.a.region, p.a.prep) != (p.b.region, p.b.prep) for p in pairs) or len(pairs) < 3:
        return ""
    follows = [b for _, b in sorted(positions(case, pairs))]
    if follows != sorted(follows):
        return ""
    return f"{OF_TWO_THINGS}: {names(left_a)} vs {names(left_b)}"
