"""Find the rows that may quote erased texts, by patterns that every such row contains."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q


def may_quote(pieces: Collection[str], *columns: str) -> Q:
    """Match rows of which a column contains one of the pieces, in any case; "" matches every row.

    `pieces` are those of `pieces_of` in `erase.py`.
    """
    near = Q()
    for piece in pieces:
        for column in columns:
            near |= Q(**{f"{column}__iregex": piece}) if piece else Q(pk__isnull=False)
    return near
