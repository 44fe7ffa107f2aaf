"""Filters of the admin's lists beyond Django's: with a default, and with a typed value."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from django.contrib import admin
from django.contrib.admin.views.main import PAGE_VAR
from django.http import HttpRequest


class DefaultedFilter(admin.SimpleListFilter):
    """A list filter with a default value."""

    default = ""
    all_value = "all"

    def value(self) -> str:
        """Return the chosen value, or the default."""
        return super().value() or self.default

    def choices(self, changelist: Any) -> Any:
        """Yield the values; the default is selected when none is chosen."""
        for value, title in self.lookup_choices:
            yield {
                "selected": self.value() == str(value),
                "query_string": changelist.get_query_string({self.parameter_name: value}),
                "display": title,
            }


class TextFilter(admin.SimpleListFilter):
    """A list filter that is typed."""

    template = "admin/text_filter.html"

    def has_output(self) -> bool:
        """Show the field always."""
        return True

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer no values."""
        return []

    def choices(self, changelist: Any) -> Any:
        """Yield the field, with what else was asked of the list."""
        others = changelist.get_query_string(remove=[str(self.parameter_name), PAGE_VAR])
        yield {
            "name": self.parameter_name,
            "value": self.value() or "",
            "others": parse_qsl(others.removeprefix("?")),
        }
