"""Refuse unknown and repeated query parameters."""

from __future__ import annotations

from itertools import islice
from typing import Any

from rest_framework import permissions
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

UNKNOWN_LISTED = 20  # of unknown names in an error


def refuse_unknown(view: Any, request: Request) -> None:
    """Refuse parameters that the view does not read, and repeated ones."""
    unknown = sorted(set(request.query_params) - names_read(view, request.method))
    if unknown:
        raise ValidationError(
            dict.fromkeys(islice(unknown, UNKNOWN_LISTED), "There is no such parameter.")
        )
    twice = [name for name, values in request.query_params.lists() if len(values) > 1]
    if twice:
        raise ValidationError(dict.fromkeys(twice, "Give it once."))


def names_read(view: Any, method: str | None) -> frozenset[str]:
    """Return the names of a view's parameters: its own, its filters' and its pagination's."""
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
