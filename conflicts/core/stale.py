"""Build the finding of an old claim that a later fact ends."""

from __future__ import annotations

from conflicts.core.facts import Fact, Finding
from conflicts.core.questions import ask_stale
from conflicts.core.severity import severity_of


def make_stale(
    old: Fact, ending: Fact, *, reasoning: str, confidence: float, rule_id: str
) -> Finding:
    """Return the finding that ``old``, before or after the end, may not hold; yes keeps it."""
    return Finding(
        kind="stale",
        fact_ids=tuple(fact.id for fact in sorted((old, ending), key=lambda f: f.observed_at)),
        yes_keeps=(old.id,),
        question=ask_stale(old.content, ending.content),
        reasoning=reasoning,
        severity=severity_of([old, ending]),
        confidence=confidence,
        suggestion="no",
        rules=(rule_id,),
    )
