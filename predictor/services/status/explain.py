"""Say in one sentence what a comparison of a session's two orders found, and what decided it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from uuid import UUID

from memories.core.shares import percent
from predictor.models import Comparison, ComparisonOutcome
from predictor.models.comparison import LEARNED
from predictor.services.status.records import SessionRecord
from predictor.services.status.unused import REASONS, UNKNOWN, tell_untrained

QUOTED = 90  # characters of a memory
HIGH, MIDDLE = 2 / 3, 1 / 3


def relevance_word(relevance: float) -> str:
    """Return a relevance in [0, 1] as a word: high, middle or low."""
    if relevance >= HIGH:
        return "high"
    return "middle" if relevance >= MIDDLE else "low"


def explain(record: SessionRecord, comparison: Comparison) -> str:
    """Return a sentence with both figures and the memory that made most of the difference."""
    if comparison.outcome == ComparisonOutcome.VOID:
        reason = tell_untrained(comparison.void_reason, record.session.no_opinion_reason)
        means, _ = REASONS.get(reason, UNKNOWN)
        return f"This session says nothing about the two orders: {means}."
    if comparison.outcome == ComparisonOutcome.TIE:
        return "Both orders are equally good for this session."
    is_won = comparison.outcome == ComparisonOutcome.WIN
    better, other = (LEARNED, "baseline") if is_won else ("baseline", LEARNED)
    figures = comparison.predictor_ndcg, comparison.baseline_ndcg
    of_better, of_other = figures if is_won else figures[::-1]
    margin = abs(comparison.margin or 0.0)
    said = f"The {better}’s order was better by {margin:.3f}"
    if of_better is not None and of_other is not None:
        said += f" ({of_better:.3f} against {of_other:.3f}, where 1 is the best order possible)"
    tops = comparison.predictor_top_ids, comparison.baseline_top_ids
    decided = _decisive(record, *(tops if is_won else tops[::-1]))
    if decided is None:
        return f"{said}."
    worth = f"relevance {percent(record.memories[decided].relevance or 0.0)}"
    first, second = (_place(decided, top) for top in (tops if is_won else tops[::-1]))
    return (
        f"{said}, mostly because it put {_quote(record, decided)} ({worth}) {first} and the"
        f" {other} {second}."
    )


def _decisive(record: SessionRecord, better: Sequence[UUID], other: Sequence[UUID]) -> UUID | None:
    """Return the memory whose places favour the better order most; None when none is known."""
    gains = {
        i: (record.memories[i].relevance or 0.0) * (_discount(i, better) - _discount(i, other))
        for i in dict.fromkeys([*better, *other])
        if i in record.memories
    }
    most = max(gains, key=lambda i: gains[i], default=None)
    return most if most is not None and gains[most] > 0 else None


def _discount(memory: UUID, order: Sequence[UUID]) -> float:
    return 1 / math.log2(order.index(memory) + 2) if memory in order else 0.0


def _place(memory: UUID, order: Sequence[UUID]) -> str:
    if memory in order:
        return f"at place {order.index(memory) + 1}"
    return "below its first ten" if order else "nowhere"


def _quote(record: SessionRecord, memory: UUID) -> str:
    content = record.memories[memory].content
    if content is None:
        return "a memory that is not shown any more"
    line = " ".join(content.split())
    return f"“{line if len(line) <= QUOTED else line[: QUOTED - 1] + '…'}”"
