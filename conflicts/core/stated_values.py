"""Tell the values that a statement says hold from those that it denies.

"The museum does not close at 22:00" gives no hour at which it closes. What is denied clashes only
with the same value.
"""

from __future__ import annotations

from collections.abc import Iterator

from conflicts.core.statements import Statement
from memories.core import dates, measures
from memories.core.claim_types import Claim, Term
from memories.core.measures import Quantity


def stated_quantities(statement: Statement) -> list[Quantity]:
    """Return the amounts that hold; "never more than 14 days" is at most 14 days."""
    found = [_held(claim, term) for claim, term in _values(statement)]
    return [quantity for quantity in found if quantity is not None]


def stated_dates(statement: Statement, dimension: str) -> set[str]:
    """Return the dates that hold, of a dimension: clock, day, weekday, quarter or relative.

    Those that name the subject are left out: "Monday's soup is …".
    """
    found = [(claim, term) for claim, term in _values(statement) if term.kind == "date"]
    named = {term.key for _, term in found if term.region == "subject"}
    held = {term.key for claim, term in found if not _is_denied(claim, term)}
    return {date for date in held - named if dates.dimension(date) == dimension}


def dated_text(statement: Statement) -> str:
    """Return the clauses of a text that give a date or an hour."""
    return ". ".join(claim.text for claim in statement.reading.claims if claim.dates)


def denies_other_value(a: Statement, b: Statement) -> bool:
    """Return whether one text denies a value, and the other gives others of its kind only."""
    return _denies_other(a, b) or _denies_other(b, a)


def _denies_other(a: Statement, b: Statement) -> bool:
    denied = [term for claim, term in _values(a) if _is_denied(claim, term)]
    stated = [term for claim, term in _values(b) if not _is_denied(claim, term)]
    pairs = [(one, other) for one in denied for other in stated if _are_of_one_kind(one, other)]
    return bool(pairs) and not any(_agree(one, other) for one, other in pairs)


def _values(statement: Statement) -> Iterator[tuple[Claim, Term]]:
    for claim in statement.reading.claims:
        for term in claim.terms:
            if term.quantity is not None or term.kind == "date":
                yield claim, term


def _is_denied(claim: Claim, term: Term) -> bool:
    return term.is_denied or not claim.polarity


def _held(claim: Claim, term: Term) -> Quantity | None:
    """Return the amount that a term says holds, None where it only says what does not."""
    if term.quantity is None or not _is_denied(claim, term):
        return term.quantity
    return measures.denial(term.quantity)


def _are_of_one_kind(a: Term, b: Term) -> bool:
    if a.quantity is not None and b.quantity is not None:
        return a.quantity.unit == b.quantity.unit
    return a.kind == b.kind == "date" and dates.dimension(a.key) == dates.dimension(b.key)


def _agree(a: Term, b: Term) -> bool:
    if a.quantity is not None and b.quantity is not None:
        return measures.agree(a.quantity, b.quantity)
    return dates.agree(a.key, b.key)
