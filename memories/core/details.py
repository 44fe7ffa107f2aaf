"""Decide which additional details leave a claim the same: a short closed list.

"Signed with HMAC-SHA256" implies "signed". "Accepted by appointment" does not imply "accepted":
to keep only the former would lose the general claim. A common word can limit, doubt or withdraw
the claim next to it, and so can a further sentence; only the details listed here refine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core.calendar_words import FESTIVALS, MONTHS, SEASONS, WEEKDAYS
from memories.core.cases import HEADINGS, LIMITERS
from memories.core.claim_types import Claim, Term
from memories.core.lexicon import is_product
from memories.core.tokeniser import stems

# Modifiers of a subject for the usual one of its kind. As written, because "optional" has
# the stem of "option".
_IDLE_MODIFIERS: Final = frozenset(
    ["main", "primary", "current", "whole", "entire", "official", "actual", "team", "service",
     "system", "value", "rule", "option", "parameter", "process"]
)  # fmt: skip
# Prepositions before the tool or the form by which a thing is done. "From" is not one: "imports
# files from S3" excludes all other files.
_MEANS: Final = frozenset(["with", "by", "via", "through", "as", "into"])
# After the object of an active verb they describe the object: "admits patients with COVID-19".
_MEANS_OF_PASSIVES: Final = frozenset(["with", "by"])
# What is allowed, supported or covered in one way may not be so in another.
_PERMITTING: Final = stems("allow permit accept admit offer support include cover let enable")
# Units of durations and shares, which limit a claim.
_LIMITING_UNITS: Final = frozenset(["s", "percent"])
_IDENTIFIER: Final = re.compile(r"\d|[_./\\@]|[a-z][A-Z]")
_PROPER_NAME: Final = re.compile(r"[A-Z][a-z]+(?:-[A-Z][a-z]+)*")
# Names of times: "by Easter" is a date, not a person.
_TIMES: Final = stems(" ".join((*MONTHS, *WEEKDAYS, *SEASONS, "fall", *FESTIVALS)))
_CONTRAST: Final = re.compile(
    r"\b(?:but|however|although|though|except|excepting|excluding|unless|yet|otherwise|whereas|"
    r"until|till|since|only|instead|if|when|whenever|while)\b",
    re.IGNORECASE,
)


def are_harmless(terms: Sequence[Term], claim: Claim) -> bool:
    """Return whether all additional terms of `claim` are known not to change the rest of it."""
    if any(term.is_denied or term.is_verb or term.key in LIMITERS for term in terms):
        return False
    added = {id(term) for term in terms}
    kept = [term for term in claim.terms if id(term) not in added]
    counted = {t.quantity.noun for t in terms if t.quantity and _is_exact_value(t, kept)}
    return all(
        _is_idle(term)
        or (not _is_permission(claim) and _is_detail(term, claim, kept))
        or (term.kind == "word" and term.text.lower() in counted)
        for term in terms
    )


def _is_permission(claim: Claim) -> bool:
    return claim.force == "may" or any(t.is_verb and t.key in _PERMITTING for t in claim.terms)


def _is_idle(term: Term) -> bool:
    """Return True for a heading of any note, and for a modifier for the usual one of a kind."""
    if term.prep == ":":
        return term.key in HEADINGS
    return term.region == "subject" and term.text.lower() in _IDLE_MODIFIERS


def _is_detail(term: Term, claim: Claim, kept: Sequence[Term]) -> bool:
    if term.kind == "version":  # "PostgreSQL" becomes "PostgreSQL 17"
        return any(term.key.partition(" ")[0] == other.key for other in kept)
    if term.region != "predicate":
        return False
    if term.kind == "date":
        return _is_clock_time(term, kept)
    if term.quantity is not None:
        return _is_exact_value(term, kept)
    return _is_named_means(term, claim, kept)


def _is_clock_time(term: Term, kept: Sequence[Term]) -> bool:
    """Return True for "at 14:00" where no other time is given; a day may exclude other days."""
    has_other = any(other.kind == "date" and ":" in other.key for other in kept)
    return ":" in term.key and term.prep in ("", "at") and not has_other


def _is_exact_value(term: Term, kept: Sequence[Term]) -> bool:
    """Return True for the exact value of a stated noun, where no other value is given.

    A bare number must count a noun that is stated already, or repetitions.
    """
    quantity = term.quantity
    if quantity is None or quantity.bound != "exact" or quantity.upper is not None:
        return False
    if term.region != "predicate" or term.prep or any(other.quantity for other in kept):
        return False
    if quantity.unit == "count":
        is_known = any(quantity.noun == other.text.lower() for other in kept)
        return quantity.noun == "times" or (bool(quantity.noun) and is_known)
    return quantity.unit not in _LIMITING_UNITS


def _is_named_means(term: Term, claim: Claim, kept: Sequence[Term]) -> bool:
    """Return True for a named tool or form: "with HMAC-SHA256", "through GitHub Actions"."""
    is_passive = claim.agent_prep == "by"
    if term.kind != "name" or term.prep not in _MEANS or term.key in _TIMES:
        return False
    if term.prep in _MEANS_OF_PASSIVES and not is_passive:
        return False
    # A word in a phrase that both have describes another thing: "with a Bosch compressor".
    if any((other.region, other.prep) == (term.region, term.prep) for other in kept):
        return False
    if is_product(term.key) or _IDENTIFIER.search(term.text):
        return True
    # Any other name needs "by", which marks the agent ("by Helvetia").
    is_name = bool(_PROPER_NAME.fullmatch(term.text)) and not _are_capitalised(kept[1:])
    return is_name and term.prep == "by"


def _are_capitalised(terms: Sequence[Term]) -> bool:
    """Return whether common words are capitalised, too, so that a capital marks no name."""
    words = [term.text for term in terms if term.text.isalpha()]
    return sum(word[0].isupper() for word in words) * 2 > len(words)


def contrasts(text: str, other: str) -> bool:
    """Return whether one text has a limiting or contrasting word that the other lacks."""
    return _joints(text) != _joints(other)


def _joints(text: str) -> list[str]:
    return sorted(word.lower() for word in _CONTRAST.findall(text))
