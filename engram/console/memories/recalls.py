"""Past recalls with their factors and a link that asks them again: those of a memory, and one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from django.utils import timezone

from engram.console.memories.steps import Step, steps_of
from memories.models import Kind, Memory, PastRecall, PastResult, RecallOrigin
from memories.services.recall.past_recalls import Asked, asked_in, results_of, returned_by

SHOWN: Final = 5
COUNTED: Final = 1_000  # more are not counted
LINKED_CHARS: Final = 2_000  # a longer query makes an address that servers refuse


@dataclass(frozen=True, slots=True)
class ShownRecall:
    """One recall; `again` is "" where it cannot be asked again by a link."""

    row: PastRecall
    asked: Asked
    filters: Sequence[str]
    again: str

    @property
    def is_context(self) -> bool:
        """Return whether it was the context of a task."""
        return self.row.origin == RecallOrigin.CONTEXT


@dataclass(frozen=True, slots=True)
class ShownResult:
    """One memory that a recall returned, with the steps to its score at that time."""

    row: PastResult
    steps: Sequence[Step]
    recall: ShownRecall


@dataclass(frozen=True, slots=True)
class LastRecalls:
    """The newest recalls that returned a memory, and how many are kept, at most `COUNTED`."""

    shown: Sequence[ShownResult]
    kept: int

    @property
    def more(self) -> bool:
        """Return whether more are kept than are shown."""
        return self.kept > len(self.shown)


def last_recalls(memory: Memory, until: datetime | None = None) -> LastRecalls:
    """Return the newest recalls, until a time if one is given, that returned a memory."""
    rows = results_of(memory)
    if until is not None:
        rows = rows.filter(at__lte=until)
    newest = list(rows[:SHOWN])
    asked = asked_in(row.recall for row in newest)
    shown = [
        _result(row, _recall(row.recall, asked[row.recall_id], expected=memory)) for row in newest
    ]
    return LastRecalls(shown, rows.order_by()[:COUNTED].count())


def results_in(recall: PastRecall) -> tuple[ShownRecall, Sequence[ShownResult]]:
    """Return a past recall, and what it returned that is not erased since, best first."""
    shown = _recall(recall, asked_in([recall])[recall.pk])
    return shown, [_result(row, shown) for row in returned_by(recall)]


def _recall(recall: PastRecall, asked: Asked, expected: Memory | None = None) -> ShownRecall:
    again = _again(recall, asked.query, expected)
    return ShownRecall(recall, asked, list(_filters(recall.asked)), again)


def _result(row: PastResult, recall: ShownRecall) -> ShownResult:
    return ShownResult(row, steps_of(row.factors, row.score), recall)


def _filters(asked: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words what a recall asked for besides its query."""
    for name in ("scope", "project"):
        if asked.get(name):
            yield f"{name} {asked[name]}"
    for kind in asked.get("kinds", ()):
        yield str(Kind(kind).label) if kind in Kind.values else kind
    if "min_score" in asked:
        least = asked["min_score"]
        yield "no least score" if least is None else f"score from {least:g}"
    for name, words in (("graph", "links"), ("rerank", "the closer look")):
        if name in asked:
            yield f"{'with' if asked[name] else 'without'} {words}"
    if asked.get("as_of"):
        yield f"as of {_day(asked['as_of'])}"
    if asked.get("weights"):
        yield "own weights of trust"


def _day(moment: str) -> str:
    return timezone.localtime(datetime.fromisoformat(moment)).date().isoformat()


def _again(recall: PastRecall, query: str | None, expected: Memory | None) -> str:
    """Return the parameters that ask it again on the page that tries recalls."""
    if query is None or len(query) > LINKED_CHARS:
        return ""
    asked, switch = recall.asked, {True: "yes", False: "no"}
    kinds = asked.get("kinds", [])
    fields = {
        "query": query,
        "k": recall.k,
        "scope": asked.get("scope"),
        "project": asked.get("project"),
        "kind": kinds[0] if len(kinds) == 1 else "",
        "cut": "all" if "min_score" in asked else "",
        "graph": switch.get(asked.get("graph"), ""),
        "rerank": switch.get(asked.get("rerank"), ""),
        "as_of": _day(asked["as_of"]) if asked.get("as_of") else "",
        "expected": expected.pk if expected else "",
    }
    return urlencode({name: value for name, value in fields.items() if value})
