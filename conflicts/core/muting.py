"""When a rule, or a whole tier, is wrong so often that people may mute it."""

from __future__ import annotations

from typing import Final

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


def is_imprecise(confirmed: int, decided: int) -> bool:
    """Return whether the precision is below the level with its whole 95 % interval."""
    return decided >= MIN_DECIDED and wilson(confirmed, decided).high < PRECISION


def meaning_of(name: str) -> str:
    """Return in plain words what a rule or a tier finds."""
    return TIERS.get(name) or rule_of(name).meaning
