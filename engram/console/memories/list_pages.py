"""The list of memories: search, filters and columns in the address, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from engram.console.memories import changes
from engram.console.memories.change_pages import doing
from engram.console.memories.columns import CHOSEN_FIRST, Listed, lay_out
from engram.console.memories.done import PARAMETERS, TICKED, done_in, ids_of
from engram.console.memories.forms import ListForm
from engram.console.memories.orders import NEWEST, sortable
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page, staff_of
from engram.kernel.pagination import Page, page_of
from memories.api.memories import visible_to
from memories.models import Memory
from memories.services.disputes import disputes_of
from memories.services.lifecycle.attached import links_of
from memories.services.recall.past import turn_back
from memories.services.sessions.uses import times_of_use

SIZE = 50
COUNTED = 1_000  # more are not counted: a count reads every row
CHANGES_SHOWN = 3
NOTHING = Page((), previous="", next="")


@require_safe
@member_page()
def memories(request: HttpRequest) -> HttpResponse:
    """List memories, newest first or as asked; filters that are wrong are named."""
    form = ListForm(request.GET)
    is_valid = form.is_valid()
    context: dict[str, Any] = {
        "form": form,
        "filters": form.given,
        "more": {name for name in form.given if name not in {"q", "scope", "kind", "state"}},
        "page": NOTHING,
        "may_act": has_role(request, Role.REVIEWER),
        "done": done_in(request),
        "ticked": ids_of(request.GET.get(TICKED, "")),
        "chosen": set(request.GET.getlist("columns")) or set(CHOSEN_FIRST),
        "here": _without(request, *PARAMETERS),
        "matching": urlencode(form.given),
        **(_changing() if has_role(request, Role.REVIEWER) else {}),
        "plain": _without(request, "columns", "cursor", *PARAMETERS),
        "sorted_as": _address_of_orders(request),
    }
    if is_valid:
        then = form.then
        rows = form.apply(visible_to(staff_of(request).actor.role))
        order = form.order
        used = order or NEWEST
        page = page_of(
            sortable(rows, used), request, size=SIZE, pages=used.pages, ordering=used.fields
        )
        if then is not None:
            turn_back(page.rows, then)
        counted = rows.order_by()[: COUNTED + 1].count()
        context |= {
            "page": page,
            "table": lay_out(_listed(page.rows), form.cleaned_data["columns"], order),
            "order": order,
            "total": min(counted, COUNTED),
            "is_more": counted > COUNTED,
            "then": then,
        }
    status = 200 if is_valid else 422
    return render(request, "console/memories/list.html", context, status=status)


def _changing() -> dict[str, Any]:
    """Return the first changes of many memories that are going on, and how many more there are."""
    going = changes.running()
    first = list(going[:CHANGES_SHOWN])
    more = going.count() - len(first) if len(first) == CHANGES_SHOWN else 0
    return {"changing": [(change, doing(change)) for change in first], "changing_more": more}


def _listed(rows: Sequence[Memory]) -> list[Listed]:
    """Return what the rows of a page show, by the same queries for one and for many."""
    ids, now = [row.pk for row in rows], timezone.now()
    links, conflicts, uses = links_of(ids), disputes_of(ids), times_of_use(ids)
    return [
        Listed(
            row,
            str(row.state(now).label),
            links[row.pk].tags,
            conflicts.get(row.pk, ()),
            uses[row.pk],
        )
        for row in rows
    ]


def _address_of_orders(request: HttpRequest) -> str:
    """Return the address of the list up to the value of its order."""
    plain = _without(request, "sort", "cursor", *PARAMETERS)
    return f"{plain}{'&' if '?' in plain else '?'}sort="


def _without(request: HttpRequest, *names: str) -> str:
    """Return the address of the list without some of its parameters."""
    kept = [
        (name, value)
        for name, values in request.GET.lists()
        for value in values
        if name not in names
    ]
    return f"{request.path}?{urlencode(kept)}" if kept else request.path
