"""Read rows without ORDER BY in any order, as PostgreSQL may give them.

It reads them in the order of free space in the table: as they were written at first, so that what
relies on it passes, and otherwise once rows were deleted before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from django.db.models.query import QuerySet


def _has_no_order(rows: QuerySet[Any]) -> bool:
    return not rows.ordered and not rows.query.is_sliced


def shuffle_unordered_rows(monkeypatch: pytest.MonkeyPatch, seed: str) -> None:
    """Shuffle what querysets without an order read; the same seed, the same order."""
    random = Random(seed)
    fetch: Callable[[QuerySet[Any]], None] = QuerySet._fetch_all  # type: ignore[attr-defined]
    iterate = QuerySet.iterator

    def fetch_all(self: QuerySet[Any]) -> None:
        is_read = self._result_cache is not None
        fetch(self)
        if not is_read and _has_no_order(self):
            random.shuffle(self._result_cache)

    def iterator(self: QuerySet[Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
        rows = iterate(self, *args, **kwargs)
        if _has_no_order(self):
            shuffled = list(rows)
            random.shuffle(shuffled)
            return iter(shuffled)
        return rows

    monkeypatch.setattr(QuerySet, "_fetch_all", fetch_all)
    monkeypatch.setattr(QuerySet, "iterator", iterator)
