"""How one claim stands to another: the rules that decide `same`, `refines`, `contradicts`.

Every rule asks the same thing first: is everything else said alike? Two claims contradict when
one slot differs in a way that excludes the other; when two slots differ they speak of two things.
What no rule can judge is `different`: precision before reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memories.core.alignment import Alignment, Pair, align, weigh
from memories.core.lexicon import (
    EXCLUSIVE_OBJECT,
    EXCLUSIVE_SUBJECT,
    FUNCTIONAL,
    GRADED,
    INCLUSIVE,
    OPPOSITES,
    SYMMETRIC,
    interchangeable,
)
from memories.core.statements import Claim, Term
from memories.core.vocabulary import ADDITIVES, EXCLUSIVES

Relation = Literal["same", "refines", "contradicts", "different"]

_OPPOSED_PREPOSITIONS = {
    "before": "after", "after": "before", "above": "below", "below": "above", "inside": "outside",
    "outside": "inside", "over": "under", "under": "over", "up": "down", "down": "up",
    "since": "until", "until": "since", "into": "out", "out": "into", "on": "off", "off": "on",
}  # fmt: skip
_DIRECTED = frozenset(["from", "to", "into", "onto", "before", "after", "above", "below", "over",
                       "under", "than", "instead"])  # fmt: skip
# Prepositions that change what is said; "in", "on", "at", "of" often do not.
_TELLING = frozenset(["off", "out", "up", "down", "under", "over", "behind",
                      "before", "after", "above", "below", "outside", "without", "against", "until",
                      "since", "except", "near", "like", "unlike", "than"])  # fmt: skip
# Prepositions behind which a qualifier narrows what a statement holds for.
_NARROWING = frozenset(["for", "in", "during", "within", "at", "per", "under", "outside", "inside",
                        "between", "above", "below", "over", "until", "since", "without", "of",
                        "among", "across", "except"])  # fmt: skip
# Modifiers that point to the usual one of a kind; a subject with and without them is the same.
_IDLE_MODIFIERS = frozenset(["main", "primari", "current", "whole", "entir", "general", "overal",
                             "offici", "usual", "standard", "actual", "team", "servic", "system",
                             "valu", "rule", "polici", "option", "paramet", "process"])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """The relation of two claims; `finer` names the side that says more in `refines`."""

    relation: Relation
    reasons: tuple[str, ...]
    confidence: float
    finer: Literal["a", "b"] | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """Two claims laid side by side, with what the rules ask about them."""

    a: Claim
    b: Claim
    found: Alignment
    left_a: tuple[Term, ...]  # content without an answer, asides and denials left out
    left_b: tuple[Term, ...]

    @property
    def shared(self) -> float:
        return weigh([pair.a for pair in self.found.same])

    @property
    def both_left(self) -> bool:
        return bool(self.left_a) and bool(self.left_b)

    @property
    def parity_differs(self) -> bool:
        return self.a.polarity != self.b.polarity


def relate(a: Claim, b: Claim) -> Verdict:
    """Decide how two claims stand to each other.

    Returns
    -------
    Verdict
        `contradicts` and `same` are symmetric; `refines` names the finer side.
    """
    found = align(a, b)
    _settle_verbs(found)
    case = _Case(a, b, found, _content(found.left_a), _content(found.left_b))
    if not _on_topic(case):
        return Verdict("different", ("they speak of different things",), 0.5)
    if a.modality != b.modality:
        kinds = f"one is a {a.modality}, the other a {b.modality}"
        return Verdict("different", (kinds,), 0.6)
    if reason := _other_subject(case):
        return Verdict("different", (reason,), 0.7)
    if a.modality == "fact":
        for rule in (_denial, _swap, _value, _opposition, _negation, _filler, _agent):
            if verdict := rule(case):
                return verdict
    return _agreement(case)


def _settle_verbs(found: Alignment) -> None:
    """Take interchangeable main verbs out of what is left ("runs in", "is hosted in")."""
    left = next((term for term in found.left_a if term.is_verb), None)
    right = next((term for term in found.left_b if term.is_verb), None)
    if left and right and interchangeable(left.key, right.key):
        found.left_a.remove(left)
        found.left_b.remove(right)


def _idle(case_terms: Sequence[Pair]) -> frozenset[str]:
    """Nouns that a matched value makes superfluous: the "date" of "end date: 31 March"."""
    kinds = {pair.a.kind for pair in case_terms}
    idle: set[str] = set()
    if "date" in kinds:
        idle |= {"time", "date", "hour", "day"}
    if "version" in kinds:
        idle |= {"version", "releas"}
    return frozenset(idle)


def _content(terms: Sequence[Term]) -> tuple[Term, ...]:
    return tuple(
        term for term in terms if term.weight == 1 and term.region != "aside" and not term.is_denied
    )


def _on_topic(case: _Case) -> bool:
    """Half of what the shorter claim says must have an answer in the other."""
    related = case.found.same + case.found.opposed + case.found.finer
    held = weigh([pair.a for pair in related])
    values = case.found.clashes + case.found.loose
    whole = min(
        held + weigh([pair.a for pair in values]) * 0.5 + weigh(left)
        for left in (case.left_a, case.left_b)
    )
    anchors = [pair for pair in related if pair.a.weight == 1 and pair.a.kind != "quantity"]
    return bool(anchors) and held >= 0.5 * whole


def _other_subject(case: _Case) -> str:
    """A reason when the two speak of different things, places or times."""
    for region, what in (("subject", "subject"), ("condition", "condition")):
        left = [term for term in case.left_a if term.region == region]
        right = [term for term in case.left_b if term.region == region]
        if left and right and not (region == "subject" and _is_agent_slot(case)):
            return f"other {what}: {_names(left)} vs {_names(right)}"
        for pair in case.found.clashes + case.found.opposed:
            if pair.a.region == pair.b.region == region and not _is_claimed(pair):
                if region == "subject" and _is_agent_slot(case):
                    continue
                return f"other {what}: {pair.a.text} vs {pair.b.text}"
    labels = [pair for pair in case.found.clashes if pair.a.kind == "label"]
    if labels and len(case.found.clashes) > len(labels):
        return f"other item: {labels[0].a.text} vs {labels[0].b.text}"
    return ""


def _is_claimed(pair: Pair) -> bool:
    """True for what a subject says rather than names: the verb, or how many ("two people must")."""
    is_count = pair.a.quantity is not None and pair.a.quantity.unit == "count"
    return pair.a.is_verb or is_count


def _is_agent_slot(case: _Case) -> bool:
    """True when both sides say by the same verb who does one thing ("X pays", "Y pays")."""
    return (
        case.a.verb == case.b.verb
        and case.a.verb in EXCLUSIVE_SUBJECT
        and not case.a.agent_prep
        and not case.b.agent_prep
    )


def _names(terms: Sequence[Term]) -> str:
    return " ".join(term.text for term in terms[:4])


def _narrows(terms: Sequence[Term]) -> bool:
    """True when leftovers limit what their side holds for ("… for uploads", "if paid")."""
    return any(
        (term.region in ("condition", "subject") and term.key not in _IDLE_MODIFIERS)
        or term.prep in _NARROWING
        or term.key in ("except", "unless", "until", "only", "partly", "mostly")
        for term in terms
    )  # fmt: skip


def _one_slot(case: _Case) -> bool:
    """True when nothing but the slot in dispute differs, so that a clash is a contradiction."""
    if case.both_left or _narrows(case.left_a) or _narrows(case.left_b):
        return False
    return not _verbs_differ(case)


def _verbs_differ(case: _Case) -> bool:
    """Both main verbs are without an answer, and one of them is not a general one."""
    left = [term for term in case.found.left_a if term.is_verb]
    right = [term for term in case.found.left_b if term.is_verb]
    if not (left and right) or interchangeable(left[0].key, right[0].key):
        return False
    return left[0].weight + right[0].weight > 1


def _denial(case: _Case) -> Verdict | None:
    """One side states what the other denies: "S3" against "not S3", "moved away from S3"."""
    for pair in case.found.same:
        if pair.a.is_denied != pair.b.is_denied and pair.a.weight == 1:
            denied = pair.a if pair.a.is_denied else pair.b
            if case.parity_differs or not _subjects_meet(case, pair):
                return Verdict("different", (f"only one side denies {denied.text}",), 0.4)
            if not _narrows(case.left_a) or not _narrows(case.left_b):
                return Verdict("contradicts", (f"one side denies {denied.text}",), 0.8)
            return Verdict("different", (f"only one side denies {denied.text}",), 0.4)
    return None


def _subjects_meet(case: _Case, besides: Pair) -> bool:
    """True when something other than the denied term is shared."""
    return any(
        pair is not besides and pair.a.weight == 1 and not pair.a.is_verb
        for pair in case.found.same + case.found.finer
    )


def _swap(case: _Case) -> Verdict | None:
    """The same words in exchanged roles: "A calls B" and "B calls A", "from A to B" reversed."""
    pairs = [pair for pair in case.found.same if not pair.a.is_verb and pair.a.weight == 1]
    for first in pairs:
        for second in pairs:
            if first is second or (first.a.prep == "to" and case.a.verb in SYMMETRIC):
                continue
            if _exchanged_prepositions(first, second):
                opposed = _OPPOSED_PREPOSITIONS.get(first.a.prep) == second.b.prep
                if opposed or case.both_left:
                    return None
                reason = f"other direction: {first.a.prep} {first.a.text}"
                return Verdict("contradicts", (reason,), 0.8)
    return _exchanged_roles(case, pairs)


def _exchanged_prepositions(first: Pair, second: Pair) -> bool:
    """`first` stands behind a directed preposition in a, `second` behind it (or its opposite)."""
    led = first.a.prep
    if led not in _DIRECTED or led in (second.a.prep, first.b.prep):
        return False
    return second.b.prep in (led, _OPPOSED_PREPOSITIONS.get(led, led)) and (
        first.b.prep == second.a.prep or first.b.prep != second.b.prep
    )


def _roles(claim: Claim) -> dict[int, str]:
    """Agent or patient by identity of the term, passives and converses turned round.

    A word that stands in the claim twice plays no telling role.
    """
    turned = claim.agent_prep
    counts = Counter(term.key for term in claim.terms)
    roles = {}
    for term in claim.terms:
        if counts[term.key] > 1 or term.is_verb:
            continue
        if term.region == "subject":
            roles[id(term)] = "patient" if turned else "agent"
        elif term.region == "predicate" and (not turned or term.prep == turned):
            roles[id(term)] = "agent" if turned else "patient"
    return roles


def _exchanged_roles(case: _Case, pairs: Sequence[Pair]) -> Verdict | None:
    if not case.a.verb or case.a.verb != case.b.verb or case.a.verb in SYMMETRIC:
        return None
    roles_a, roles_b = _roles(case.a), _roles(case.b)
    moves = {(roles_a.get(id(pair.a)), roles_b.get(id(pair.b))) for pair in pairs}
    if ("agent", "patient") not in moves or ("patient", "agent") not in moves:
        return None
    if ("agent", "agent") in moves and ("patient", "patient") in moves:
        return None
    verb_weight = next((term.weight for term in case.a.terms if term.is_verb), 0)
    if case.both_left or verb_weight < 1 or case.parity_differs:
        return Verdict("different", ("the same words in other roles",), 0.5)
    return Verdict("contradicts", ("the same words in exchanged roles",), 0.7)


def _value(case: _Case) -> Verdict | None:
    """One number, date, version or member of a kind differs while the rest is said alike."""
    clashes = [pair for pair in case.found.clashes if pair.a.region != "aside"]
    if not clashes:
        return None
    reasons = tuple(pair.reason for pair in clashes)
    hard = Verdict("contradicts", reasons, 0.9)
    if not _one_slot(case) or case.parity_differs or case.found.opposed:
        return Verdict("different", (*reasons, "but something else differs too"), 0.5)
    if any(pair.a.is_denied != pair.b.is_denied for pair in clashes):
        return Verdict("different", ("one side denies the other value",), 0.5)
    if all(pair.a.kind in ("word", "name") for pair in clashes) and not _excludes(case, clashes):
        return Verdict("different", (*reasons, "but both can hold"), 0.5)
    if case.a.is_past and case.b.is_past and all(pair.a.kind == "date" for pair in clashes):
        return Verdict("different", (*reasons, "but both can have happened"), 0.4)
    return hard


def _excludes(case: _Case, clashes: Sequence[Pair]) -> bool:
    """True unless verb or additive words let both members hold ("supports", "also uses")."""
    if case.a.cues & ADDITIVES or case.b.cues & ADDITIVES:
        return False
    if any(pair.a.key in FUNCTIONAL and pair.a.kind == "word" for pair in case.found.same):
        return True
    return not (case.a.verb in INCLUSIVE or case.b.verb in INCLUSIVE)


def _opposition(case: _Case) -> Verdict | None:
    """Antonyms: one pair (or none and a negation) decides; two pairs are beyond the rules."""
    pairs = case.found.opposed + _opposed_prepositions(case)
    if not pairs:
        return None
    reasons = tuple(pair.reason for pair in pairs)
    if len(pairs) > 1:
        return Verdict("different", (*reasons, "more than one opposition"), 0.4)
    if case.parity_differs:
        if any(pair.a.key in GRADED or pair.a.key not in OPPOSITES for pair in pairs):
            return Verdict("different", (*reasons, "and a negation"), 0.4)
        return None  # "not allowed" is "forbidden": left to agreement
    if not _one_slot(case) or _is_additive(case):
        return Verdict("different", (*reasons, "but something else differs too"), 0.5)
    return Verdict("contradicts", reasons, 0.85)


def _is_additive(case: _Case) -> bool:
    return bool((case.a.cues | case.b.cues) & ADDITIVES)


def _opposed_prepositions(case: _Case) -> list[Pair]:
    found = []
    for pair in case.found.same:
        if _OPPOSED_PREPOSITIONS.get(pair.a.prep) == pair.b.prep:
            found.append(Pair(pair.a, pair.b, f"{pair.a.prep} against {pair.b.prep}"))
    return found[:1]


def _negation(case: _Case) -> Verdict | None:
    """One side is negated, and the negated side is the more general one."""
    if not case.parity_differs or case.found.opposed:
        return None
    negated, stated = (
        (case.left_a, case.left_b) if not case.a.polarity else (case.left_b, case.left_a)
    )
    reason = "one side is negated"
    if negated or _verbs_differ(case):
        return Verdict("different", (reason, "but of something narrower"), 0.4)
    if any(term.region == "subject" and term.key not in _IDLE_MODIFIERS for term in stated):
        return Verdict("different", (reason, "of another subject"), 0.4)
    if case.found.loose or case.found.clashes:
        return Verdict("different", (reason, "with other values"), 0.4)
    return Verdict("contradicts", (reason,), 0.85)


def _filler(case: _Case) -> Verdict | None:
    """Same frame, other filler, in a slot that holds one: "hosted in Oslo", "status is open"."""
    if not case.both_left or case.parity_differs or _is_additive(case) or _verbs_differ(case):
        return None
    terms = case.left_a + case.left_b
    if any(term.region != "predicate" or term.is_verb for term in terms):
        return None
    slots_a, slots_b = ({term.prep for term in left} for left in (case.left_a, case.left_b))
    if len(slots_a) != 1 or slots_a != slots_b:
        return None
    if len(case.left_a) > 3 or len(case.left_b) > 3 or not _subject_is_shared(case):
        return None
    prep = next(iter(slots_a))
    why = _why_exclusive(case, prep)
    if not why:
        return None
    reason = f"{why}: {_names(case.left_a)} vs {_names(case.left_b)}"
    return Verdict("contradicts", (reason,), 0.65)


def _subject_is_shared(case: _Case) -> bool:
    return any(
        pair.a.region == "subject" or pair.b.region == "subject"
        for pair in case.found.same
        if pair.a.weight == 1
    )


def _why_exclusive(case: _Case, prep: str) -> str:
    shared = {pair.a.key for pair in case.found.same}
    if shared & EXCLUSIVES:
        return "only one can hold"
    if not prep and case.a.verb in ("", "have", case.b.verb) and shared & FUNCTIONAL:
        return "one value at a time"
    verb = case.a.verb
    if verb and verb == case.b.verb and prep in EXCLUSIVE_OBJECT.get(verb, ()):
        names = [term for term in case.left_a + case.left_b if term.kind == "name"]
        fully_named = len(names) == len(case.left_a + case.left_b)
        return "one place at a time" if fully_named else ""
    return ""


def _agent(case: _Case) -> Verdict | None:
    """Two name themselves as the one who owns, decides or pays."""
    if not _is_agent_slot(case) or case.parity_differs or _is_additive(case):
        return None
    left = [term for term in case.left_a if term.region == "subject"]
    right = [term for term in case.left_b if term.region == "subject"]
    clashing = [p for p in case.found.clashes + case.found.opposed if p.a.region == "subject"]
    if not ((left and right) or clashing):
        return None
    if len(left) < len(case.left_a) or len(right) < len(case.left_b):
        return Verdict("different", ("another subject and another object",), 0.6)
    reason = f"another subject: {_names(left)} vs {_names(right)}"
    return Verdict("contradicts", (reason,), 0.7)


def _agreement(case: _Case) -> Verdict:
    """`same` when nothing is left, `refines` when one side only says more."""
    if reason := _why_unsure(case):
        return Verdict("different", (reason,), 0.4)
    found = case.found
    idle = _idle(found.same + found.finer)
    rest_a = [term for term in found.left_a if term.weight == 1 and term.key not in idle]
    rest_b = [term for term in found.left_b if term.weight == 1 and term.key not in idle]
    finer = {pair.reason for pair in found.finer}
    if not rest_a and not rest_b and not finer:
        confidence = 0.95 if not found.opposed else 0.7
        return Verdict("same", ("every word has its match",), confidence)
    if not rest_a and finer <= {"b"} and _only_adds(rest_b):
        return _refinement(rest_b, "b")
    if not rest_b and finer <= {"a"} and _only_adds(rest_a):
        return _refinement(rest_a, "a")
    return Verdict("different", ("no rule decides",), 0.3)


def _why_unsure(case: _Case) -> str:
    """What keeps two claims from being called alike, "" when nothing does."""
    found = case.found
    if found.clashes or found.loose or _verbs_differ(case):
        return "no rule decides"
    if bool(found.opposed) != case.parity_differs:
        return "no rule decides"
    if _order_differs(case):
        return "the same words in another order"
    forces = {case.a.force, case.b.force}
    if len(forces) == 2 and forces & {"need", "may", "should"} and forces != {"may", ""}:
        return "another obligation"
    return ""


def _refinement(rest: Sequence[Term], side: Literal["a", "b"]) -> Verdict:
    reason = f"adds {_names(rest)}" if rest else "says the value more exactly"
    return Verdict("refines", (reason,), 0.8, side)


def _only_adds(terms: Sequence[Term]) -> bool:
    """True when the extra words add to the statement without limiting or denying it."""
    return not any(
        term.is_denied
        or (term.region == "condition")
        or (term.region == "subject" and term.key not in _IDLE_MODIFIERS)
        or term.key in ("except", "unless", "until", "only", "partly", "mostly", "almost", "rarely")
        for term in terms
    )


def _order_differs(case: _Case) -> bool:
    """True when roles or telling prepositions moved and no passive or converse explains it."""
    for pair in case.found.same:
        led = {pair.a.prep, pair.b.prep}
        if (
            len(led) == 2
            and (led & _TELLING or led <= _DIRECTED)
            and pair.a.region == pair.b.region == "predicate"
        ):
            return True
    if not case.a.verb or case.a.verb != case.b.verb:
        return False
    roles_a, roles_b = _roles(case.a), _roles(case.b)
    return (
        any(
            {roles_a.get(id(pair.a)), roles_b.get(id(pair.b))} == {"agent", "patient"}
            for pair in case.found.same
            if pair.a.kind in ("word", "name") and pair.a.weight == 1 and not pair.a.is_verb
        )
        and case.a.verb not in SYMMETRIC
    )
