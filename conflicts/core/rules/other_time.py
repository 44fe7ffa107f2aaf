"""Two texts in other words give different hours of one thing."""

from __future__ import annotations

from typing import Final

from conflicts.core.apart import is_observed
from conflicts.core.dates import dates_of, explain_dates
from conflicts.core.opposites import opposite_words
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from conflicts.core.stated_values import dated_text, stated_dates
from conflicts.core.statements import Statement
from memories.core.dates import agree
from memories.core.one_more import is_one_more

RULE: Final = Rule(
    id="ambiguity.other-words.time",
    meaning="Two statements, often worded differently, give different hours.",
    module=__name__,
    example=(
        "The bakery's doors open at 6:30 for customers.",
        "Customers can enter the bakery from 7:15.",
    ),
)
MIN_COSINE: Final = 0.70
STRENGTH: Final = 0.70


def find(pair: FactPair) -> Clash | None:
    """Compare the only hour that each text gives, of the same side of what goes on."""
    if pair.cosine < MIN_COSINE or is_observed(pair.a, pair.b):
        return None
    mine, theirs = stated_dates(pair.a, "clock"), stated_dates(pair.b, "clock")
    if len(mine) != 1 or len(theirs) != 1:
        return None
    is_other = opposite_words(pair.a, pair.b) or _is_of_other_day(pair.a, pair.b)
    if is_other or is_one_more(dated_text(pair.a), dated_text(pair.b)):
        return None
    left, right = min(mine), min(theirs)
    if left.endswith("z") != right.endswith("z") or agree(left, right):
        return None
    return pair.clash(RULE, explain_dates(pair.a, left, pair.b, right), strength=STRENGTH)


def _is_of_other_day(a: Statement, b: Statement) -> bool:
    """Return whether only one text limits the hour to a day, or each to another."""
    return any(dates_of(a, dimension) != dates_of(b, dimension) for dimension in ("weekday", "day"))
