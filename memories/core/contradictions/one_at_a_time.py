"""Both sides fill a slot differently that has one value at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memories.core.cases import Case, CaseReading, contradicts, names, shares_subject, verbs_differ
from memories.core.claim_types import Claim, Term
from memories.core.function_words import EXCLUSIVES, words_of
from memories.core.lexicon import (
    EXCLUSIVE_OBJECT,
    FUNCTIONAL,
    KINDS,
    concept_of,
    interchangeable,
    is_product,
)

# "Only Ana signs cheques" says who else does not, and nothing of what else she signs.
_ONLY_WHO = re.compile(r"(?:only|solely|just)\b", re.IGNORECASE)
# "Rust is the only language of the shop" says nothing of the market's.
_ONLY_THERE = re.compile(
    r"\b(?:is|are|was|were)\s(?:the|our|its|their)\s(?:only|sole)\s", re.IGNORECASE
)
_OF_SOME = re.compile(r"\ban?\s[\w-]{1,30}\sby\b")  # "owns a painting by Ana"
# "Marit has a sister named Eva" may have another one.
_ONE_OF_MANY = re.compile(r"\ban?\s[\w-]{1,30}\s(?:named|called)\b", re.IGNORECASE)
_ALL = re.compile(r"(?:all|every|each)\b", re.IGNORECASE)
_WHERE = frozenset(["in", "at"])
# Who sits on one board may sit on another one.
_BODIES = frozenset(map(concept_of, words_of("committee board council panel trust jury")))
_STATES = frozenset(["open", "closed"])  # "the port is open on" two servers may hold of both
# "The default branch is main", "… is called trunk".
_NAMING = frozenset(["", "have", "call", "name"])


def find(case: Case) -> CaseReading | None:
    """Find different fillers of a slot that has one value: "hosted in Oslo", "status is open"."""
    if not case.both_left or case.parity_differs or case.is_additive or verbs_differ(case):
        return None
    why = _why_exclusive(case) if _is_one_filler_each(case) else ""
    if not why:
        return None
    reason = f"{why}: {names(case.left_a)} vs {names(case.left_b)}"
    are_names = all(term.kind == "name" for term in case.left_a + case.left_b)
    # Two plain nouns may be two words for one thing ("road", "path").
    return contradicts("one-at-a-time", reason, confidence=0.65 if are_names else 0.5)


def _is_one_filler_each(case: Case) -> bool:
    """Return whether both leftovers are short, stand in the same slot and the subject is shared."""
    terms = case.left_a + case.left_b
    if any(term.region != "predicate" or term.is_verb for term in terms):
        return False
    if all(term.quantity is not None for term in terms):
        return False  # amounts that cannot be compared: "50 % owned", "0.5 owned"
    if max(len(case.left_a), len(case.left_b)) > 3:
        return False
    return len({term.prep for term in terms}) == 1 and shares_subject(case)


def _why_exclusive(case: Case) -> str:
    if case.shared & EXCLUSIVES and (only := _by_only(case)) is not None:
        return only
    return _by_all(case) or _by_name(case) or _by_verb(case)


def _by_only(case: Case) -> str | None:
    """Return a reason where "only" is said of the fillers, "" where of others, None if unclear."""
    prep = case.left_a[0].prep
    is_there = prep and _ONLY_THERE.search(case.a.text) and _ONLY_THERE.search(case.b.text)
    is_of_thing = prep in ("of", "for")  # "the sole owner of the mare", "… of the dog"
    if is_there or is_of_thing or _ONLY_WHO.match(case.a.text):
        return None
    return "only one can hold" if _restricts(case.a, case.left_a) else ""


def _by_all(case: Case) -> str:
    """Return a reason where both say in what place all is: "All talks are in the hall"."""
    is_of_all = all(_ALL.match(claim.text) and not claim.verb for claim in (case.a, case.b))
    kinds = {term.key in KINDS for term in case.left_a + case.left_b}  # "in English" is no place
    is_place = case.left_a[0].prep in _WHERE and len(kinds) == 1
    return "all at one" if is_of_all and is_place else ""


def _by_name(case: Case) -> str:
    """Return a reason where both give the value of a functional noun: "is called trunk"."""
    held = {pair.a.key for pair in case.found.same if pair.a.region == pair.b.region}
    is_naming = {case.a.verb, case.b.verb} <= _NAMING and not case.left_a[0].prep
    if not is_naming or not held & FUNCTIONAL or _ONE_OF_MANY.search(case.a.text):
        return ""
    return "one value at a time" if _are_at_one_end(case) else ""


def _by_verb(case: Case) -> str:
    """Return a reason where the verb takes one object at a time: "hosted in Oslo"."""
    prep = case.left_a[0].prep
    if _is_state(case.a) or _is_state(case.b):
        return ""
    if prep == "by" and _OF_SOME.search(f"{case.a.text} {case.b.text}"):
        return ""
    if prep == "on" and not _BODIES.isdisjoint(case.a.keys | case.b.keys):
        return ""
    is_one_verb = case.a.verb == case.b.verb or interchangeable(case.a.verb, case.b.verb)
    if case.a.verb and is_one_verb and prep in EXCLUSIVE_OBJECT.get(case.a.verb, ()):
        return "one at a time" if _are_fillers(case) else ""
    return ""


def _restricts(claim: Claim, filler: Sequence[Term]) -> bool:
    """Return whether "only" stands before the filler, or right behind it."""
    text = claim.text.lower()
    before, _, _ = text.partition(filler[0].text.lower())
    _, _, behind = text.rpartition(filler[-1].text.lower())
    words = [*before.split(), *behind.split()[:1]]
    return not EXCLUSIVES.isdisjoint(word.strip(".,;:!") for word in words)


def _are_at_one_end(case: Case) -> bool:
    """Return whether both fillers begin or both end their sentence: "the host named X is" not."""
    first = (case.left_a[0].text, case.left_b[0].text)
    last = (case.left_a[-1].text, case.left_b[-1].text)
    texts = (case.a.text.rstrip(" .!"), case.b.text.rstrip(" .!"))
    return all(map(str.startswith, texts, first)) or all(map(str.endswith, texts, last))


def _is_state(claim: Claim) -> bool:
    return any(term.is_verb and term.text.lower() in _STATES for term in claim.terms)


def _are_fillers(case: Case) -> bool:
    """Return whether both leftovers are names, or one plain noun phrase each and nothing else."""
    terms = case.left_a + case.left_b
    if all(term.kind == "name" for term in terms):
        are_products = {is_product(term.key) for term in terms}
        return len(are_products) == 1 or case.left_a[0].prep != "in"  # "in Postgres", "in Lyon"
    return max(len(case.left_a), len(case.left_b)) <= 2
