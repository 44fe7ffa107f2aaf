"""Cursor pagination: `{"results", "next", "previous"}`, `limit` 1..200."""

from __future__ import annotations

from typing import Any

from django.utils.dateparse import parse_datetime
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

MAX_LIMIT = 200
MAX_SEQ_DIGITS = 18


class NewestFirst(CursorPagination):
    """Pages through rows, newest first, stable while rows are added."""

    query_names = frozenset({"limit", "cursor"})
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = MAX_LIMIT
    ordering: Any = ("-created_at", "-id")

    def get_page_size(self, request: Request) -> int:
        """Return the asked page size; a wrong one is an error, not a silent default."""
        asked = request.query_params.get(self.page_size_query_param)
        if asked is None:
            return self.page_size
        if not (asked.isascii() and asked.isdigit() and 1 <= int(asked[:9]) <= MAX_LIMIT):
            raise ValidationError({"limit": f"Must be a whole number from 1 to {MAX_LIMIT}."})
        return int(asked)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Describe the parameters, the limit with its bounds."""
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == self.page_size_query_param:
                parameter["schema"] |= {
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "default": self.page_size,
                }
        return parameters

    def decode_cursor(self, request: Request) -> Any:
        """Return the cursor; what is not one of ours is a validation error."""
        try:
            cursor = super().decode_cursor(request)
            if cursor is not None and cursor.position is not None:
                self.check_position(str(cursor.position))
        except (NotFound, ValueError):
            raise ValidationError({"cursor": "Not a cursor of this list."}) from None
        return cursor

    def check_position(self, position: str) -> None:
        """Raise `ValueError` when a cursor does not point to a time."""
        if parse_datetime(position) is None:
            raise ValueError(position)


class NewestEventFirst(NewestFirst):
    """Pages through events by their sequence number."""

    ordering = ("-seq",)

    def check_position(self, position: str) -> None:
        """Raise `ValueError` when a cursor does not point to a sequence number."""
        if not (position.isascii() and position.isdigit() and len(position) <= MAX_SEQ_DIGITS):
            raise ValueError(position)
