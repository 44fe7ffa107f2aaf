"""Rate drift for `memories`: `settings.ENGRAM_DRIFT_RATER` names `rate_drift`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conflicts.core.drift_severity import rate_change
from conflicts.core.facts import Fact, Finding, Severity
from conflicts.core.severity import severity_of
from conflicts.core.severity_by_meaning import rate_findings
from conflicts.core.weights import Floats
from engram.kernel.embedding import EmbeddingUnavailableError, embed
from memories.core.drift.passages import without_links
from memories.services.drift.severity import DriftFacts


def rate_drift(found: Sequence[DriftFacts], model: str) -> list[Severity]:
    """Return the severity of each drift, in order; `model` embeds the texts, all at once.

    Without vectors the words of the texts alone are rated.
    """
    pairs = [_facts_of(number, one) for number, one in enumerate(found)]
    facts = [fact for pair in pairs for fact in pair]
    abouts = [_finding(pair) for pair in pairs]
    if (vectors := _embed(facts, model)) is not None:
        abouts = rate_findings(abouts, facts, vectors, model)
    return [
        rate_change(pair[0], one.after, about.severity, is_pinned=one.is_pinned)
        for one, pair, about in zip(found, pairs, abouts, strict=True)
    ]


def _facts_of(number: int, one: DriftFacts) -> list[Fact]:
    """Return the memory, and what the note says in its place, as the detective reads facts."""
    text = without_links(one.content) or one.content
    said = [(text, one.kind)] + ([(one.after, "semantic")] if one.after else [])
    return [
        Fact(
            id=f"{number}.{place}", lineage=f"{number}.{place}", content=content, scope="",
            project="", agent="", session_key="", observed_at=one.observed_at, provenance="",
            kind=kind,
        )
        for place, (content, kind) in enumerate(said)
    ]  # fmt: skip


def _finding(facts: Sequence[Fact]) -> Finding:
    ids = tuple(fact.id for fact in facts)
    return Finding(
        kind="stale", fact_ids=ids, yes_keeps=ids[:1], question="", reasoning="",
        severity=severity_of(facts), confidence=1.0, suggestion=None, rules=(),
    )  # fmt: skip


def _embed(facts: Sequence[Fact], model: str) -> Floats | None:
    """Return the vectors of facts (n, dim); None while texts cannot be embedded."""
    try:
        return np.asarray(embed([fact.content for fact in facts], model), dtype=np.float64)
    except EmbeddingUnavailableError:
        return None
