"""Reasons why two sentences are on different things, places or times."""

from __future__ import annotations

import re
from itertools import pairwise

from memories.core.alignment import TermPair
from memories.core.calendar_words import DAYS_OF_WEEKS, MONTHS
from memories.core.cases import Case, is_agent_slot, names
from memories.core.claim_types import Claim, Term
from memories.core.code_names import other_code
from memories.core.function_words import AUXILIARIES, EXCLUSIVES, FUNCTION_WORDS, words_of
from memories.core.longer_names import BEFORE_NAMES, other_longer_name
from memories.core.slot_words import IDENTIFIED
from memories.core.vocabulary import VERBS, lemma

# Words that tell one of two like things from the other: "the north ward".
_PLACES = words_of("front back rear left right top bottom upper lower inner outer")
_POSITIONS = (
    _PLACES
    | BEFORE_NAMES
    | words_of("northern southern eastern western morning evening day night early late")
)
_OF_A_YEAR = re.compile(r"\b(?:the|our)\s(?:19|20)\d\d\s[a-z]", re.IGNORECASE)
_NO_NOUNS = FUNCTION_WORDS | EXCLUSIVES | words_of("another around now")
_WAY = re.compile(r"\bfrom\s([\w'’-]{1,40})\sto\s([\w'’-]{1,40})")
_MOVES = re.compile(r"\b(?:moved?|migrated?|switched|changed|transferred)\b", re.IGNORECASE)
# Groups of people with records, days and prices of their own.
_GROUP = re.compile(
    r"\b(?:(?:over|under)-\d{1,2}s?|junior|youth|wheelchair|veterans?|men['’]s|women['’]s|girls['’]|boys['’])",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[-_.]")
# Interchangeable prepositions of time and place; "" stands for "during" and "when".
_WITHIN = frozenset(["", "in", "on", "at", "for", "of", "within", "every"])


def other_subject(case: Case) -> str:
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
            if is_here and not may_differ and not _is_claimed(case, pair, alone=len(clashing) == 1):
                return f"other {region}: {pair.a.written} vs {pair.b.written}"
    return (
        _other_bearer(case)
        or other_longer_name(case.a, case.b)
        or _other_direction(case)
        or _other_group(case)
        or other_code(case.a.text, case.b.text)
        or _other_position(case)
        or _other_description(case)
        or _other_item(case)
    )


def _other_direction(case: Case) -> str:
    """Return a reason when two values are of the two directions of one way, else "".

    "The train from Holm to Remol leaves at 9", "… from Remol to Holm leaves at 10".
    """
    mine, theirs = _WAY.search(case.a.text.lower()), _WAY.search(case.b.text.lower())
    if not case.found.clashes or not mine or not theirs or mine[1] == mine[2]:
        return ""
    if any(pair.a.quantity and pair.a.quantity.unit == "m" for pair in case.found.clashes):
        return ""  # as far there as back
    if mine[1] in DAYS_OF_WEEKS or mine[1] in MONTHS or _MOVES.search(case.a.text):
        return ""
    is_turned = (mine[1], mine[2]) == (theirs[2], theirs[1])
    return f"other subject: to {mine[2]} vs to {theirs[2]}" if is_turned else ""


def _other_group(case: Case) -> str:
    """Return a reason when only one is of juniors, of those over 50 or the like, else ""."""
    mine, theirs = (frozenset(map(str.lower, _GROUP.findall(c.text))) for c in (case.a, case.b))
    only = mine ^ theirs
    return f"other subject: {min(only)}" if only and case.found.clashes else ""


def _other_position(case: Case) -> str:
    """Return a reason when opposite words tell two things apart: "of the north ward", else ""."""
    for pair in case.found.opposed + case.found.clashes:
        terms = (pair.a, pair.b)
        names_things = all(term.text.lower() in _POSITIONS for term in terms)
        is_of_thing = any(term.region == "subject" or term.prep == "of" for term in terms)
        are_in_names = _is_in_name(case.a, pair.a) and _is_in_name(case.b, pair.b)
        if names_things and (is_of_thing or are_in_names):
            return f"other subject: {pair.a.written} vs {pair.b.written}"
    return ""


def _is_in_name(claim: Claim, word: Term) -> bool:
    """Return whether a word is a part of a name: "gw-west"."""
    return any(word.text.lower() in _PARTS.split(name.lower()) for name in claim.identifiers)


def _other_description(case: Case) -> str:
    """Return a reason when subjects put other words before one noun: "the back door", else ""."""
    mine, theirs = _described(case.a), _described(case.b)
    for noun in filter(theirs.__contains__, mine):
        words = (mine[noun], theirs[noun])
        if words[0] != words[1] and not _PLACES.isdisjoint(words):
            return f"other subject: {words[0]} {noun} vs {words[1]} {noun}"
    return ""


def _described(claim: Claim) -> dict[str, str]:
    """Return the word before each noun of what precedes the verb of a sentence."""
    words = claim.text.lower().split()
    until = next((at for at, word in enumerate(words) if word in AUXILIARIES), 0)
    pairs = pairwise(words[:until])
    return {noun: word for word, noun in pairs if word in _PLACES or word not in FUNCTION_WORDS}


def _other_item(case: Case) -> str:
    """Return a reason when a value names another item or the conditions differ, else ""."""
    clashes = case.found.clashes
    labels = [pair for pair in clashes if pair.a.kind == "label"]
    narrows_subject = any(
        _is_of_thing(pair) or (_leads_a_verb(case.a, pair.a) and _leads_a_verb(case.b, pair.b))
        for pair in labels
    )
    numbered = [pair for pair in clashes if _may_number(pair.a)]
    opens_both = any(_opens(case.a, pair.a) and _opens(case.b, pair.b) for pair in numbered)
    if opens_both or (labels and (len(clashes) > len(labels) or narrows_subject)):
        pair = (labels or numbered)[0]
        return f"other item: {pair.a.written} vs {pair.b.written}"
    for pair in case.found.same:
        if pair.a.region == pair.b.region == "condition" and _leads_differ(pair):
            return f"other condition: {pair.a.prep} vs {pair.b.prep} {pair.a.written}"
    return ""


def _may_number(term: Term) -> bool:
    """Return whether a term may number a thing: "booth 13", "episode 3 airs"."""
    return term.kind == "label" or (term.quantity is not None and term.quantity.unit == "count")


def _is_of_thing(pair: TermPair) -> bool:
    """Return whether labels belong to what is spoken of: "the comb in case 4", "of room 2"."""
    terms = (pair.a, pair.b)
    return pair.a.text.split()[0].lower() in IDENTIFIED or any(
        (term.prep and term.region == "subject") or term.prep == "of" for term in terms
    )


def _leads_a_verb(claim: Claim, label: Term) -> bool:
    """Return whether a labelled thing does something: "where patient 5820 is being nursed"."""
    _, _, rest = claim.text.partition(label.text)
    return rest.split()[:1] != [] and rest.split()[0] in AUXILIARIES


def _opens(claim: Claim, label: Term) -> bool:
    """Return whether a sentence begins with the labelled thing: "Room 12 seats 20"."""
    words = claim.text.split()
    at = 1 + (words[0].lower() == "the")
    number = label.text.split()[-1]
    is_number = label.kind == "label" or not number.isalpha()  # "88 metres" is an amount
    if label.quantity is not None and label.quantity.noun and not _is_noun(words[at - 1]):
        return False  # "Order 20 chairs", "Only 20 chairs"
    return is_number and words[at : at + 1] == [number] and len(words) > at + 2


def _is_noun(word: str) -> bool:
    """Return whether a word at the start of a sentence is no verb, adverb or function word."""
    lower = word.lower()
    return not (lower in _NO_NOUNS or lower.endswith("ly") or lemma(lower) in VERBS)


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


def _is_claimed(case: Case, pair: TermPair, *, alone: bool) -> bool:
    """Return True for a term that does not identify the subject: the verb, a count or an age."""
    quantity = pair.a.quantity
    if quantity is None:
        return pair.a.is_verb
    is_of_year = _OF_A_YEAR.search(case.a.text) and _OF_A_YEAR.search(case.b.text)
    is_count = quantity.unit == "count" and not is_of_year
    is_age = pair.a.prep == pair.b.prep == "from" and "year" in quantity.text
    return pair.a.is_verb or ((is_count or is_age) and alone)
