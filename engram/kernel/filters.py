"""Filters of lists: one that is misspelt, or given but empty, is a mistake, not "everything"."""

from __future__ import annotations

import django_filters

from engram.kernel.pagination import PAGE_NAMES


class StrictFilterSet(django_filters.FilterSet):
    """Refuses names that no filter has, and empty values where a text would not do."""

    def is_valid(self) -> bool:
        """Validate the values; an empty time, id or choice is wrong."""
        is_valid: bool = super().is_valid()
        for name, declared in self.filters.items():
            is_text = isinstance(declared, django_filters.CharFilter)
            if not is_text and (self.data or {}).get(name) == "":
                self.form.add_error(name, "Give a value or leave this out.")
                is_valid = False
        for name in sorted(set(self.data or ()) - set(self.filters) - PAGE_NAMES):
            self.form.errors[name] = self.form.error_class(["There is no such filter."])
            is_valid = False
        return is_valid
