"""The orders of the list of memories, chosen in the address.

An index gives those by scope and by when a memory was learned; the index of scopes does not order
the memories of one scope: where most are of one, they are read and sorted. By the other columns the
first rows are picked from all, 0.1 s of 100,000 memories: an index of counts would have to be
written at each recall. Other states than live, and days in the past, are listed newest first alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from django.db.models import QuerySet, Value
from django.db.models.functions import Coalesce

from engram.kernel.pagination import ByNumber, ByText, NewestFirst
from memories.models import Memory

NEVER: Final = datetime(9999, 1, 1, tzinfo=UTC)  # stands for no expiry: after every other one
EXPIRY: Final = "expires_or_never"


class Order(NamedTuple):
    """An order: its value in the address, what it is called, its fields, and how pages continue."""

    value: str
    words: str
    fields: tuple[str, str]
    pages: type[NewestFirst]

    @property
    def column(self) -> str:
        """Return the name of the column that it goes by; "" for the first order."""
        return self.value.removeprefix("-")

    @property
    def aria(self) -> str:
        """Return what `aria-sort` of the head of its column says."""
        return "descending" if self.value.startswith("-") else "ascending"


NEWEST: Final = Order("", "By when it was stored, newest first", NewestFirst.ordering, NewestFirst)


def _texts(name: str, words: str, field: str = "") -> tuple[Order, Order]:
    field = field or name
    return (
        Order(name, f"By {words}, A to Z", (field, "id"), ByText),
        Order(f"-{name}", f"By {words}, Z to A", (f"-{field}", "-id"), ByText),
    )


def _numbers(name: str, words: str, field: str = "") -> tuple[Order, Order]:
    field = field or name
    return (
        Order(f"-{name}", f"By {words}, highest first", (f"-{field}", "-id"), ByNumber),
        Order(name, f"By {words}, lowest first", (field, "id"), ByNumber),
    )


# The direction that a head gives first comes first.
ORDERS: Final = (
    NEWEST,
    Order("-learned", "By when it was learned, newest first", ("-observed_at", "-id"), NewestFirst),
    Order("learned", "By when it was learned, oldest first", ("observed_at", "id"), NewestFirst),
    *_texts("scope", "scope"),
    *_texts("project", "project"),
    *_texts("agent", "agent"),
    *_texts("session", "session", "session_key"),
    *_numbers("confidence", "confidence"),
    *_numbers("importance", "importance"),
    *_numbers("recalled", "recalls", "recall_count"),
    *_numbers("weight", "weight", "weight_factor"),
    *_numbers("revision", "revision"),
    Order("expires", "By expiry, soonest first", (EXPIRY, "id"), NewestFirst),
    Order("-expires", "By expiry, latest first", (f"-{EXPIRY}", "-id"), NewestFirst),
)


class Head(NamedTuple):
    """The head of a column; `next` is the order that it gives, None where it gives none."""

    name: str
    title: str
    next: Order | None = None
    aria: str = ""


def order_of(value: str) -> Order:
    """Return the order of a value of the address, the first one for an unknown value."""
    return next((one for one in ORDERS if one.value == value), NEWEST)


def sortable(rows: QuerySet[Memory], order: Order) -> QuerySet[Memory]:
    """Return memories with the field that an order goes by."""
    if order.fields[0].lstrip("-") != EXPIRY:
        return rows
    return rows.annotate(**{EXPIRY: Coalesce("expires_at", Value(NEVER))})


def head_of(name: str, title: str, present: Order | None) -> Head:
    """Return the head of a column: it turns its order round, then gives up its order.

    `present` is the present order, None where the list has a single one.
    """
    own: Sequence[Order] = [one for one in ORDERS if one.column == name]
    if present is None or not own:
        return Head(name, title)
    if present.column != name:
        return Head(name, title, own[0])
    place = own.index(present) + 1
    return Head(name, title, own[place] if place < len(own) else NEWEST, present.aria)
