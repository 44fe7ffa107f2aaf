"""Two aligned claims, and the properties of the pair that the rules use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memories.core.alignment import Alignment, TermPair, align, weigh
from memories.core.claim_types import Claim, Term
from memories.core.function_words import ADDITIVES
from memories.core.lexicon import EXCLUSIVE_SUBJECT, concept_of, interchangeable
from memories.core.partial import is_of_part
from memories.core.reasons import distinct
from memories.core.tokeniser import stem

Relation = Literal["same", "refines", "contradicts", "different"]
# The ways in which two claims contradict each other.
Contradiction = Literal[
    "number", "version", "date", "time", "label", "choice", "denial", "direction", "roles",
    "opposites", "negation", "one-at-a-time", "moved-away", "owner", "restricted",
    "pairing", "order",
]  # fmt: skip

# Prepositions whose phrase limits what a statement applies to.
_NARROWING = frozenset(["for", "in", "during", "within", "at", "per", "under", "outside", "inside",
                        "between", "above", "below", "over", "until", "since", "without", "of",
                        "among", "across", "except"])  # fmt: skip
# Modifiers for the usual one of its kind; a subject with and without them is the same.
_IDLE_MODIFIERS = frozenset(["main", "primari", "current", "whole", "entir", "general", "overal",
                             "offici", "usual", "standard", "actual", "team", "servic", "system",
                             "valu", "rule", "polici", "option", "paramet", "process"])  # fmt: skip
# Nouns that only announce a value: where both sides give the value, they add nothing.
_MEASURE_NOUNS = frozenset(["maximum", "minimum", "limit", "size", "length", "amount", "number",
                            "valu", "rate", "count", "durat", "time", "period", "floor",
                            "allow", "allowanc", "quota", "cap", "level", "set", "setting",
                            "default", "date", "day", "hour", "version", "releas", "budget",
                            "ratio", "share", "deep", "long", "high", "wide",
                            "heavi", "old"])  # fmt: skip
# Headings of notes of any content: "Decision: …" limits nothing.
HEADINGS = frozenset(
    concept_of(word)
    for word in ["note", "reminder", "decision", "fyi", "update", "info", "information", "summary",
                 "important", "attention", "rule", "policy", "fact", "memo", "convention",
                 "agreement", "hint", "tip"]
)  # fmt: skip
LIMITERS = frozenset(["not", "except", "unless", "until", "only", "partly", "mostly", "almost",
                       "rarely", "sometimes", "temporarily", "seldom",
                       "occasionally"])  # fmt: skip
_COMPOUND = re.compile(r"\b[a-z]{1,30}(?:-[a-z]{1,30}){1,4}\b")


@dataclass(frozen=True, slots=True)
class CaseReading:
    """The relation of two claims; `finer` names the side that says more in `refines`.

    `contradiction` names the way of `contradicts`.
    """

    relation: Relation
    reasons: tuple[str, ...]
    confidence: float
    finer: Literal["a", "b"] | None = None
    contradiction: Contradiction | None = None


def different(*reasons: str, confidence: float = 0.4) -> CaseReading:
    """Return a reading of two claims that do not contradict each other."""
    return CaseReading("different", distinct(reasons), confidence)


def contradicts(way: Contradiction, *reasons: str, confidence: float) -> CaseReading:
    """Return a reading of two claims that contradict each other in this way."""
    return CaseReading("contradicts", distinct(reasons), confidence, contradiction=way)


@dataclass(frozen=True, slots=True)
class Case:
    """Two claims, their alignment, and the content terms left unmatched on either side.

    `left_a` and `left_b` exclude what a contradiction may ignore: asides, denied words, the new
    value of a change, and nouns that only announce a value.
    """

    a: Claim
    b: Claim
    found: Alignment
    left_a: tuple[Term, ...]
    left_b: tuple[Term, ...]

    @property
    def both_left(self) -> bool:
        return bool(self.left_a) and bool(self.left_b)

    @property
    def parity_differs(self) -> bool:
        return self.a.polarity != self.b.polarity

    @property
    def is_additive(self) -> bool:
        if (self.a.cues | self.b.cues) & ADDITIVES:
            return True
        return is_of_part(self.a.text) or is_of_part(self.b.text)

    @property
    def shared(self) -> frozenset[str]:
        return frozenset(pair.a.key for pair in self.found.same)


def build_case(a: Claim, b: Claim) -> Case:
    """Align two claims and keep the unmatched content terms."""
    found = align(a, b)
    _settle_verbs(found)
    left_a, left_b = _content(a, found.left_a), _content(b, found.left_b)
    if _has_values(found):
        left_a, left_b = _without_measures(left_a, left_b), _without_measures(left_b, left_a)
    return Case(a, b, found, left_a, left_b)


def _without_measures(own: tuple[Term, ...], other: tuple[Term, ...]) -> tuple[Term, ...]:
    """Drop nouns that announce the value, unless the other side has another noun in their place.

    "Upload size" may lack "size" in "uploads up to 5 MB", but "memory limit" is not
    "memory request".
    """
    if any(not term.is_verb and term.key not in _MEASURE_NOUNS for term in other):
        return own
    return tuple(term for term in own if term.key not in _MEASURE_NOUNS)


def _has_values(found: Alignment) -> bool:
    pairs = found.same + found.finer + found.loose + found.clashes
    return any(pair.a.kind in ("quantity", "date", "version") for pair in pairs)


def _settle_verbs(found: Alignment) -> None:
    """Drop interchangeable main verbs from the unmatched terms ("runs in", "is hosted in")."""
    left = next((term for term in found.left_a if term.is_verb), None)
    right = next((term for term in found.left_b if term.is_verb), None)
    if left and right and interchangeable(left.key, right.key):
        found.left_a.remove(left)
        found.left_b.remove(right)


def _content(claim: Claim, terms: Iterable[Term]) -> tuple[Term, ...]:
    taken_up: frozenset[str] = frozenset()
    if claim.transition is not None and claim.transition.kind in ("switch", "return"):
        taken_up = claim.transition.new
    idle = _IDLE_MODIFIERS
    if "-" in claim.text:  # "the main database" is the database; "db-main" is one of several
        named = (part for name in _COMPOUND.findall(claim.text) for part in name.split("-"))
        idle = idle.difference(map(stem, named))
    return tuple(
        term
        for term in terms
        if term.weight == 1
        and term.region not in ("aside", "apposition")
        and not term.is_denied
        and term.key not in taken_up
        and not (term.region == "subject" and term.key in idle)
    )


def names(terms: Sequence[Term]) -> str:
    """Return the words of some terms, for a reason that people read."""
    return " ".join(term.written for term in terms[:4])


def on_topic(case: Case) -> bool:
    """Return whether at least half of the shorter claim, by weight, is matched in the other."""
    related = case.found.same + case.found.opposed + case.found.finer
    held = weigh([pair.a for pair in related])
    values = case.found.clashes + case.found.loose
    whole = min(
        held + weigh([pair.a for pair in values]) * 0.5 + _weigh_phrases(left)
        for left in (case.left_a, case.left_b)
    )
    anchors = [pair for pair in related if pair.a.weight >= 0.5 and pair.a.kind != "quantity"]
    return bool(anchors) and held >= 0.5 * whole


def _weigh_phrases(terms: Sequence[Term]) -> float:
    """Return the weight of terms; a name of several words ("Maria Keller") counts once."""
    slots = {(term.region, term.prep) for term in terms if term.kind == "name"}
    return weigh([term for term in terms if term.kind != "name"]) + len(slots)


def narrows(terms: Sequence[Term], *, in_subject: bool = True) -> bool:
    """Return whether unmatched terms limit what a claim applies to ("… for uploads", "if paid")."""
    return any(
        term.region == "condition"
        or (in_subject and term.region == "subject")
        or (term.prep in _NARROWING and term.region != "subject")
        or term.key in LIMITERS
        for term in terms
    )


def is_one_slot(case: Case) -> bool:
    """Return whether only one slot differs, so that a clash of values is a contradiction."""
    if case.both_left or verbs_differ(case):
        return False
    tolerant = subject_is_firm(case)
    return not (
        narrows(case.left_a, in_subject=not tolerant)
        or narrows(case.left_b, in_subject=not tolerant)
    )


def subject_is_firm(case: Case) -> bool:
    """Return whether the subjects share two words: one more word then makes no other subject."""
    shared = [
        pair
        for pair in case.found.same
        if pair.a.weight == 1
        and not pair.a.is_verb
        and pair.a.kind in ("word", "name", "label")
        and "subject" in (pair.a.region, pair.b.region)
    ]
    extra = [term for term in case.left_a + case.left_b if term.region == "subject"]
    return len(shared) >= 2 and len(extra) <= 1


def shares_subject(case: Case) -> bool:
    """Return whether a content word of a subject occurs on both sides."""
    return any(
        "subject" in (pair.a.region, pair.b.region)
        for pair in case.found.same
        if pair.a.weight == 1
    )


def is_exact(case: Case) -> bool:
    """Return whether no subject carries an extra word."""
    return not any(term.region == "subject" for term in case.left_a + case.left_b)


def verbs_differ(case: Case) -> bool:
    """Return whether both main verbs are unmatched and one of them is not a light verb."""
    left = [term for term in case.found.left_a if term.is_verb]
    right = [term for term in case.found.left_b if term.is_verb]
    return bool(left and right) and left[0].weight + right[0].weight > 1


def is_agent_slot(case: Case) -> bool:
    """Return whether both sides name an agent of the same verb ("X pays", "Y pays")."""
    return (
        case.a.verb == case.b.verb
        and case.a.verb in EXCLUSIVE_SUBJECT
        and not case.a.agent_prep
        and not case.b.agent_prep
    )


def roles(claim: Claim) -> dict[int, str]:
    """Return agent or patient by `id()` of the term; passives and converses are turned round.

    A word that occurs twice in the claim has no clear role and is left out.
    """
    turned = claim.agent_prep
    counts = Counter(term.key for term in claim.terms)
    found = {}
    for term in claim.terms:
        if counts[term.key] > 1 or term.is_verb:
            continue
        if term.region == "subject":
            found[id(term)] = "patient" if turned else "agent"
        elif term.region == "predicate" and (not turned or term.prep == turned):
            found[id(term)] = "agent" if turned else "patient"
    return found


def places(claim: Claim) -> dict[int, str]:
    """Return roles by position alone, for claims with different verbs; no role in passives."""
    if claim.agent_prep:
        return {}
    return {
        id(term): "agent" if term.region == "subject" else "patient"
        for term in claim.terms
        if not term.is_verb and (term.region == "subject" or not term.prep)
    }


def role_changes(
    pairs: Iterable[TermPair], roles_a: dict[int, str], roles_b: dict[int, str]
) -> frozenset[tuple[str | None, str | None]]:
    """Return the pairs of roles that shared words have on the two sides."""
    return frozenset(
        (roles_a.get(id(pair.a)), roles_b.get(id(pair.b)))
        for pair in pairs
        if pair.a.kind in ("word", "name") and pair.a.weight == 1 and not pair.a.is_verb
    )


def positions(case: Case, pairs: Sequence[TermPair]) -> list[tuple[int, int]]:
    """Return the positions of the two terms of each pair in their claims."""
    at_a = {id(term): index for index, term in enumerate(case.a.terms)}
    at_b = {id(term): index for index, term in enumerate(case.b.terms)}
    return [(at_a[id(pair.a)], at_b[id(pair.b)]) for pair in pairs]
