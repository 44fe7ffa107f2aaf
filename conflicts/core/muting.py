"""When a rule, or a whole tier, is wrong so often that people may mute it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from conflicts.core.rules.registry import RULES, rule_of
from conflicts.core.rules.reported import MODEL
from conflicts.core.rules.reported import RULES as REPORTED
from memories.core.metrics import wilson

# Verdicts since the start, or since people last said that it is to go on.
MIN_DECIDED: Final = 30
PRECISION: Final = 0.5
TIERS: Final = {
    "rules": "Everything that the rules find.",
    "narrative": "Everything that the language model finds.",
}
_OF_CALLERS: Final = {rule.id for rule in REPORTED} - {rule.id for rule in MODEL.values()}
# What people and agents report is never muted: agents are weighed by their record.
MUTEABLE: Final = frozenset({rule.id for rule in RULES} - _OF_CALLERS | TIERS.keys())


class Tally(NamedTuple):
    """Equal verdicts on cards that the same rules and tiers found.

    `spared` are the rules and tiers that people let go on after these verdicts.
    """

    rules: frozenset[str]
    tiers: frozenset[str]
    spared: frozenset[str]
    is_confirmed: bool
    n: int


class Counted(NamedTuple):
    """How many verdicts on what a rule or a tier found confirmed it, of how many.

    `is_of_one_rule`: half of them or more are about one rule of the tier.
    """

    confirmed: int
    decided: int
    is_of_one_rule: bool = False


def count_rule(rule: str, tallies: Iterable[Tally]) -> Counted:
    """Count the verdicts on cards of a rule since people last let it go on."""
    own = [one for one in tallies if rule in one.rules and rule not in one.spared]
    return Counted(*_add_up(own))


def count_tier(tier: str, tallies: Iterable[Tally], aside: Collection[str]) -> Counted:
    """Count the verdicts on cards of a tier's rules but for those `aside`: muted or proposed.

    Verdicts on a rule that people let go on later count for its tier no more than for the rule.
    """
    own = []
    by_rule: Counter[str] = Counter()
    for one in tallies:
        rules = one.rules & MUTEABLE
        is_of_others = rules and not rules & one.spared and rules.isdisjoint(aside)
        if tier in one.tiers and tier not in one.spared and is_of_others:
            own.append(one)
            by_rule.update(dict.fromkeys(rules, one.n))
    confirmed, decided = _add_up(own)
    return Counted(confirmed, decided, 2 * max(by_rule.values(), default=0) >= decided)


def _add_up(tallies: Collection[Tally]) -> tuple[int, int]:
    return sum(one.n for one in tallies if one.is_confirmed), sum(one.n for one in tallies)


def is_imprecise(counted: Counted) -> bool:
    """Return whether the precision is below the level with its whole 95 % interval.

    A tier is not, where a single rule may be what is wrong.
    """
    confirmed, decided, is_of_one_rule = counted
    enough = decided >= MIN_DECIDED and not is_of_one_rule
    return enough and wilson(confirmed, decided).high < PRECISION


def meaning_of(name: str) -> str:
    """Return in plain words what a rule or a tier finds."""
    return TIERS.get(name) or rule_of(name).meaning
