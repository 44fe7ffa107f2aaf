"""What one side may say more and still state the same claim: a short closed list.

"Signed with HMAC-SHA256" holds whatever "signed" holds. "Accepted by appointment" does not: whoever
keeps it alone has lost the general claim. A common word can always limit, doubt or take back what
it stands beside, and so can a further sentence; only what is listed here refines.
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

# Modifiers of a subject that point to the usual one of its kind. As written, because "optional" has
# the stem of "option".
_IDLE_MODIFIERS: Final = frozenset(
    ["main", "primary", "current", "whole", "entire", "official", "actual", "team", "service",
     "system", "value", "rule", "option", "parameter", "process"]
)  # fmt: skip
# Lead to the tool or the form by which a thing is done, where a tool or a form is named. "From" is
# none: "imports files from S3" leaves out all other files.
_MEANS: Final = frozenset(["with", "by", "via", "through", "as", "into"])
# Behind the object of an active verb they tell of the object: "admits patients with COVID-19".
_MEANS_OF_PASSIVES: Final = frozenset(["with", "by"])
# What is allowed, supported or covered in one way is not so in another.
_PERMITTING: Final = stems("allow permit accept admit offer support include cover let enable")
# Units that say how long or which share of a thing is meant.
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
    """True when all that `claim` says more is known to leave the rest of it as it stands."""
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
    """True for a heading of any note, and for a modifier that points to the usual one."""
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
    """True for "at 14:00" where no other is given; a day or a season may leave others out."""
    has_other = any(other.kind == "date" and ":" in other.key for other in kept)
    return ":" in term.key and term.prep in ("", "at") and not has_other


def _is_exact_value(term: Term, kept: Sequence[Term]) -> bool:
    """True for the exact value of what is stated, where no other value is given.

    A bare number must count what is stated already, or how many times it is done.
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
    """True for a tool or form by its name: "with HMAC-SHA256", "through GitHub Actions"."""
    is_passive = claim.agent_prep == "by"
    if term.kind != "name" or term.prep not in _MEANS or term.key in _TIMES:
        return False
    if term.prep in _MEANS_OF_PASSIVES and not is_passive:
        return False
    # A word within a phrase that both have tells of another thing: "with a Bosch compressor".
    if any((other.region, other.prep) == (term.region, term.prep) for other in kept):
        return False
    if is_product(term.key) or _IDENTIFIER.search(term.text):
        return True
    # Of any other name only "by" tells what it is: who does it ("by Helvetia").
    is_name = bool(_PROPER_NAME.fullmatch(term.text)) and not _are_capitalised(kept[1:])
    return is_name and term.prep == "by"


def _are_capitalised(terms: Sequence[Term]) -> bool:
    """True where common words are capitalised, too, so that a capital tells nothing."""
    words = [term.text for term in terms if term.text.isalpha()]
    return sum(word[0].isupper() for word in words) * 2 > len(words)


def contrasts(text: str, other: str) -> bool:
    """True when one text limits what it says by a word that the other does not have."""
    return _joints(text) != _joints(other)


def _joints(text: str) -> list[str]:
    return sorted(word.lower() for word in _CONTRAST.findall(text))
