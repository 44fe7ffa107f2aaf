"""The query of an address: a name that nothing reads is a mistake, whatever the method."""

from __future__ import annotations

from itertools import islice
from typing import Any

from rest_framework import permissions
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

UNKNOWN_TOLD = 20  # so many unknown names are listed


def refuse_unknown(view: Any, request: Request) -> None:
    """Refuse names that the view does not read, and names given twice: one value would be lost."""
    unknown = sorted(set(request.query_params) - names_read(view, request.method))
    if unknown:
        raise ValidationError(
            dict.fromkeys(islice(unknown, UNKNOWN_TOLD), "There is no such parameter.")
        )
    twice = [name for name, values in request.query_params.lists() if len(values) > 1]
    if twice:
        raise ValidationError(dict.fromkeys(twice, "Give it once."))


def names_read(view: Any, method: str | None) -> frozenset[str]:
    """Return the names that a view reads from the query: its own, its filters', its pages'."""
    if method not in permissions.SAFE_METHODS:
        return frozenset()
    names: set[str] = set()
    if view.query_shape is not None:
        names.update(view.query_shape().fields)
    if (filters := getattr(view, "filterset_class", None)) is not None:
        names.update(filters.base_filters)
    if (pages := getattr(view, "pagination_class", None)) is not None:
        names.update(pages.query_names)
    return frozenset(names)
