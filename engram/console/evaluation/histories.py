"""Evaluate the detective on status histories of real documents: `--histories FILE`.

All documents are in one workspace. Each value becomes a memory ("EIP-3 has status Deferred"), in
time order; the detective reads them all. A document *returns* when a value occurs again after
another one; it is *flagged* when a card has two or more of its memories.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import AwareDatetime, Field

from engram.console.evaluation.lines import InputRow, read_rows, refuse_repeated_ids
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.evaluation.stories import cards
from engram.console.scratch import commit_rows, scratch_workspace
from memories.core.metrics import wilson
from memories.services.commit.draft import Draft

COMMITTED_AT_ONCE = 200


class ValueRow(InputRow):
    """A value of a document's field, and when it was set."""

    time: AwareDatetime
    value: str = Field(min_length=1)


class HistoryRow(InputRow):
    """A document with the values of one field, in order."""

    id: str = Field(min_length=1)
    field: str = "status"
    history: tuple[ValueRow, ...] = Field(min_length=1)

    @property
    def is_returning(self) -> bool:
        """Return whether a value occurs again after another one."""
        values = [value for value, _ in groupby(entry.value for entry in self.history)]
        return len(set(values)) < len(values)

    def moments(self) -> Iterator[tuple[datetime, str]]:
        """Yield each statement with its time; times within a document never decrease."""
        last: datetime | None = None
        for entry in self.history:
            at = entry.time
            if last is not None and at <= last:  # a commit that was rebased
                at = last + timedelta(seconds=1)
            last = at
            yield at, f"{self.id} has {self.field} {entry.value}"


def run(path: Path, *, seed: int, advance: Callable[[int], object]) -> ModeResult:
    """Commit all values of all documents, run the detective, and score what it flags.

    Nothing is drawn at random: `seed` is there because every mode takes one.
    """
    rows = read(path)
    statements = sorted(
        ((at, row.id, text) for row in rows for at, text in row.moments()), key=lambda t: t[0]
    )
    now = statements[-1][0] + timedelta(days=1)
    documents: dict[UUID, list[str]] = defaultdict(list)
    outcomes: Counter[str] = Counter()
    with scratch_workspace() as workspace:
        for start in range(0, len(statements), COMMITTED_AT_ONCE):
            batch = statements[start : start + COMMITTED_AT_ONCE]
            drafts = [Draft(content=text, observed_at=at) for at, _, text in batch]
            results = commit_rows(workspace, drafts, now=now)
            for (_, document, _), result in zip(batch, results, strict=True):
                outcomes[result.outcome if result else "refused"] += 1
                if result and result.memory:
                    documents[result.memory.id].append(document)
            advance(len(batch))
        found = cards(workspace, {i: tuple(set(names)) for i, names in documents.items()}, now=now)
    kinds: dict[str, set[str]] = defaultdict(set)
    for card in found:
        for document, count in Counter(card["fact_ids"]).items():
            if count >= 2:
                kinds[document].add(card["kind"])
    predictions = [
        {
            "id": row.id,
            "returns": row.is_returning,
            "flagged": row.id in kinds,
            "kinds": sorted(kinds.get(row.id, ())),
        }
        for row in rows
    ]
    details = {"statements": len(statements), "commits": dict(outcomes), "cards": len(found)}
    return score(predictions, details)


def read(path: Path) -> list[HistoryRow]:
    """Read the histories."""
    rows = read_rows(path, HistoryRow)
    refuse_repeated_ids(path, [row.id for row in rows])
    return rows


def size(path: Path) -> int:
    """Return the number of steps of `run`."""
    return sum(len(row.history) for row in read(path))


def score(predictions: Sequence[Mapping[str, Any]], details: Mapping[str, Any]) -> ModeResult:
    """Return the shares of returning and of other documents that are flagged (Wilson intervals)."""
    returning = [bool(row["flagged"]) for row in predictions if row["returns"]]
    others = [bool(row["flagged"]) for row in predictions if not row["returns"]]
    figures = {
        "returning_flagged": Figure(wilson(sum(returning), len(returning))),
        "others_flagged": Figure(wilson(sum(others), len(others)), is_lower_better=True),
    }
    counts = {
        "documents": len(predictions),
        "returning": f"{sum(returning)} of {len(returning)} flagged",
        "others": f"{sum(others)} of {len(others)} flagged",
    }
    return ModeResult("histories", figures, predictions, counts | dict(details))
