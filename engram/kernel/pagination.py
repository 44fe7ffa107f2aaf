"""Pages of lists, for the API and for people: by cursor, and by offset where the contract says so.

The API answers `{"results", "next", "previous"}` and takes `limit`, 1 to 200; `page_of` is the same
for a page of the console.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination, LimitOffsetPagination
from rest_framework.request import Request

from engram.kernel.literals import MAX_BIGINT, moment, whole_number

MAX_LIMIT = 200
MAX_OFFSET = 1_000_000_000


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
    page_size_query_param: str | None = "limit"
    ordering: Any = ("-created_at", "-id")

    def get_page_size(self, request: Request) -> int:
        """Return the asked page size."""
        name = self.page_size_query_param
        if name is None:
            return self.page_size
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


class ById(NewestFirst):
    """Pages through rows in the order of their ids."""

    ordering = ("id",)

    def read_position(self, position: str) -> str:
        """Return the id that a cursor points to; raise `ValueError` otherwise."""
        return str(UUID(position))


class LimitOffset(LimitOffsetPagination):
    """Pages by `limit` and `offset`, with the count; a wrong number is an error, no default."""

    query_names = frozenset({"limit", "offset"})
    default_limit = 50

    def get_limit(self, request: Request) -> int:
        """Return the page size."""
        return asked_number(request, "limit", least=1, most=MAX_LIMIT, default=self.default_limit)

    def get_offset(self, request: Request) -> int:
        """Return how many rows are skipped."""
        return asked_number(request, "offset", least=0, most=MAX_OFFSET, default=0)

    def get_previous_link(self) -> str | None:
        """Return the page before; from beyond the end that is the last one with rows."""
        self.offset = min(self.offset or 0, self.count or 0)
        link: str | None = super().get_previous_link()
        return link

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Describe the parameters with their bounds."""
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            is_limit = parameter["name"] == "limit"
            parameter["schema"] |= (
                {"minimum": 1, "maximum": MAX_LIMIT, "default": self.default_limit}
                if is_limit
                else {"minimum": 0, "maximum": MAX_OFFSET, "default": 0}
            )
        return parameters


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and the addresses (queries) of the pages before and after; "" for none."""

    rows: Sequence[Any]
    previous: str
    next: str


def page_of(
    rows: QuerySet[Any],
    request: HttpRequest,
    *,
    size: int = NewestFirst.page_size,
    pages: type[NewestFirst] = NewestFirst,
    ordering: tuple[str, ...] = (),
) -> Page:
    """Return the page that an address of the console asks for, with its filters kept.

    What is no cursor of the list asks for the first page: people edit addresses.
    """

    found = pages()
    found.ordering = ordering or found.ordering
    found.page_size, found.page_size_query_param = size, None  # an address asks for no other
    try:
        shown = found.paginate_queryset(rows, Request(request))
    except ValidationError:
        first = copy(request)
        first.GET = QueryDict()
        shown = found.paginate_queryset(rows, Request(first))
    return Page(
        shown or [], previous=_query(found.get_previous_link()), next=_query(found.get_next_link())
    )


def _query(link: str | None) -> str:
    return f"?{urlsplit(link).query}" if link else ""
