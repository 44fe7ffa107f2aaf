"""Stories of a few statements, and the rules that find something in them."""

from __future__ import annotations

from conflicts.core.detective import detect
from tests.conflicts.test_core_detective import NOW, similar, story


def rules_of(*contents: str, cosine: float = 0.7) -> list[tuple[str, ...]]:
    """Return the rules of each finding in a story, oldest statement first."""
    facts = story(*contents)
    return [finding.rules for finding in detect(facts, similar(facts, cosine), now=NOW)]
