"""One number, date, version, label or member of a kind differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memories.core import dates
from memories.core.alignment import TermPair
from memories.core.cases import (
    Case,
    CaseReading,
    Contradiction,
    contradicts,
    different,
    is_exact,
    is_one_slot,
    positions,
)
from memories.core.claim_types import Claim
from memories.core.counted_parts import counts_a_part
from memories.core.forecasts import are_forecast_and_outcome
from memories.core.function_words import EXCLUSIVES
from memories.core.lexicon import (
    CLOSING,
    EXCLUSIVE_OBJECT,
    FUNCTIONAL,
    INCLUSIVE,
    REFUSING,
    concept_of,
)
from memories.core.numbered_objects import number_objects
from memories.core.one_more import is_one_more

# A firewall lets traffic through on many ports.
_LET_IN: Final = frozenset(map(concept_of, ["let", "allow", "permit", "forward", "open"]))
_PORT: Final = concept_of("port")
_LIMITING: Final = frozenset(["in", "on", "at", "for", "during"])


def find(case: Case) -> CaseReading | None:
    """Find one number, date, version or member of a kind that differs while the rest agrees."""
    clashes = [pair for pair in case.found.clashes if pair.a.region != "aside"]
    if not clashes:
        return None
    reasons = tuple(pair.reason for pair in clashes)
    if doubt := _doubt_about(case, clashes):
        # Two words may be names of one thing; two numbers never are.
        is_number = all(pair.a.kind not in ("word", "name") for pair in clashes)
        return different(*reasons, doubt, confidence=0.5 if is_number else 0.4)
    return contradicts(_difference(clashes[0]), *reasons, confidence=0.9 if is_exact(case) else 0.7)


def _difference(clash: TermPair) -> Contradiction:
    """Return what differs: a number, a version, a date, the time of day, a label or a choice."""
    if "version" in (clash.a.kind, clash.b.kind):
        return "version"
    if clash.a.kind == "date":
        return "time" if dates.dimension(clash.a.key) == "clock" else "date"
    if clash.a.kind == "label":
        return "label"
    return "number" if "quantity" in (clash.a.kind, clash.b.kind) else "choice"


def _doubt_about(case: Case, clashes: Sequence[TermPair]) -> str:
    """Return why two different values may both be true, "" when they cannot."""
    if turned := _turned_round(case, clashes):
        return turned
    if len(clashes) > 1 and (limits := _limits_of(case, clashes)):
        return limits
    if not is_one_slot(case) or case.parity_differs or case.found.opposed:
        return "but something else differs too"
    if _may_both_hold(case, clashes):
        return "but both can hold"
    return _said_of_others(case, clashes)


def _said_of_others(case: Case, clashes: Sequence[TermPair]) -> str:
    """Return how the values are of different things or events, "" where nothing says so."""
    if _counts_a_part(case, clashes):
        return "but the lower number may count a part of them"
    if are_forecast_and_outcome(case.a.text, case.b.text):
        return "but one says what was expected"
    is_named = all(pair.a.kind in ("word", "name", "label") for pair in clashes)
    if is_named and {case.a.tense, case.b.tense} == {"past", "present"}:
        return "but one says what was"
    if case.a.is_past and case.b.is_past and all(pair.a.kind == "date" for pair in clashes):
        return "but both can have happened"
    return ""


def _turned_round(case: Case, clashes: Sequence[TermPair]) -> str:
    """Return how one side says what does not hold, "" where both say what does."""
    if any(pair.a.is_denied != pair.b.is_denied for pair in clashes):
        return "but one side denies the other value"
    if any(pair.a.quantity for pair in clashes) and _refuses(case.a) != _refuses(case.b):
        return "but one says what is refused"
    return ""


def _refuses(claim: Claim) -> bool:
    """Return whether a claim says what is not accepted: "uploads over 20 MB are rejected"."""
    return not REFUSING.isdisjoint(term.key for term in claim.terms if term.is_verb)


def _measure(pair: TermPair) -> str:
    return pair.a.quantity.unit if pair.a.quantity else pair.a.kind


def _is_day(pair: TermPair) -> bool:
    """Return True for a month, day or year; next to another value it identifies one of many."""
    return pair.a.kind == "date" and ":" not in pair.a.key and not pair.a.key.isalpha()


def _limits_of(case: Case, clashes: Sequence[TermPair]) -> str:
    """Return how one clash says when or where the value of another holds, "" if none does.

    As in "5 s in staging" and "at 9 on Saturdays". "On Tuesday at 10" is one date.
    """
    if any(map(_are_ranges, clashes)):
        return "but each of its own range"
    if len({_measure(pair) for pair in clashes}) > 1 and any(map(_is_day, clashes)):
        return "but of another time"
    placed = [pair for pair in clashes if pair.a.prep == pair.b.prep and pair.a.prep in _LIMITING]
    if any(pair.a.kind in ("word", "name") for pair in placed):
        return "but each of its own place or time"
    if any(_recurs(pair) and _is_behind_all(case, pair, clashes) for pair in placed):
        return "but each on its own days"
    return ""


def _are_ranges(pair: TermPair) -> bool:
    """Return whether two bounds tell apart what they are said of: "under 8 m" and "over 8 m"."""
    left, right = pair.a.quantity, pair.b.quantity
    if left is None or right is None or "exact" in (left.bound, right.bound):
        return False
    return left.bound != right.bound or pair.a.region == pair.b.region == "subject"


def _recurs(pair: TermPair) -> bool:
    """Return whether both sides name days that come every week ("on Saturdays")."""
    texts = (pair.a.text, pair.b.text)
    return _is_weekday(pair) and all(map(dates.names_every_such_day, texts))


def _is_behind_all(case: Case, pair: TermPair, clashes: Sequence[TermPair]) -> bool:
    """Return whether a pair of terms comes last of all clashes on both sides."""
    last, *others = positions(case, [pair, *(one for one in clashes if one is not pair)])
    return all(last[0] > at_a and last[1] > at_b for at_a, at_b in others)


def _may_both_hold(case: Case, clashes: Sequence[TermPair]) -> bool:
    """Return whether the values are of a list, of one more thing, or days on which it is closed."""
    if all(pair.a.kind in ("word", "name") for pair in clashes):
        return not _excludes(case, clashes)
    if case.is_additive and all(pair.a.quantity is None for pair in clashes):
        return True
    labels = [pair for pair in clashes if pair.a.kind == "label"]
    if any(_are_objects(case, pair) for pair in labels) or (labels and _lets_in(case)):
        return True
    is_counted = all(pair.a.quantity and pair.a.quantity.unit == "count" for pair in clashes)
    if is_counted and number_objects(case.a.text, case.b.text):
        return True
    if all(pair.a.kind == "date" for pair in clashes) and is_one_more(case.a.text, case.b.text):
        return True
    return all(map(_is_weekday, clashes)) and bool(case.is_additive or case.shared & CLOSING)


def _lets_in(case: Case) -> bool:
    """Return whether both tell what is let in at a port, of which there may be several."""
    return _PORT in case.shared and not case.shared.isdisjoint(_LET_IN)


def _are_objects(case: Case, pair: TermPair) -> bool:
    """Return whether a verb takes both, as it may take many: "leaves port 80 open"."""
    is_taken = bool(case.a.verb and case.b.verb) and "" not in EXCLUSIVE_OBJECT.get(case.a.verb, ())
    return is_taken and all(
        term.region == "predicate" and not term.prep for term in (pair.a, pair.b)
    )


def _counts_a_part(case: Case, clashes: Sequence[TermPair]) -> bool:
    """Return whether the only clash is of two counts, the lower one perhaps a part of the other."""
    left, right = clashes[0].a.quantity, clashes[0].b.quantity
    if len(clashes) > 1 or left is None or right is None:
        return False
    return counts_a_part(case.a, left, case.b, right)


def _is_weekday(pair: TermPair) -> bool:
    return pair.a.kind == "date" and dates.dimension(pair.a.key) == "weekday"


def _excludes(case: Case, clashes: Sequence[TermPair]) -> bool:
    """Return True unless verb or additive words allow both members ("supports", "also uses")."""
    if case.is_additive:
        return False
    if case.shared & (FUNCTIONAL | EXCLUSIVES):
        return True
    if all(pair.a.prep in ("at", "in", "on") for pair in clashes):
        return True  # a place, not one of the many things that the verb takes
    return not (case.a.verb in INCLUSIVE or case.b.verb in INCLUSIVE)
