"""Two texts in other words give different dates of one thing."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from conflicts.core.apart import is_observed
from conflicts.core.dates import explain_dates
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from conflicts.core.stated_values import dated_text, stated_dates
from conflicts.core.statements import Statement
from memories.core.calendar_words import WEEKDAYS, WORKDAYS
from memories.core.claim_types import Claim
from memories.core.dates import dimension, names_every_such_day
from memories.core.lexicon import CLOSING
from memories.core.one_more import is_one_more

RULE: Final = Rule(
    id="ambiguity.other-words.date",
    meaning="Two statements, often worded differently, give different dates or weekdays.",
    module=__name__,
    example=(
        "Bin collection for the annex is on Tuesday.",
        "The annex bins are emptied on Thursdays.",
    ),
)
_DAYS_OF: Final = {"weekday": WORKDAYS, "weekend": WEEKDAYS[5:]}
MIN_COSINE: Final = 0.65
STRENGTH: Final = 0.70


def find(pair: FactPair) -> Clash | None:
    """Compare the weekdays, then the dates, that the texts give."""
    if pair.cosine < MIN_COSINE or is_observed(pair.a, pair.b) or _tells_of_closing(pair):
        return None
    if _each_has_its_days(pair) or is_one_more(dated_text(pair.a), dated_text(pair.b)):
        return None
    for unit in ("weekday", "day"):
        mine, theirs = stated_dates(pair.a, unit), stated_dates(pair.b, unit)
        if len(mine) == 1 and 0 < len(theirs) <= 2 and _days(mine).isdisjoint(_days(theirs)):
            left, right = min(mine), min(theirs)
            if unit == "day" and _tell_of_events(pair):
                continue
            if unit == "weekday" or (
                _day(left) != _day(right)
                and not _is_within(left, right)
                and not _are_of_other_events(pair, left, right)
            ):
                reason = explain_dates(pair.a, left, pair.b, right)
                return pair.clash(RULE, reason, strength=STRENGTH)
    return None


def _tell_of_events(pair: FactPair) -> bool:
    """Return whether both texts tell what happened, as may have on two days."""
    one, other = pair.a.reading.claims, pair.b.reading.claims
    return all(claim.tense == "past" for claim in (*one, *other) if claim.dates)


def _are_of_other_events(pair: FactPair, date: str, other: str) -> bool:
    """Return whether the dates are of two happenings: "sown 28 May", "the contractor comes".

    The clauses have no subject in common, and the word before each date is not in the other text.
    """
    (mine, before), (theirs, before_other) = _dated(pair.a, date), _dated(pair.b, other)
    if mine is None or theirs is None or mine.subject & theirs.subject:
        return False
    is_told = before in pair.b.stems or before_other in pair.a.stems
    return bool(before and before_other) and not is_told


def _dated(statement: Statement, date: str) -> tuple[Claim | None, str]:
    """Return the claim that gives a date, and the stem of the word before it, "" for none."""
    for claim in statement.reading.claims:
        for term, following in pairwise(claim.terms):
            if following.kind == "date" and following.key == date:
                return claim, term.key if term.kind == "word" else ""
    return None, ""


def _each_has_its_days(pair: FactPair) -> bool:
    """Return whether one text says how much on some days, the other what is so on other days."""
    amounts = [any(claim.quantities for claim in fact.reading.claims) for fact in (pair.a, pair.b)]
    return amounts[0] != amounts[1] and _recurs(pair.a) and _recurs(pair.b)


def _recurs(statement: Statement) -> bool:
    """Return whether a text is about days of every week: "on Sundays"."""
    terms = (term for claim in statement.reading.claims for term in claim.terms)
    return any(
        term.kind == "date"
        and term.prep == "on"
        and dimension(term.key) == "weekday"
        and names_every_such_day(term.text)
        for term in terms
    )


def _tells_of_closing(pair: FactPair) -> bool:
    """Return whether a text says when something is closed: it may be closed on two days."""
    return not CLOSING.isdisjoint(pair.a.stems | pair.b.stems)


def _days(dates: set[str]) -> set[str]:
    """Return dates with the days of "weekdays" and "weekends" each."""
    return dates.union(*(_DAYS_OF.get(date, ()) for date in dates))


def _day(date: str) -> str:
    """Month and day of a date, the date itself when it names no day."""
    parts = date.lstrip("-").split("-")
    return "-".join(parts[-2:]) if len(parts) >= 2 else date


def _is_within(date: str, other: str) -> bool:
    """Return whether a year has the other date: "1975", "19 October 1975"."""
    short, long = sorted((date, other), key=len)
    return long.startswith(f"{short}-")
