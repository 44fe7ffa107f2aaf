"""Find the rows that may quote erased texts, by patterns that every such row contains."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from django.db.models import Model, Q


def may_quote(pieces: Collection[str], *columns: str) -> Q:
    """Match rows of which a column contains one of the pieces, in any case; "" matches every row.

    `pieces` are those of `pieces_of` in `erase.py`.
    """
    near = Q()
    for piece in pieces:
        for column in columns:
            near |= Q(**{f"{column}__iregex": piece}) if piece else Q(pk__isnull=False)
    return near


def delete_quoting(
    model: type[Model],
    columns: Sequence[str],
    quoted_in: Callable[[Any], bool],
    pieces: Collection[str],
) -> None:
    """Delete the rows of a model of which a column quotes an erased text."""
    near = model._default_manager.filter(may_quote(pieces, *columns)).order_by("pk")
    rows = near.only("pk", *columns).iterator()
    found = [row.pk for row in rows if quoted_in([getattr(row, name) for name in columns])]
    model._default_manager.filter(pk__in=found).delete()
