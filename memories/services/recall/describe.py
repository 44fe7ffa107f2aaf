"""Describe a recall for those who look back on it: what was asked, and the factors of each result.

The description is written with the record of the recall, by the same insert; the sweep that counts
the recall moves it to `PastRecall` and `PastResult` (`memories.services.recall.log`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

from engram.kernel.credentials import without_credentials
from engram.kernel.ids import next_id
from memories.core.content import content_hash
from memories.models import RecallOrigin
from memories.services.recall.query import AUTO, Query

DIGITS: Final = 4
# What is no figure: ids of other memories, and a text.
_LEFT_OUT: Final = frozenset({"neighbours", "nearest_question", "repeats"})


class Found(NamedTuple):
    """One returned memory; `explain` has every factor of its score."""

    memory_id: UUID
    score: float
    relevance: float
    explain: Mapping[str, Any]


def describe_recall(
    query: Query, found: Iterable[Found], *, origin: RecallOrigin = RecallOrigin.RECALL
) -> str:
    """Return what is kept of a recall as JSON; `found` is what it returned, best first."""
    text = without_credentials(query.text)[0]
    return json.dumps(
        {
            "id": str(next_id()),
            "origin": origin.value,
            "query": text,
            "hash": content_hash(text),
            "k": query.k,
            "asked": _asked(query),
            "caller": query.caller,
            "results": [
                [
                    str(one.memory_id), rank, _round(one.score), _round(one.relevance),
                    _factors(one.explain),
                ]
                for rank, one in enumerate(found, start=1)
            ],
        },
        separators=(",", ":"),
    )  # fmt: skip


def _asked(query: Query) -> dict[str, Any]:
    """Return what else was asked, without what is as by default."""
    found: dict[str, Any] = {
        "scope": without_credentials(query.scope)[0] if query.scope else "",
        "project": without_credentials(query.project)[0] if query.project else "",
        "kinds": list(query.kinds),
        "graph": query.uses_graph,
        "rerank": query.is_reranked,
        "as_of": None if query.as_of is None else query.as_of.isoformat(),
        "weights": dict(query.weights),
    }
    kept = {name: value for name, value in found.items() if value or value is False}
    return kept if query.min_score == AUTO else kept | {"min_score": query.min_score}


def _factors(explain: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: _round(value) for name, value in explain.items() if name not in _LEFT_OUT}
    return kept | {"repeats": explain.get("repeats") is not None}


def _round(value: Any) -> Any:
    return round(value, DIGITS) if isinstance(value, float) else value
