"""Rate the severity of a conflict by the meaning of its statements, where no word in them tells.

A ridge regression on the mean of the statements' sentence vectors, fitted on pairs of statements
that people rated; `benchmarks/severity.py` fits it and measures it on pairs left out. Where a
constraint or a word of the lists of `severity.py` has decided, or where there are no vectors, or
those of another model, nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from conflicts.core.facts import Fact, Finding, Severity
from conflicts.core.severity import severity_by_words
from conflicts.core.weights import Floats, Weights

WEIGHTS_FILE: Final = Path(__file__).with_name("severity.npz")
LEAD: Final = 0.1  # of the score of "high" or "low" over the others: what is unclear is "medium"
LEVELS: Final[tuple[Severity, ...]] = ("low", "medium", "high")


def rate(facts: Sequence[Fact], vectors: Sequence[Floats], weights: Weights) -> Severity | None:
    """Return the severity of what some facts claim; None when nothing tells: no word, and no
    vector of one of them."""
    if (told := severity_by_words(facts)) is not None:
        return told
    vector = middle_of(vectors)
    if vector is None:
        return None
    scores = weights.scores(vector)
    second, first = np.sort(scores)[-2:]
    return "medium" if first < second + LEAD else LEVELS[int(scores.argmax())]


def middle_of(vectors: Sequence[Floats]) -> Floats | None:
    """Return the unit vector (dim,) in the middle of vectors; None when one of them is 0."""
    if not vectors or not all(np.any(vector) for vector in vectors):
        return None
    total = np.sum(np.asarray(vectors, dtype=np.float64), axis=0)
    length = float(np.linalg.norm(total))
    return total / length if length > 0 else None


def rate_findings(
    findings: Sequence[Finding], facts: Sequence[Fact], vectors: Floats, model: str
) -> list[Finding]:
    """Return findings with the severity that their facts' vectors (n, dim) of a model speak for.

    Unchanged for another model than that of the weights.
    """
    weights = _weights()
    if model != weights.model or not findings:
        return list(findings)
    at: Mapping[str, int] = {fact.id: row for row, fact in enumerate(facts)}
    return [_rated(finding, facts, vectors, at, weights) for finding in findings]


def _rated(
    finding: Finding,
    facts: Sequence[Fact],
    vectors: Floats,
    at: Mapping[str, int],
    weights: Weights,
) -> Finding:
    rows = [at[i] for i in finding.fact_ids]
    severity = rate([facts[row] for row in rows], [vectors[row] for row in rows], weights)
    return finding if severity is None else replace(finding, severity=severity)


@cache
def _weights() -> Weights:
    return Weights.load(WEIGHTS_FILE)
