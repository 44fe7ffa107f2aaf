"""All rules in the order in which they run, and those of findings that others report.

`detective.py` runs the rules over stories first, then per pair `gone_then_used`, `one_sentence` and
`OTHER_WORDS`, until one finds something; last the rules over what writers say that facts answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conflicts.core.rules import (
    answer_denied,
    answer_gone,
    answer_returns,
    gone_then_used,
    one_sentence,
    other_choice,
    other_date,
    other_day_of_month,
    other_name,
    other_number,
    other_person,
    other_polarity,
    other_precedence,
    other_side,
    other_time,
    other_way,
    reported,
    state_returns,
    two_answers,
    value_returns,
    version_left,
)
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule

# The first that finds something decides.
_OTHER_WORDS: Final = (
    other_number,
    other_time,
    other_date,
    other_day_of_month,
    other_person,
    other_precedence,
    other_name,
    other_way,
    other_choice,
    other_side,
    other_polarity,
)
OTHER_WORDS: Final[tuple[Callable[[FactPair], Clash | None], ...]] = tuple(
    rule.find for rule in _OTHER_WORDS
)
# Those whose values may be names; the others do not compare texts with names of their own.
NAMES_DIFFER: Final = tuple(
    rule.find for rule in (other_person, other_precedence, other_name, other_choice)
)
RULES: Final[tuple[Rule, ...]] = (
    state_returns.RULE,
    value_returns.RULE,
    gone_then_used.RULE,
    version_left.RULE,
    *one_sentence.RULES.values(),
    *(rule.RULE for rule in _OTHER_WORDS),
    answer_returns.RULE,
    two_answers.RULE,
    answer_denied.RULE,
    answer_gone.RULE,
    *reported.RULES,
)
BY_ANSWERS: Final = frozenset(
    rule.RULE.id for rule in (answer_returns, two_answers, answer_denied, answer_gone)
)
_BY_ID: Final = {rule.id: rule for rule in RULES}


def rule_of(rule_id: str) -> Rule:
    """Return the rule of an id; a placeholder for an id that this version no longer has."""
    return _BY_ID.get(rule_id) or Rule(rule_id, "A rule that this version no longer has.", "")
