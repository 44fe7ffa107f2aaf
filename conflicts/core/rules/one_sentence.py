"""Two texts with one sentence shape contradict each other, by one rule per kind.

The modules of `memories/core/contradictions/` decide, for the gate and for detection; this module
checks whether the two are close enough to ask a person.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from conflicts.core.absence import absent_stems
from conflicts.core.conditions import are_parted
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from conflicts.core.statements import Statement
from memories.core.claims import Contradiction
from memories.core.contradictions import (
    denial,
    exchange,
    moved_away,
    negation,
    one_at_a_time,
    opposites,
    order,
    owner,
    pairing,
    restricted,
    value,
)

MIN_CONFIDENCE: Final = 0.5
PLAIN_CONFIDENCE: Final = 0.6
PLAIN_COSINE: Final = 0.60
SURE_CONFIDENCE: Final = 0.85  # all else agrees, however few words it is
SURE_COSINE: Final = 0.70
MIN_WEIGHT: Final = 3.0
MAX_STRENGTH: Final = 0.95


def _rule(way: Contradiction, decides: ModuleType, meaning: str, *example: str) -> Rule:
    return Rule(f"ambiguity.{way}", meaning, decides.__name__, example)


RULES: Final[dict[Contradiction, Rule]] = {
    "number": _rule(
        "number",
        value,
        "Two statements with the same wording otherwise give different numbers or amounts.",
        "The public API allows 1,000 requests per minute.",
        "The public API allows 5,000 requests per minute.",
    ),
    "version": _rule(
        "version",
        value,
        "Two statements with the same wording otherwise name different versions of one thing.",
        "The billing service runs on PostgreSQL 15.",
        "The billing service runs on PostgreSQL 17.",
    ),
    "date": _rule(
        "date",
        value,
        "Two statements with the same wording otherwise give different dates or weekdays.",
        "The audit begins on 3 March.",
        "The audit begins on 17 March.",
    ),
    "time": _rule(
        "time",
        value,
        "Two statements with the same wording otherwise give different times of day.",
        "The sales board is refreshed at 06:00 UTC.",
        "The sales board is refreshed at 07:00 UTC.",
    ),
    "label": _rule(
        "label",
        value,
        "Two statements with the same wording name things by different numbers or letters.",
        "The spare keys are in room 4.",
        "The spare keys are in room 7.",
    ),
    "choice": _rule(
        "choice",
        value,
        "Two statements with the same wording name two things of one kind: two databases.",
        "The door of the depot is red.",
        "The door of the depot is green.",
    ),
    "denial": _rule(
        "denial",
        denial,
        "One statement names what the other rules out: in S3, not in S3.",
        "Invoices are archived in S3.",
        "Invoices are archived, but not in S3.",
    ),
    "direction": _rule(
        "direction",
        exchange,
        "Two statements with the same wording go in opposite directions: from A to B, from B to A.",
        "Orders are copied from the shop to the warehouse.",
        "Orders are copied from the warehouse to the shop.",
    ),
    "roles": _rule(
        "roles",
        exchange,
        "Two statements swap who does something and who it is done to: A calls B, B calls A.",
        "The billing service calls the mail service.",
        "The mail service calls the billing service.",
    ),
    "opposites": _rule(
        "opposites",
        opposites,
        "Two statements with the same wording otherwise use opposite words: enabled and disabled.",
        "The zebra flag is enabled in production.",
        "The zebra flag is disabled in production.",
    ),
    "negation": _rule(
        "negation",
        negation,
        "One statement says what the other negates.",
        "The nightly export contains addresses.",
        "The nightly export does not contain addresses.",
    ),
    "one-at-a-time": _rule(
        "one-at-a-time",
        one_at_a_time,
        "Two statements name different things where only one can hold at a time.",
        "The default branch is main.",
        "The default branch is trunk.",
    ),
    "moved-away": _rule(
        "moved-away",
        moved_away,
        "A trusted statement names a place; a less trusted one says that it moved elsewhere.",
        "Ana lives in Madrid.",
        "Ana moved to Lisbon.",
    ),
    "owner": _rule(
        "owner",
        owner,
        "Two statements name different people or teams as the one who owns, decides or pays.",
        "The platform team owns the ingress.",
        "The network team owns the ingress.",
    ),
    "restricted": _rule(
        "restricted",
        restricted,
        "One statement says of all what the other one restricts to a few.",
        "Only admins can delete projects.",
        "Anyone can delete projects.",
    ),
    "pairing": _rule(
        "pairing",
        pairing,
        "Two statements pair the same things the other way round.",
        "The hall is heated by gas and the shop by wood.",
        "The hall is heated by wood and the shop by gas.",
    ),
    "order": _rule(
        "order",
        order,
        "Two statements put the same steps in opposite order.",
        "The fee is paid before the placement test.",
        "The placement test comes first, and the fee is paid afterwards.",
    ),
}


def find(pair: FactPair) -> Clash | None:
    """Weigh what claim comparison says, which reads both texts as statements of one frame."""
    found, way = pair.comparison, pair.comparison.contradiction
    if way is None or found.confidence < MIN_CONFIDENCE:
        return None
    if way == "negation" and are_parted(pair.a, pair.b):
        return None
    if way == "denial" and absent_stems(pair.a) & absent_stems(pair.b):
        return None  # the other denies it, too: "excludes VAT" and "is without VAT"
    if _is_plain(pair.a) and _is_plain(pair.b):
        is_near = pair.cosine >= PLAIN_COSINE and found.confidence >= PLAIN_CONFIDENCE
        if is_near or found.confidence >= SURE_CONFIDENCE:
            return _clash(pair, way)
    if pair.shared < MIN_WEIGHT and pair.cosine < SURE_COSINE:
        return None
    return _clash(pair, way)


def _clash(pair: FactPair, way: Contradiction) -> Clash:
    found = pair.comparison
    strength = min(MAX_STRENGTH, found.confidence)
    return pair.clash(RULES[way], *found.reasons, strength=strength)


def _is_plain(statement: Statement) -> bool:
    """Return whether a text makes one claim and denies no word beside it."""
    found = statement.reading.claims
    return len(found) == 1 and not any(term.is_denied for term in found[0].terms)
