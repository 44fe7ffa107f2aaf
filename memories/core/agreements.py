"""Decide whether two claims without a contradiction say the same, or one says more.

Matching words are not enough: order, owners, tense and function words must agree too.
Doubtful pairs are `different`, so that nothing merges on a guess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from memories.core.alignment import TermPair
from memories.core.cases import (
    Case,
    CaseReading,
    different,
    names,
    places,
    role_changes,
    roles,
    verbs_differ,
)
from memories.core.claim_types import Claim, Term
from memories.core.clauses import is_participle
from memories.core.details import are_harmless
from memories.core.function_words import DIRECTED, MEANINGFUL_PREPOSITIONS
from memories.core.lexicon import SYMMETRIC, is_product
from memories.core.spelling import bare_words
from memories.core.unread import NEGATION
from memories.core.word_order import RUNNING, difference_of_claims

# Prepositions that may stand for each other before the same word.
_ALIKE_PREPOSITIONS = tuple(
    frozenset(group.split())
    for group in ("in on at within inside during every", "by with via through using", "of for in",
                  "to into for in onto on", "over in on", "of from by", "within in after")
)  # fmt: skip
_CAUSATIVES = frozenset(["have", "get"])
# Verbs that add no meaning to their noun: "deployments happen", "makes a copy".
_SUPPORT_VERBS = frozenset(["happen", "use", "make", "take", "do", "have", "get", "run"])
_CAUSING = re.compile(r"\b(?:having|getting)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b([^\W\d_]\w{0,40})['\u2019]s\b")
_PERSONS = {
    word: words.split()[0]
    for words in ("i me my mine myself we us our ours ourselves", "you your yours yourself",
                  "he him his himself", "she her hers herself", "they them their theirs")
    for word in words.split()
}  # fmt: skip
_WORD = re.compile(r"\w+")
_ONE = re.compile(r"\bone\b", re.IGNORECASE)
# "Every second Monday" and "twice monthly" say how often, not more of the same.
_RECURRENCE = re.compile(
    r"\b(?:other|alternate|first|second|third|fourth|fifth|last|once|twice|thrice)\b",
    re.IGNORECASE,
)


def agreement(case: Case) -> CaseReading:
    """Return `same` when no term is left over, `refines` when one side only says more."""
    if reason := _why_unsure(case):
        return different(reason)
    found = case.found
    idle = _superfluous_nouns(found.same + found.finer)
    rest_a = [term for term in found.left_a if _needs_match(term) and term.key not in idle]
    rest_b = [term for term in found.left_b if _needs_match(term) and term.key not in idle]
    finer = {pair.reason for pair in found.finer}
    if not rest_a and not rest_b and not finer:
        return CaseReading("same", ("every word has its match",), 0.7 if found.opposed else 0.95)
    if reason := _why_no_refinement(case, rest_a, rest_b):
        return different(reason)
    if not rest_a and finer <= {"b"} and are_harmless(rest_b, case.b):
        return _refinement(rest_b, "b")
    if not rest_b and finer <= {"a"} and are_harmless(rest_a, case.a):
        return _refinement(rest_a, "a")
    return different("no rule decides", confidence=0.3)


def _needs_match(term: Term) -> bool:
    """Return True for a term that needs a match; a date does even where it only dates a change.

    So does a general verb in an aside or apposition: "(in use)", ", which has to run".
    """
    return term.weight == 1 or term.kind == "date" or term.region in ("aside", "apposition")


def _why_no_refinement(case: Case, rest_a: Sequence[Term], rest_b: Sequence[Term]) -> str:
    if any(term.is_verb for term in (*rest_a, *rest_b)):
        return "one side says it by a verb of its own"
    if _begins_unmatched(case.a, rest_a) or _begins_unmatched(case.b, rest_b):
        return "one may speak of fewer"
    if any(_RECURRENCE.search(term.text) for term in (*rest_a, *rest_b)):
        return "one may happen less often"
    return _taken_place(case, rest_a, rest_b)


def _taken_place(case: Case, rest_a: Sequence[Term], rest_b: Sequence[Term]) -> str:
    """Return a reason when an aside of one side names what fills the slot of the other, else "".

    "Handled by Jorge, who has taken it over from Wanda" does not refine "handled by Wanda": it
    says something else.
    """
    for pair in case.found.same:
        for main, other, rest in ((pair.a, pair.b, rest_b), (pair.b, pair.a, rest_a)):
            is_aside = main.region == "predicate" and other.region in ("aside", "apposition")
            if not is_aside or main.is_verb:
                continue
            for term in rest:
                if (term.region, term.prep, term.is_verb) == (main.region, main.prep, False):
                    return f"{term.written} in the place of {main.written}"
    return ""


def _begins_unmatched(claim: Claim, rest: Sequence[Term]) -> bool:
    """Return whether a claim without a verb begins with an unmatched word: "Premium customers who".

    Without the verb, the rules cannot know that the word narrows the subject.
    """
    first = claim.terms[0] if claim.terms else None
    is_plain = first is not None and first.kind in ("word", "name") and first.prep != ":"
    return not claim.verb and is_plain and any(term is first for term in rest)


def _superfluous_nouns(pairs: Sequence[TermPair]) -> frozenset[str]:
    """Return nouns that a matched value makes superfluous: the "date" of "end date: 31 March"."""
    kinds = {pair.a.kind for pair in pairs}
    idle: set[str] = set()
    if "date" in kinds:
        idle |= {"time", "date", "hour", "day"}
    if "version" in kinds:
        idle |= {"version", "releas"}
    if "quantity" in kinds:
        idle |= {"rate", "valu", "amount", "number", "count"}
    return frozenset(idle)


def _refinement(rest: Sequence[Term], side: Literal["a", "b"]) -> CaseReading:
    reason = f"adds {names(rest)}" if rest else "says the value more exactly"
    return CaseReading("refines", (reason,), 0.8, side)


def _why_unsure(case: Case) -> str:
    """Return why two claims cannot be called the same, "" when they can."""
    found = case.found
    is_open = found.clashes or found.loose or verbs_differ(case)
    if is_open or bool(found.opposed) != case.parity_differs:
        return "no rule decides"
    if any(pair.a.is_denied != pair.b.is_denied for pair in found.same):
        return "only one side denies a word"
    if _is_caused(case):
        return "one has it done by another"
    if words := _unmatched_words(case):
        return f"only one side says {words}"
    return _other_places(case) or _other_terms(case) or difference_of_claims(case)


def _other_places(case: Case) -> str:
    """Return how word order or owners differ in two claims whose words agree, else ""."""
    if _order_differs(case) or _possessors_differ(case) or _roles_differ(case):
        is_reordered = sorted(bare_words(case.a.text)) == sorted(bare_words(case.b.text))
        words = "the same words" if is_reordered else "words that both have"
        return f"{words} in another order"
    return "of another person" if _persons_differ(case) else ""


def _is_caused(case: Case) -> bool:
    """Return True for "has the fence painted" beside "paints the fence": another paints it."""
    for pair in case.found.same:
        for done, caused, doing, causing in (
            (pair.a, pair.b, case.a, case.b),
            (pair.b, pair.a, case.b, case.a),
        ):
            is_done = done.is_verb and not doing.agent_prep and not caused.is_verb
            if is_done and is_participle(caused.text.lower()) and _causes(causing):
                return True
    return False


def _causes(claim: Claim) -> bool:
    return claim.verb in _CAUSATIVES or _CAUSING.search(claim.text) is not None


def _unmatched_words(case: Case) -> str:
    """Return the words outside of terms that only one side has, "" when there are none."""
    left, right = (Counter(word.key for word in claim.unread) for claim in (case.a, case.b))
    alone = {
        word.key: word.written
        for claim, keys in ((case.a, left - right), (case.b, right - left))
        for word in claim.unread
        if word.key in keys
    }
    if case.found.opposed:  # "not allowed" is "forbidden"
        alone.pop(NEGATION, None)
    return " ".join(alone[key] for key in sorted(alone)[:4])


def _other_terms(case: Case) -> str:
    """Return how quantifiers, tense or modals differ in two claims whose words agree, else ""."""
    if any(not key or key in case.shared for _, key in case.a.operators ^ case.b.operators):
        return "all, some, or and unless are not the same"
    if {case.a.tense, case.b.tense} == {"past", "present"}:
        return "one tells of the past"
    return "another number" if _pointed_number_differs(case) else _other_force(case)


def _other_force(case: Case) -> str:
    forces = {case.a.force, case.b.force}
    if len(forces) == 2 and forces & {"need", "may", "should"} and forces != {"may", ""}:
        return "another obligation"
    return ""


def _possessors_differ(case: Case) -> bool:
    """Return whether a possessor on each side is a plain word of the other: "Bob's", "Alice's"."""
    left = {name.lower() for name in _POSSESSIVE.findall(case.a.text)}
    right = {name.lower() for name in _POSSESSIVE.findall(case.b.text)}
    words_a, words_b = (frozenset(_WORD.findall(c.text.lower())) for c in (case.a, case.b))
    return bool((left - right) & words_b) and bool((right - left) & words_a)


def _persons_differ(case: Case) -> bool:
    """Return True for "my keys" beside "your keys"; "our office" may be "the office"."""
    left, right = (
        {_PERSONS[word] for word in _WORD.findall(claim.text.lower()) if word in _PERSONS}
        for claim in (case.a, case.b)
    )
    return bool(left) and bool(right) and left.isdisjoint(right)


def _pointed_number_differs(case: Case) -> bool:
    """Return True for "idem one" beside "idem two", where "one" was read as a pronoun."""
    sides = ((case.a.text, case.found.left_b), (case.b.text, case.found.left_a))
    return any(
        _ONE.search(text) and any(term.kind in ("quantity", "label") for term in left)
        for text, left in sides
    )


def _lead_differs(case: Case, pair: TermPair) -> bool:
    """Return whether the prepositions before a word differ and are not interchangeable."""
    led = {pair.a.prep, pair.b.prep}
    if len(led) == 1:
        return False
    in_predicate = pair.a.region == pair.b.region == "predicate"
    if led == {"from", ""} and in_predicate and case.a.verb == case.b.verb:
        return True
    if led <= DIRECTED or led & MEANINGFUL_PREPOSITIONS:
        return True
    if is_product(pair.a.key) and led <= RUNNING:
        return False
    return "" not in led and not any(led <= alike for alike in _ALIKE_PREPOSITIONS)


def _roles_differ(case: Case) -> bool:
    """Return whether a word is agent on one side and patient on the other, or verb of one only.

    "Two men fight in a cow pasture" and "two cows fight in a pasture by a man" have all words in
    common, and so have "studies the subject" and "is the study subject". A verb that adds nothing
    to its noun ("a deployment happens") says what the noun's verb says.
    """
    if not case.a.verb or not case.b.verb:
        return False
    verbs = {case.a.verb, case.b.verb}
    if len(verbs) == 2:
        return verbs.isdisjoint(_SUPPORT_VERBS) and any(
            pair.a.is_verb != pair.b.is_verb for pair in case.found.same
        )
    if case.a.agent_prep or case.b.agent_prep or case.a.verb in SYMMETRIC:
        return False
    return any(_plays_other_part(pair) for pair in case.found.same)


def _plays_other_part(pair: TermPair) -> bool:
    """Return True for a subject that is the other side's object; not for "on Monday" put first."""
    is_led_alike = bool(pair.a.prep) and pair.a.prep == pair.b.prep
    is_moved = {pair.a.region, pair.b.region} == {"subject", "predicate"}
    return is_moved and not is_led_alike and not pair.a.is_verb


def _order_differs(case: Case) -> bool:
    """Return whether roles or prepositions changed and no passive or converse verb explains it."""
    if any(_lead_differs(case, pair) for pair in case.found.same):
        return True
    if not case.a.verb or not case.b.verb or case.a.verb in SYMMETRIC:
        return False
    is_one_verb = case.a.verb == case.b.verb
    read_roles = roles if is_one_verb else places
    found = role_changes(case.found.same, read_roles(case.a), read_roles(case.b))
    is_crossed = bool(found & {("agent", "patient"), ("patient", "agent")})
    return is_crossed and (is_one_verb or ("agent", "agent") not in found)
