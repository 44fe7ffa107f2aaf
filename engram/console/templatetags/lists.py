"""What the admin's lists show as the console's do: their count in words, and their pager."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template
from django.contrib.admin.views.main import PAGE_VAR
from django.core.exceptions import FieldDoesNotExist
from django.db.models import DateTimeField
from django.template import Context
from django.utils.html import strip_tags
from django.utils.text import capfirst
from unfold.templatetags.unfold_list import result_list

from engram.console.navigation import Shell
from engram.kernel.labels import Count
from engram.kernel.list_filters import DefaultedFilter

register = template.Library()
NOTHING = {"", "-", "–"}  # the texts of a cell without a value
# What the admin calls apps whose names are not those of the product.
APPS = {"auth": "People", "axes": "Failed sign-ins", "console": "Webhooks"}
# What pages call filters whose fields have other names.
FILTERS = {
    "active": "may sign in",
    "superuser status": "administers",
    "actor kind": "by",
    "object type": "about",
    "narrative": "language model",
    "is correct": "right",
    "is flat": "judged all alike",
    "is evidence": "counts",
    "is drafted": "list chosen in turn",
    "is drift reset": "learned ranking set back",
}


@dataclass(frozen=True, slots=True)
class ListPages:
    """The links of a page to those beside it ("" for none), and their words."""

    previous: str
    next: str
    before: str
    after: str


@register.inclusion_tag("admin/_rows.html", takes_context=True)
def rows_of(context: Context, cl: Any) -> dict[str, Any]:
    """Return the table of an admin list; a column that says the same in all rows stands apart.

    The column that names the rows stays, and so does one that the list was sorted by.
    """
    found = result_list(context, cl)
    headers, rows = found["result_headers"], found["results"]
    named = 1 + ("action_checkbox" in cl.list_display)
    apart = [
        number
        for number in range(named, len(headers) if len(rows) > 1 else 0)
        if len({row[number] for row in rows}) == 1 and not headers[number].get("sorted")
    ]
    said = [(headers[number]["text"], strip_tags(rows[0][number]).strip()) for number in apart]
    for cells in (headers, *rows):
        for number in reversed(apart):
            del cells[number]
    return {**found, "alike": [(title, text) for title, text in said if text not in NOTHING]}


@register.simple_tag
def pages_of(cl: Any) -> ListPages:
    """Return the pager of an admin list."""
    shown, last = cl.page_num, 1 if cl.show_all and cl.can_show_all else cl.paginator.num_pages
    return ListPages(
        cl.get_query_string({PAGE_VAR: shown - 1}) if shown > 1 else "",
        cl.get_query_string({PAGE_VAR: shown + 1}) if shown < last else "",
        *_words_of(cl),
    )


@register.simple_tag
def rows_in_words(cl: Any) -> str:
    """Return how many rows a list has, and what it is limited to as long as nobody chose."""
    opts = cl.opts
    noun = (
        getattr(cl, "noun", "")
        or getattr(cl.model_admin, "noun", "")
        or f"{opts.verbose_name}|{opts.verbose_name_plural}"
    )
    limits = [dict(spec.lookup_choices)[spec.default].lower() for spec in _kept_defaults(cl)]
    return f"{Count(cl.result_count):{noun}}" + (f" ({', '.join(limits)})" if limits else "")


@register.filter
def app_words(app: Mapping[str, str]) -> str:
    """Return what the tables of an app of the admin are about."""
    return APPS.get(app["app_label"], app["name"])


@register.filter
def table_words(table: Mapping[str, str], shell: Shell) -> str:
    """Return what a table of the admin is called: as the tab that leads to it, if one does."""
    return shell.name_of(table["admin_url"] or "") or capfirst(table["name"])


@register.filter
def filter_words(title: str) -> str:
    """Return the name of a filter as a button shows it: no name of a field."""
    return capfirst(FILTERS.get(title, title.removeprefix("is ")))


def _kept_defaults(cl: Any) -> list[DefaultedFilter]:
    return [
        spec
        for spec in cl.filter_specs
        if isinstance(spec, DefaultedFilter) and spec.value() == spec.default != spec.all_value
    ]


def _words_of(cl: Any) -> tuple[str, str]:
    """Return the words of the links: of time where the list is in the order of a time."""
    first = str(next(iter(cl.queryset.query.order_by), ""))
    try:
        field = cl.lookup_opts.get_field(first.removeprefix("-"))
    except FieldDoesNotExist:
        field = None
    # Numbers that are counted up are in the order of time, too.
    is_counted = first.startswith("-") and first == next(iter(cl.lookup_opts.ordering), "")
    if not isinstance(field, DateTimeField) and not is_counted:
        return "Previous", "Next"
    return ("Newer", "Older") if first.startswith("-") else ("Older", "Newer")
