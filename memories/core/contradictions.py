"""Rules that find a contradiction between two claims on one topic.

Each rule checks one way to contradict and returns a reading, or None when it does not apply. The
order matters: denied or reversed claims are checked before differing ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memories.core import dates
from memories.core.alignment import Pair
from memories.core.cases import (
    Case,
    CaseReading,
    Contradiction,
    is_agent_slot,
    is_exact,
    is_one_slot,
    names,
    narrows,
    role_changes,
    roles,
    subject_is_firm,
    verbs_differ,
)
from memories.core.claim_types import Term
from memories.core.function_words import EXCLUSIVES, PREPOSITIONS
from memories.core.lexicon import (
    EXCLUSIVE_OBJECT,
    FUNCTIONAL,
    GRADED,
    INCLUSIVE,
    OPPOSITES,
    SYMMETRIC,
    interchangeable,
)

_OPPOSED_PREPOSITIONS = {
    "before": "after", "after": "before", "above": "below", "below": "above", "inside": "outside",
    "outside": "inside", "over": "under", "under": "over", "up": "down", "down": "up",
    "since": "until", "until": "since", "into": "out", "out": "into", "on": "off", "off": "on",
}  # fmt: skip
# "The default branch is main", "… is called trunk".
_NAMING = frozenset(["", "have", "call", "name"])
DIRECTED = frozenset(["from", "to", "into", "onto", "before", "after", "above", "below", "over",
                      "under", "than", "instead"])  # fmt: skip
_MAX_PAIRS = 40  # shared words that are examined for exchanged roles


def different(*reasons: str, confidence: float = 0.4) -> CaseReading:
    """Return a reading of two claims that do not contradict each other."""
    return CaseReading("different", reasons, confidence)


def _contradiction(way: Contradiction, *reasons: str, confidence: float) -> CaseReading:
    """Return a reading of two claims that contradict each other in this way."""
    return CaseReading("contradicts", reasons, confidence, contradiction=way)


def denial(case: Case) -> CaseReading | None:
    """Find what one side states and the other denies: "S3", "not S3" or "moved away from S3"."""
    for pair in case.found.same:
        if pair.a.is_denied == pair.b.is_denied or pair.a.weight < 1:
            continue
        if pair.a.key in PREPOSITIONS:
            continue  # "no shell inside" denies the shell
        denied = pair.a if pair.a.is_denied else pair.b
        stating = case.left_b if pair.a.is_denied else case.left_a
        is_alone = not case.both_left and not case.parity_differs and not verbs_differ(case)
        narrow = narrows(stating, in_subject=not subject_is_firm(case))
        if is_alone and not narrow and _shares_another(case, pair):
            confidence = 0.8 if is_exact(case) else 0.65
            return _contradiction("denial", f"one side denies {denied.text}", confidence=confidence)
        return different(f"only one side denies {denied.text}")
    return None


def _shares_another(case: Case, besides: Pair) -> bool:
    return any(
        pair is not besides and pair.a.weight == 1 and not pair.a.is_verb
        for pair in case.found.same + case.found.finer
    )


def swap(case: Case) -> CaseReading | None:
    """Find the same words in exchanged roles: "A calls B", "B calls A"; "from A to B" reversed."""
    pairs = [pair for pair in case.found.same if not pair.a.is_verb and pair.a.weight == 1]
    pairs = pairs[:_MAX_PAIRS]
    for first in pairs:
        if first.a.prep not in DIRECTED or (first.a.prep == "to" and case.a.verb in SYMMETRIC):
            continue
        for second in pairs:
            if first is second or not _exchanged_prepositions(first, second):
                continue
            if case.both_left or _OPPOSED_PREPOSITIONS.get(first.a.prep) == second.b.prep:
                return None
            reason = f"other direction: {first.a.prep} {first.a.text}"
            return _contradiction("direction", reason, confidence=0.8)
    return _exchanged_roles(case, pairs)


def _exchanged_prepositions(first: Pair, second: Pair) -> bool:
    """Return whether `second` has in b the preposition of `first` in a, or its opposite."""
    led = first.a.prep
    if led in (second.a.prep, first.b.prep):
        return False
    return second.b.prep in (led, _OPPOSED_PREPOSITIONS.get(led, led)) and (
        first.b.prep == second.a.prep or first.b.prep != second.b.prep
    )


def _exchanged_roles(case: Case, pairs: Sequence[Pair]) -> CaseReading | None:
    if not case.a.verb or case.a.verb != case.b.verb or case.a.verb in SYMMETRIC:
        return None
    found = role_changes(pairs, roles(case.a), roles(case.b))
    if not {("agent", "patient"), ("patient", "agent")} <= found:
        return None
    if {("agent", "agent"), ("patient", "patient")} <= found:
        return None
    verb_weight = next((term.weight for term in case.a.terms if term.is_verb), 0)
    if case.both_left or verb_weight < 1 or case.parity_differs:
        return different("the same words in other roles")
    return _contradiction("roles", "the same words in exchanged roles", confidence=0.7)


def value(case: Case) -> CaseReading | None:
    """Find one number, date, version or member of a kind that differs while the rest agrees."""
    clashes = [pair for pair in case.found.clashes if pair.a.region != "aside"]
    if not clashes:
        return None
    reasons = tuple(pair.reason for pair in clashes)
    if doubt := _doubt_about(case, clashes):
        # Two words may be names of one thing; two numbers never are.
        is_number = all(pair.a.kind not in ("word", "name") for pair in clashes)
        return different(*reasons, doubt, confidence=0.5 if is_number else 0.4)
    return _contradiction(
        _difference(clashes[0]), *reasons, confidence=0.9 if is_exact(case) else 0.7
    )


def _difference(clash: Pair) -> Contradiction:
    """Return what differs: a number, a version, a date, the time of day, a label or a choice."""
    if "version" in (clash.a.kind, clash.b.kind):
        return "version"
    if clash.a.kind == "date":
        return "time" if dates.dimension(clash.a.key) == "clock" else "date"
    if clash.a.kind == "label":
        return "label"
    return "number" if "quantity" in (clash.a.kind, clash.b.kind) else "choice"


def _doubt_about(case: Case, clashes: Sequence[Pair]) -> str:
    """Return why two different values may both be true, "" when they cannot."""
    if any(pair.a.is_denied != pair.b.is_denied for pair in clashes):
        return "but one side denies the other value"
    if len({_measure(pair) for pair in clashes}) > 1 and any(_is_day(pair) for pair in clashes):
        return "but of another time"
    if not is_one_slot(case) or case.parity_differs or case.found.opposed:
        return "but something else differs too"
    if all(pair.a.kind in ("word", "name") for pair in clashes) and not _excludes(case, clashes):
        return "but both can hold"
    if case.a.is_past and case.b.is_past and all(pair.a.kind == "date" for pair in clashes):
        return "but both can have happened"
    return ""


def _measure(pair: Pair) -> str:
    return pair.a.quantity.unit if pair.a.quantity else pair.a.kind


def _is_day(pair: Pair) -> bool:
    """Return True for a month, day or year; next to another value it identifies one of many."""
    return pair.a.kind == "date" and ":" not in pair.a.key and not pair.a.key.isalpha()


def _excludes(case: Case, clashes: Sequence[Pair]) -> bool:
    """Return True unless verb or additive words allow both members ("supports", "also uses")."""
    if case.is_additive:
        return False
    if case.shared & FUNCTIONAL:
        return True
    if all(pair.a.prep in ("at", "in", "on", "by") for pair in clashes):
        return True  # a place, not one of the many things that the verb takes
    return not (case.a.verb in INCLUSIVE or case.b.verb in INCLUSIVE)


def opposition(case: Case) -> CaseReading | None:
    """Find one pair of antonyms (or none and a negation); two pairs are undecided."""
    pairs = case.found.opposed + _opposed_prepositions(case)
    if not pairs:
        return None
    reasons = tuple(pair.reason for pair in pairs)
    if len(pairs) > 1:
        return different(*reasons, "more than one opposition")
    if case.parity_differs:
        if any(pair.a.key in GRADED or pair.a.key not in OPPOSITES for pair in pairs):
            return different(*reasons, "and a negation")
        return None  # "not allowed" is "forbidden": left to agreement
    if not is_one_slot(case) or case.is_additive or _until_differs(case):
        return different(*reasons, "but something else differs too")
    return _contradiction("opposites", *reasons, confidence=0.85 if is_exact(case) else 0.65)


def _until_differs(case: Case) -> bool:
    """ "Open until 9" is no contradiction of "closes at 9", nor "for" one of "after 14 days"."""
    return any(
        pair.a.prep != pair.b.prep
        and (
            not _SPANNING.isdisjoint((pair.a.prep, pair.b.prep))
            or ({pair.a.prep, pair.b.prep} <= _LASTING and "after" in (pair.a.prep, pair.b.prep))
        )
        for pair in case.found.same
    )


_SPANNING = frozenset(["until", "since"])
_LASTING = frozenset(["for", "after", "up", "within", ""])


def _opposed_prepositions(case: Case) -> list[Pair]:
    for pair in case.found.same:
        if _OPPOSED_PREPOSITIONS.get(pair.a.prep) == pair.b.prep:
            return [Pair(pair.a, pair.b, f"{pair.a.prep} against {pair.b.prep}")]
    return []


def negation(case: Case) -> CaseReading | None:
    """Find a negation of one side only, where that side is the more general one."""
    if not case.parity_differs or case.found.opposed:
        return None
    negated, stated = (
        (case.left_a, case.left_b) if not case.a.polarity else (case.left_b, case.left_a)
    )
    if negated or any(term.is_verb for term in stated) or verbs_differ(case):
        return different("one side is negated", "but of something narrower")
    if any(term.region == "subject" for term in stated):
        return different("one side is negated", "of another subject")
    if case.found.loose or case.found.clashes:
        return different("one side is negated", "with other values")
    return _contradiction("negation", "one side is negated", confidence=0.85)


def filler(case: Case) -> CaseReading | None:
    """Find different fillers of a slot that has one value: "hosted in Oslo", "status is open"."""
    if case.parity_differs or case.is_additive or verbs_differ(case):
        return None
    if not case.both_left:
        return _left_behind(case)
    why = _why_exclusive(case) if _is_one_filler_each(case) else ""
    if not why:
        return None
    reason = f"{why}: {names(case.left_a)} vs {names(case.left_b)}"
    are_names = all(term.kind == "name" for term in case.left_a + case.left_b)
    # Two plain nouns may be two words for one thing ("road", "path").
    return _contradiction("one-at-a-time", reason, confidence=0.65 if are_names else 0.5)


def _is_one_filler_each(case: Case) -> bool:
    """Return whether both leftovers are short, stand in the same slot and the subject is shared."""
    terms = case.left_a + case.left_b
    if any(term.region != "predicate" or term.is_verb for term in terms):
        return False
    if all(term.quantity is not None for term in terms):
        return False  # amounts that cannot be compared: "50 % owned", "0.5 owned"
    if max(len(case.left_a), len(case.left_b)) > 3:
        return False
    return len({term.prep for term in terms}) == 1 and _shares_subject(case)


def _left_behind(case: Case) -> CaseReading | None:
    """Find a named place and a change to another: "lives in Madrid", "moved to Lisbon"."""
    for moved, stating, left in ((case.a, case.b, case.left_b), (case.b, case.a, case.left_a)):
        change = moved.transition
        if change is None or change.kind != "switch" or change.old or not change.new:
            continue
        named = tuple(term for term in left if not term.is_verb)
        are_places = bool(named) and all(
            term.kind == "name" and term.prep in EXCLUSIVE_OBJECT.get(stating.verb, ())
            for term in named
        )
        if are_places and _shares_subject(case):
            reason = f"{change.text} away from {names(named)}"
            return _contradiction("moved-away", reason, confidence=0.6)
    return None


def _shares_subject(case: Case) -> bool:
    return any(
        "subject" in (pair.a.region, pair.b.region)
        for pair in case.found.same
        if pair.a.weight == 1
    )


def _why_exclusive(case: Case) -> str:
    prep = case.left_a[0].prep
    if case.shared & EXCLUSIVES:
        return "only one can hold"
    held = {pair.a.key for pair in case.found.same if pair.a.region == pair.b.region}
    if not prep and {case.a.verb, case.b.verb} <= _NAMING and held & FUNCTIONAL:
        return "one value at a time"
    is_one_verb = case.a.verb == case.b.verb or interchangeable(case.a.verb, case.b.verb)
    if case.a.verb and is_one_verb and prep in EXCLUSIVE_OBJECT.get(case.a.verb, ()):
        return "one at a time" if _are_fillers(case) else ""
    return ""


def _are_fillers(case: Case) -> bool:
    """Return whether both leftovers are names, or one plain noun phrase each and nothing else."""
    terms = case.left_a + case.left_b
    are_names = all(term.kind == "name" for term in terms)
    return are_names or max(len(case.left_a), len(case.left_b)) <= 2


def agent(case: Case) -> CaseReading | None:
    """Find different agents of a verb with one agent: who owns, decides or pays."""
    if not is_agent_slot(case) or case.parity_differs or case.is_additive:
        return None
    left, right = (_in_subject(terms) for terms in (case.left_a, case.left_b))
    clashing = [p for p in case.found.clashes + case.found.opposed if p.a.region == "subject"]
    if not ((left and right) or clashing):
        return None
    has_other = len(left) < len(case.left_a) or len(right) < len(case.left_b)
    if has_other or not _shares_object(case) or max(len(left), len(right)) > 3:
        return different("another subject and another object", confidence=0.6)
    described = f"{names(left)} vs {names(right)}" if left and right else clashing[0].reason
    return _contradiction("owner", f"another subject: {described}", confidence=0.7)


def _in_subject(terms: Sequence[Term]) -> list[Term]:
    return [term for term in terms if term.region == "subject"]


def _shares_object(case: Case) -> bool:
    return any(
        pair.a.region == pair.b.region == "predicate" and pair.a.weight == 1 and not pair.a.is_verb
        for pair in case.found.same
    )


RULES: tuple[Callable[[Case], CaseReading | None], ...] = (
    denial, swap, value, opposition, negation, filler, agent,
)  # fmt: skip
