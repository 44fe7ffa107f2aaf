"""Short titles of rules, tiers, finders and runs for pages; ids stay in addresses and the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# By id of a rule; `docs/rules.md` has the long meanings.
TITLES: Final[Mapping[str, str]] = {
    "reversal.state-returns": "A state came back",
    "reversal.value-returns": "A changed value is stated again",
    "stale.gone-then-used": "Builds on something that is gone",
    "stale.version-left": "Names a version that was left",
    "ambiguity.number": "Different numbers",
    "ambiguity.version": "Different versions",
    "ambiguity.date": "Different dates",
    "ambiguity.time": "Different times of day",
    "ambiguity.label": "Different numbers or letters as names",
    "ambiguity.choice": "Different things of one kind",
    "ambiguity.denial": "One rules out what the other names",
    "ambiguity.direction": "Opposite directions",
    "ambiguity.roles": "Who does it and to whom, swapped",
    "ambiguity.opposites": "Opposite words",
    "ambiguity.negation": "One negates the other",
    "ambiguity.one-at-a-time": "Two, where only one can hold",
    "ambiguity.restricted": "One restricts what the other says of all",
    "ambiguity.pairing": "The same things, paired the other way round",
    "ambiguity.order": "Opposite orders of two steps",
    "ambiguity.moved-away": "One says that it moved elsewhere",
    "ambiguity.owner": "Different owners or deciders",
    "ambiguity.other-words.number": "Different numbers, in other words",
    "ambiguity.other-words.time": "Different times of day, in other words",
    "ambiguity.other-words.date": "Different dates, in other words",
    "ambiguity.other-words.day-of-month": "Different days of the month",
    "ambiguity.other-words.person": "Different people for one task",
    "ambiguity.other-words.precedence": "Different sources said to win",
    "ambiguity.other-words.name": "Different tools, places or sources",
    "ambiguity.other-words.way": "Two ways that exclude each other",
    "ambiguity.other-words.choice": "Different things of one kind, in other words",
    "ambiguity.other-words.opposites": "Opposite words, in other sentences",
    "ambiguity.other-words.negation": "One denies the other, in other words",
    "reversal.answer-returns": "A changed answer is given again",
    "ambiguity.two-answers": "Two answers to one question",
    "ambiguity.answer-denied": "Builds on what an answer denied",
    "stale.answer-gone": "An answer names something that is gone",
    "report.person": "Reported by a person",
    "report.agent": "Reported by an agent",
    "report.correction": "A correction that was sent in",
    "relation.person": "Related by a person",
    "relation.agent": "Judged by an agent",
    "model.reversal": "The language model: an old value returns",
    "model.ambiguity": "The language model: two answers",
    "model.stale": "The language model: an old statement ended",
    "unknown": "From before rules were recorded",
}
# Tiers that people may mute as a whole, and who finds; what a run of the detective read for.
OTHERS: Final[Mapping[str, str]] = {
    "rules": "Rules",
    "narrative": "Language model",
    "agent": "Agents",
    "person": "People",
    "reversal": "Reversal",
    "ambiguity": "Ambiguity",
    "stale": "Stale",
    "commit": "New memories",
    "answers": "Answers for the language model",
}


def title_of(name: str) -> str:
    """Return the title of a rule, a tier, a finder or a kind; for another name the name."""
    return TITLES.get(name) or OTHERS.get(name, name)
