"""The orders of the list of memories: those that an index gives, chosen in the address.

A memory that is not live has no place in these indexes, so that other states, and days in the past,
are listed newest first alone. The index of scopes does not order the memories of one scope: where
most are of one, they are read and sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from engram.kernel.pagination import ByText, NewestFirst


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
# The direction that a head gives first comes first.
ORDERS: Final = (
    NEWEST,
    Order("-learned", "By when it was learned, newest first", ("-observed_at", "-id"), NewestFirst),
    Order("learned", "By when it was learned, oldest first", ("observed_at", "id"), NewestFirst),
    Order("scope", "By scope, A to Z", ("scope", "id"), ByText),
    Order("-scope", "By scope, Z to A", ("-scope", "-id"), ByText),
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
