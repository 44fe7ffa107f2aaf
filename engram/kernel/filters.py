"""Filters of lists: one that is given but empty is a mistake, not "everything"."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import django_filters
from django.core.exceptions import ValidationError
from django.forms import ChoiceField, Field
from django_filters.fields import IsoDateTimeField
from drf_spectacular.utils import extend_schema_field

from engram.kernel.fields import one_of
from engram.kernel.literals import decimal_number, moment

ALL = "all"


class MomentField(IsoDateTimeField):
    """A moment in UTC."""

    def to_python(self, value: Any) -> datetime | None:
        """Return the moment."""
        if value in self.empty_values:
            return None
        try:
            return moment(str(value))
        except ValueError:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None


class NumberField(Field):
    """A number from 0 to 1."""

    def to_python(self, value: Any) -> float | None:
        """Return the number."""
        if value in self.empty_values:
            return None
        try:
            return decimal_number(str(value), least=0, most=1)
        except ValueError:
            raise ValidationError("Must be a number from 0 to 1.", code="invalid") from None


@extend_schema_field(
    {"type": "number", "minimum": 0, "maximum": 1, "description": "This far apart, either way."}
)
class ShareFilter(django_filters.Filter):
    """Compares with a number from 0 to 1, and says so in the API's description."""

    field_class = NumberField


class MomentFilter(django_filters.IsoDateTimeFilter):
    """Compares with a moment (ISO 8601)."""

    field_class = MomentField


class StateFilter(django_filters.ChoiceFilter):
    """Keeps what is in a state, or with `all` everything: one word for it in every list.

    `keep` names the method of the filter set that keeps those in a state; without it the field
    itself is compared.
    """

    parent: Any  # the filter set

    def __init__(self, choices: Iterable[Any], *, keep: str = "", **kwargs: Any):
        super().__init__(choices=[*choices, (ALL, "All")], **kwargs)
        self.keep = keep

    def filter(self, qs: Any, value: str) -> Any:
        """Return what is in the state, everything where all or none is asked for."""
        if not value or value == ALL:
            return qs
        return (
            getattr(self.parent, self.keep)(qs, value) if self.keep else super().filter(qs, value)
        )


class StrictFilterSet(django_filters.FilterSet):
    """Refuses empty values where a text would not do; unknown names, see `kernel.queries`."""

    def get_form_class(self) -> Any:
        """Return the form; where one of a few words is wanted, a wrong one is told which."""
        form = super().get_form_class()
        for field in form.base_fields.values():
            if isinstance(field, ChoiceField):
                choices: Any = field.choices
                field.error_messages["invalid_choice"] = one_of(value for value, _ in choices)
        return form

    def is_valid(self) -> bool:
        """Validate the values; an empty time, id or choice is wrong."""
        is_valid: bool = super().is_valid()
        for name, declared in self.filters.items():
            is_text = isinstance(declared, django_filters.CharFilter)
            if not is_text and (self.data or {}).get(name) == "":
                self.form.add_error(name, "Give a value or leave this out.")
                is_valid = False
        return is_valid
