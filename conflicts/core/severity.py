"""Rate the severity of a conflict, which only sorts the cards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from conflicts.core.facts import Fact, Severity

_GRAVE: Final = re.compile(
    r"\b(?:prod(?:uction)?|secret|password|credential|token|security|mfa|backup|restore|encrypt\w*|"
    r"delet\w+|wip(?:e|es|ed)|medic\w+|dose|dosage|allerg\w+|diagnos\w+|blood|surgery|legal|contract|"
    r"liabilit\w+|gdpr|privacy|tax|payment|invoice|refund|salary|deadline|safety|emergency|incident|"
    r"sev[ -]?1|outage)\b",
    re.IGNORECASE,
)


def severity_of(facts: Sequence[Fact]) -> Severity:
    """Return "high" where people, money, data or a constraint are at stake, else "medium".

    Claims that only machines derived, none of them grave, are "low".
    """
    if any(fact.kind == "constraint" or _GRAVE.search(fact.content) for fact in facts):
        return "high"
    if all(fact.provenance == "assistant_derived" for fact in facts):
        return "low"
    return "medium"
