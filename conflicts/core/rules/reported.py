"""Rules of findings that others than detection report: people, agents and a language model."""

from __future__ import annotations

from typing import Final

from conflicts.core.facts import FindingKind
from conflicts.core.rules.rule import Rule

_REPORTS: Final = "conflicts.services.reports.report"
_RELATIONS: Final = "conflicts.services.reports.judge"
_MODEL: Final = "conflicts.core.narrative"

PERSON_REPORTS: Final = Rule(
    "report.person", "A person reported that these memories contradict each other.", _REPORTS
)
AGENT_REPORTS: Final = Rule(
    "report.agent", "An agent reported that these memories contradict each other.", _REPORTS
)
CORRECTION: Final = Rule(
    "report.correction", "Somebody said that a memory is wrong, and what is right.", _REPORTS
)
PERSON_RELATES: Final = Rule(
    "relation.person", "A person related two memories to each other: they contradict.", _RELATIONS
)
AGENT_RELATES: Final = Rule(
    "relation.agent",
    "An agent was shown two memories and answered that they contradict each other.",
    _RELATIONS,
)
MODEL: Final[dict[FindingKind, Rule]] = {
    "reversal": Rule(
        "model.reversal",
        "A language model read that a changed value is stated later as if it had always held.",
        _MODEL,
    ),
    "ambiguity": Rule(
        "model.ambiguity",
        "A language model read two answers to one question, and nothing says which one holds.",
        _MODEL,
    ),
    "stale": Rule(
        "model.stale",
        "A language model read that a later statement ends what an old one says.",
        _MODEL,
    ),
}
UNKNOWN: Final = Rule(
    "unknown", "The card is from before cards named their rule.", "conflicts.models.card"
)

BY_AGENTS: Final = frozenset({AGENT_REPORTS.id, AGENT_RELATES.id})
RULES: Final = (
    PERSON_REPORTS,
    AGENT_REPORTS,
    CORRECTION,
    PERSON_RELATES,
    AGENT_RELATES,
    *MODEL.values(),
    UNKNOWN,
)
