"""Pagination of lists in the API and the console: by cursor, for some lists by offset.

The API returns `{"results", "next", "previous"}` and accepts `limit`, 1 to 200; `page_of` does the
same for the console.
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
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

from engram.kernel.keyset import KeysetPagination
from engram.kernel.literals import MAX_BIGINT, moment, whole_number

MAX_LIMIT = 200
MAX_OFFSET = 1_000_000_000


def query_number(request: Request, name: str, *, least: int, most: int, default: int) -> int:
    """Return a whole number of the query; an invalid one is an error, not the default."""
    text = request.query_params.get(name)
    if text is None:
        return default
    try:
        return whole_number(text, least=least, most=most)
    except ValueError:
        raise ValidationError({name: f"Must be a whole number from {least} to {most}."}) from None


class NewestFirst(KeysetPagination):
    """Cursor pagination, newest first, stable while rows are added."""

    query_names = frozenset({"limit", "cursor"})
    page_size = 50
    page_size_query_param: str | None = "limit"
    ordering: Any = ("-created_at", "-id")

    def get_page_size(self, request: Request) -> int:
        """Return the page size."""
        name = self.page_size_query_param
        if name is None:
            return self.page_size
        return query_number(request, name, least=1, most=MAX_LIMIT, default=self.page_size)

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

    def read_position(self, position: str) -> Any:
        """Return the time of a position; raise `ValueError` if it is invalid."""
        return moment(position)


class NewestEventFirst(NewestFirst):
    """Cursor pagination of events by sequence number."""

    ordering = ("-seq",)

    def read_position(self, position: str) -> Any:
        """Return the sequence number of a position; raise `ValueError` if it is invalid."""
        return whole_number(position, least=0, most=MAX_BIGINT)


class ById(NewestFirst):
    """Cursor pagination in the order of ids."""

    ordering = ("id",)

    def read_position(self, position: str) -> Any:
        """Return the id of a position; raise `ValueError` if it is invalid."""
        return UUID(position)


class ByText(NewestFirst):
    """Cursor pagination in the order of a text, and of ids among those that share it."""

    def read_position(self, position: str) -> Any:
        """Return the text of a position; raise `ValueError` if no row can have it."""
        if "\0" in position:
            raise ValueError("a text of the database has no NUL")
        return position


class ByNumber(NewestFirst):
    """Cursor pagination in the order of a number, and of ids among those that share it."""

    def read_position(self, position: str) -> Any:
        """Return the number of a position; raise `ValueError` if no row can have it."""
        number = float(position)
        if not abs(number) < 2**31:  # nor one that is none
            raise ValueError("no row has this number")
        return number


class ByPosition(NewestFirst):
    """Cursor pagination of parts in the order of the whole."""

    ordering = ("position",)

    def read_position(self, position: str) -> Any:
        """Return the number of a part; raise `ValueError` if it is invalid."""
        return whole_number(position, least=0, most=2**31 - 1)


class LimitOffset(LimitOffsetPagination):
    """Pagination by `limit` and `offset`, with the count; an invalid number is an error."""

    query_names = frozenset({"limit", "offset"})
    default_limit = 50

    def get_limit(self, request: Request) -> int:
        """Return the page size."""
        return query_number(request, "limit", least=1, most=MAX_LIMIT, default=self.default_limit)

    def get_offset(self, request: Request) -> int:
        """Return the offset."""
        return query_number(request, "offset", least=0, most=MAX_OFFSET, default=0)

    def get_previous_link(self) -> str | None:
        """Return the link to the previous page; beyond the end, to the last page with rows."""
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
    """The rows of a page, and the query strings of the previous and next pages; "" for none."""

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
    """Return the requested page of a console list; links keep its filters.

    An invalid cursor gives the first page, because people edit addresses.
    """

    found = pages()
    found.ordering = ordering or found.ordering
    found.page_size, found.page_size_query_param = size, None  # not selectable in the address
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
