"""The last recalls that returned a memory, each with its factors and a link that asks it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.utils import timezone

from engram.console.memories.steps import Step, steps_of
from memories.models import Kind, Memory, PastRecall, PastResult, RecallOrigin
from memories.services.recall.past_recalls import asked_in, results_of

SHOWN: Final = 5
COUNTED: Final = 1_000  # more are not counted
LINKED_CHARS: Final = 2_000  # a longer query makes an address that servers refuse


@dataclass(frozen=True, slots=True)
class ShownRecall:
    """One recall; `query` is None where it is withheld, `again` "" where it cannot be linked."""

    row: PastResult
    query: str | None
    by: str
    session: UUID | None
    filters: Sequence[str]
    steps: Sequence[Step]
    again: str

    @property
    def is_context(self) -> bool:
        """Return whether it was the context of a task."""
        return self.row.recall.origin == RecallOrigin.CONTEXT


@dataclass(frozen=True, slots=True)
class LastRecalls:
    """The newest recalls that returned a memory, and how many are kept, at most `COUNTED`."""

    shown: Sequence[ShownRecall]
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
    shown = []
    for row in newest:
        about = asked[row.recall_id]
        shown.append(
            ShownRecall(
                row, about.query, about.by, about.session, list(_filters(row.recall.asked)),
                steps_of(row.factors, row.score), _again(row.recall, about.query, memory),
            )
        )  # fmt: skip
    return LastRecalls(shown, rows.order_by()[:COUNTED].count())


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


def _again(recall: PastRecall, query: str | None, memory: Memory) -> str:
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
        "expected": memory.pk,
    }
    return urlencode({name: value for name, value in fields.items() if value})
