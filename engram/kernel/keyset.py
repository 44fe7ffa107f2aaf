"""Cursor pagination by the values of the last row, however many rows share one of them.

REST framework's own cursor holds the first ordering field and an offset among the rows that share
its value, at most 1,000: rows that one import writes at one moment are more.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet, UUIDField
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import remove_query_param

from engram.kernel.literals import MAX_BIGINT, whole_number

_BETWEEN = ","  # the value of the first ordering field and that of the id


class KeysetPagination(CursorPagination):
    """Pages of the rows beyond the last one shown.

    `ordering` is one field whose values are unique, or a field and the id in the same direction.
    A cursor's position is the values of a row in these fields; without one it is the beginning, or
    going back the end.
    """

    def read_position(self, position: str) -> Any:
        """Return the first value of a position; raise `ValueError` if it is invalid."""
        return position

    def decode_cursor(self, request: Request) -> Any:
        """Return the cursor; an invalid one is a validation error."""
        try:
            cursor: Any = super().decode_cursor(request)
        except NotFound:
            raise _not_a_cursor() from None
        if cursor is not None and cursor.position is None and not cursor.reverse:
            raise _not_a_cursor()  # text that is not base64 decodes to nothing
        return cursor

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the rows of a page, at most its size, in their order."""
        self.request, self.base_url = request, request.build_absolute_uri()
        size = self.get_page_size(request) or 1
        self.ordering = self.get_ordering(request, queryset, view)
        cursor = self.decode_cursor(request)
        is_back = bool(cursor and cursor.reverse)
        ordering = tuple(map(_reversed, self.ordering)) if is_back else self.ordering
        rows = queryset.order_by(*ordering)
        if cursor and cursor.position is not None:
            rows = self._beyond(rows, cursor.position, ordering)
        found = list(rows[: size + 1])
        has_more, is_inside = len(found) > size, cursor is not None
        page = found[size - 1 :: -1] if is_back else found[:size]
        after, before = (is_inside, has_more) if is_back else (has_more, is_inside)
        self._next = self._link(page[-1:], is_back=False) if after else None
        self._previous = self._link(page[:1], is_back=True) if before else None
        return page

    def get_next_link(self) -> str | None:
        """Return the link to the rows after the page."""
        return self._next

    def get_previous_link(self) -> str | None:
        """Return the link to the rows before the page."""
        return self._previous

    def _link(self, border: list[Any], *, is_back: bool) -> str:
        """Return the link to the rows beyond a row; of an empty page, to the end or the beginning.

        A page is empty if its rows were deleted after its link was made.
        """
        position: Any = None
        for row in border:
            values = (getattr(row, name.lstrip("-")) for name in self.ordering)
            position = _BETWEEN.join(map(str, values))
        if border or is_back:
            return str(self.encode_cursor(Cursor(0, is_back, position)))
        return str(remove_query_param(self.base_url or "", self.cursor_query_param))

    def _beyond(self, rows: Any, position: str, ordering: tuple[str, ...]) -> Any:
        """Return the rows after a position in `ordering`."""
        way = "lt" if ordering[0].startswith("-") else "gt"
        name = ordering[0].lstrip("-")
        is_unique = len(ordering) == 1
        first, _, last = (position, "", "") if is_unique else position.rpartition(_BETWEEN)
        try:
            value = self.read_position(first)
            row_id = None if is_unique else _read_id(rows, last)
        except ValueError:
            raise _not_a_cursor() from None
        if is_unique:
            return rows.filter(**{f"{name}__{way}": value})
        beyond = Q(**{f"{name}__{way}": value}) | Q(**{f"pk__{way}": row_id})
        return rows.filter(beyond, **{f"{name}__{way}e": value})


def _not_a_cursor() -> ValidationError:
    return ValidationError({"cursor": "Not a cursor of this list."})


def _reversed(name: str) -> str:
    return name[1:] if name.startswith("-") else f"-{name}"


def _read_id(rows: QuerySet[Model], text: str) -> UUID | int:
    """Return an id of the rows; raise `ValueError` if it is invalid."""
    if isinstance(rows.model._meta.pk, UUIDField):
        return UUID(text)
    return whole_number(text, least=0, most=MAX_BIGINT)
