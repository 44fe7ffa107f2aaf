"""Parse the dates and hours of a statement by what they name: a day, a weekday, a quarter."""

from __future__ import annotations

from conflicts.core.statements import Statement
from memories.core import dates
from memories.core.reasons import Difference


def dates_of(statement: Statement, dimension: str) -> set[str]:
    """Return the dates of a dimension: clock, day, weekday, quarter or relative."""
    found = {date for claim in statement.reading.claims for date in claim.dates}
    return {date for date in found if dates.dimension(date) == dimension}


def _written(statement: Statement, date: str) -> str:
    """Return a date of a statement as it stands in the text."""
    terms = (term for claim in statement.reading.claims for term in claim.terms)
    return next(term.written for term in terms if term.kind == "date" and term.key == date)


def explain_dates(a: Statement, date: str, b: Statement, other: str) -> Difference:
    """Return the reason that two statements give different dates or hours."""
    left, right = _written(a, date), _written(b, other)
    return Difference(f"other value: {left} against {right}", date, other)
