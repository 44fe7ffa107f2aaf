"""The factors of a score as bars: what `explain` says, in the order of the formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memories.core.shares import percent
from memories.models import SessionCandidate

FULL = 100  # the width of a bar


@dataclass(frozen=True, slots=True)
class Bar:
    """One factor: its name, its value from 0 to 1, and what it says."""

    name: str
    value: float
    says: str

    @property
    def width(self) -> float:
        """Return the width of the bar."""
        return round(FULL * min(1.0, max(0.0, self.value)), 1)


def bars_of(explain: Mapping[str, Any]) -> list[Bar]:
    """Return the bars of a recalled memory's `explain` (`memories.core.fusion`).

    Parts of the match first, then the factors that multiply it.
    """
    weight = float(explain["text_weight"])
    late, late_weight = explain["late"], float(explain["late_weight"])
    first = 1 - late_weight if late is not None else 1.0
    found = [
        _part("Words", explain["text"], first * weight, _placed(explain["text_rank"], "by words")),
        _part(
            "Meaning", explain["vector"], first * (1 - weight),
            _placed(explain["vector_rank"], "by meaning"),
        ),
    ]  # fmt: skip
    if late is not None:
        found.append(_part("Token by token", late, late_weight, "the second, closer look"))
    if explain["question"]:
        found.append(
            _part("Its question", explain["question"], explain["question_weight"],
                  "a question that it answers, instead of its own text if that fits better")
        )  # fmt: skip
    if explain["context"]:
        found.append(Bar("Turns around it", float(explain["context"]), "in the same session"))
    if explain["session"] and explain["session_weight"]:
        found.append(_part("Session", explain["session"], explain["session_weight"], "its best"))
    if explain.get("graph_activation"):
        found.append(Bar("Links", float(explain["graph_activation"]), "walked from what was found"))
    found.append(Bar("Match", float(explain["fused"]), "all of the above together"))
    return found + _multipliers(explain)


def _multipliers(explain: Mapping[str, Any]) -> list[Bar]:
    trust = float(explain["provenance_weight"]) * float(explain["weight_factor"])
    repeats = explain.get("repeats")
    return [
        Bar("× Trust", trust, "in who said it, and what the janitor left of it"),
        Bar("× Confidence", float(explain["confidence_term"]), "of its writer"),
        Bar("× Freshness", float(explain["freshness"]), "falls with age, to 0.85"),
        Bar(
            "× Diversity", float(explain["diversity"]),
            "lowered: it repeats a better one" if repeats else "it repeats none of the better ones",
        ),
    ]  # fmt: skip


def _part(name: str, value: float | None, weight: float, says: str) -> Bar:
    told = f"counts for {percent(weight)}" + (f", {says}" if says else "")
    return Bar(name, float(value or 0.0), told)


def _placed(rank: int | None, how: str) -> str:
    return f"place {rank} {how}" if rank else ""


def bars_of_candidate(row: SessionCandidate) -> list[Bar]:
    """Return the bars of a memory's record in a session; what was not scored has none."""
    values = (
        ("Meaning", row.cosine, "cosine to the session's context"),
        ("Recall", row.recall_score, "score of a recall of the context"),
        ("Relevance", row.relevance, "probability that it is of use"),
        ("× Diversity", row.diversity, "1: it repeats none of the better ones"),
    )
    return [Bar(name, value, says) for name, value, says in values if value is not None]
