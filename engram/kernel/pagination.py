"""Cursor pagination: `{"results", "next", "previous"}`, `limit` 1..200."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from engram.kernel.literals import MAX_BIGINT, moment, whole_number

MAX_LIMIT = 200


def asked_number(request: Request, name: str, *, least: int, most: int, default: int) -> int:
    """Return a whole number of the query; a wrong one is an error, not a silent default."""
    asked = request.query_params.get(name)
    if asked is None:
        return default
    try:
        return whole_number(asked, least=least, most=most)
    except ValueError:
        raise ValidationError({name: f"Must be a whole number from {least} to {most}."}) from None


class NewestFirst(CursorPagination):
    """Pages through rows, newest first, stable while rows are added."""

    query_names = frozenset({"limit", "cursor"})
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = MAX_LIMIT
    ordering: Any = ("-created_at", "-id")

    def get_page_size(self, request: Request) -> int:
        """Return the asked page size."""
        name = self.page_size_query_param
        return asked_number(request, name, least=1, most=MAX_LIMIT, default=self.page_size)

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
            cursor: Any = super().decode_cursor(request)
            if cursor is None:
                return None
            if not any(cursor):  # text that is no base64 decodes to nothing
                raise ValueError("a cursor without a place")
            if cursor.position is not None:
                position = self.read_position(str(cursor.position))
                cursor = cursor._replace(position=position)
        except (NotFound, ValueError):
            raise ValidationError({"cursor": "Not a cursor of this list."}) from None
        return cursor

    def read_position(self, position: str) -> str:
        """Return the time that a cursor points to; raise `ValueError` when it is none."""
        return str(moment(position))


class NewestEventFirst(NewestFirst):
    """Pages through events by their sequence number."""

    ordering = ("-seq",)

    def read_position(self, position: str) -> str:
        """Return the sequence number that a cursor points to; raise `ValueError` otherwise."""
        return str(whole_number(position, least=0, most=MAX_BIGINT))
