"""Show items that one change caused: all on one card, or one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from engram.console.inbox.addresses import address_of
from engram.console.inbox.source import Group, Source
from engram.kernel.literals import whole_number

A_PAGE = 25  # items of a group that are shown at once
ONE, PAGE = "one", "page"  # parameters of addresses


@dataclass(frozen=True, slots=True)
class Steps:
    """The position of the item on screen, and the addresses of its neighbours.

    `standing` is said instead of a position of what does not wait, such as "decided".
    """

    total: int
    position: int
    previous: str
    next: str
    standing: str = ""


@dataclass(frozen=True, slots=True)
class Looked:
    """What is looked at: the item on screen, the filters, the address, and what comes after it."""

    source: Source
    row: Any
    filters: Mapping[str, str]
    here: Mapping[str, Any]
    onward: str

    def address(self, item: UUID, **more: str) -> str:
        """Return the address of an item of the same source."""
        return address_of(self.filters, f"{self.source.name}:{item}", **more)


def group_context(
    request: HttpRequest, group: Group, looked: Looked, now: datetime
) -> dict[str, Any]:
    """Return the context of a group that has the item on screen: all of it, or only that item."""
    if looked.here.get(ONE):
        return _alone(group, looked)
    return _together(request, group, looked, now)


def _alone(group: Group, looked: Looked) -> dict[str, Any]:
    """Return the steps from one item of a group to the next; the last answer leads onward."""
    ids, place = group.ids, group.ids.index(looked.row.pk)
    before, after = ids[place - 1 : place], ids[place + 1 : place + 2]
    others = [*ids[place + 1 :], *ids[:place]]
    return {
        "all_of_group": looked.address(looked.row.pk),
        "group_total": group.total,
        "onward": looked.address(others[0], one="1") if others else looked.onward,
        "back": looked.address(looked.row.pk, one="1"),
        "steps": Steps(
            group.total,
            place + 1,
            looked.address(before[0], one="1") if place else "",
            looked.address(after[0], one="1") if after else "",
        ),
    }


def _together(request: HttpRequest, group: Group, looked: Looked, now: datetime) -> dict[str, Any]:
    """Return one page of a group; each item can be answered by itself, too."""
    pages = -(-len(group.ids) // A_PAGE)
    page = min(_page_of(looked.here), pages)
    shown = group.ids[(page - 1) * A_PAGE : page * A_PAGE]
    rows = looked.source.rows().in_bulk(list(shown))
    mine = looked.row.pk

    def turn(to: int) -> str:
        return looked.address(mine, page=str(to)) if 1 <= to <= pages else ""

    return {
        "group": group,
        "group_ids": " ".join(map(str, group.ids)),
        "actions": group.actions,
        "members": [
            {
                **looked.source.context(request, rows[item], now),
                "row": rows[item],
                "alone": looked.address(item, one="1"),
                "back": looked.address(_other(group.ids, item, mine), page=str(page)),
            }
            for item in shown
            if item in rows
        ],
        "first": (page - 1) * A_PAGE + 1,
        "last": (page - 1) * A_PAGE + len(shown),
        "first_alone": looked.address(group.ids[0], one="1"),
        "pages": {"previous": turn(page - 1), "next": turn(page + 1)},
    }


def _other(ids: Sequence[UUID], answered: UUID, mine: UUID) -> UUID:
    """Return the item that shows the group once another one of it is answered."""
    return next(item for item in ids if item != mine) if answered == mine else mine


def _page_of(here: Mapping[str, Any]) -> int:
    try:
        return whole_number(str(here.get(PAGE, "1")), least=1, most=10_000)
    except ValueError:
        return 1
