"""Base classes of list filters; an empty value is an error, not "everything"."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import django_filters
from django.core.exceptions import ValidationError
from django.forms import ChoiceField, Field
from django.utils import timezone
from django_filters.fields import IsoDateTimeField
from drf_spectacular.utils import extend_schema_field

from engram.kernel.fields import CLOCK_SKEW, choices_message
from engram.kernel.literals import decimal_number, moment

ALL = "all"


class MomentField(IsoDateTimeField):
    """A form field of a time in UTC."""

    def to_python(self, value: Any) -> datetime | None:
        """Return the time."""
        if value in self.empty_values:
            return None
        try:
            return moment(str(value))
        except ValueError:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None


class PastMomentField(MomentField):
    """A form field of a time in UTC that is not in the future (a minute of skew is accepted)."""

    def to_python(self, value: Any) -> datetime | None:
        """Return the time, not later than now."""
        found = super().to_python(value)
        if found is None:
            return None
        now = timezone.now()
        if found > now + CLOCK_SKEW:
            raise ValidationError("Must not be in the future.", code="invalid")
        return min(found, now)


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
    """Compares with a time (ISO 8601)."""

    field_class = MomentField


class PastMomentFilter(MomentFilter):
    """Takes a time (ISO 8601) that is not in the future."""

    field_class = PastMomentField


class StateFilter(django_filters.ChoiceFilter):
    """Keeps rows of a state, or with `all` every row.

    `keep` is the name of the filter set's method that keeps the rows of a state; without it the
    field itself is compared.
    """

    parent: Any  # the filter set

    def __init__(self, choices: Iterable[Any], *, keep: str = "", **kwargs: Any):
        super().__init__(choices=[*choices, (ALL, "All")], **kwargs)
        self.keep = keep

    def filter(self, qs: Any, value: str) -> Any:
        """Return the rows of the state; every row for `all` or no value."""
        if not value or value == ALL:
            return qs
        return (
            getattr(self.parent, self.keep)(qs, value) if self.keep else super().filter(qs, value)
        )


class StrictFilterSet(django_filters.FilterSet):
    """Refuses empty values of fields that are not texts; for unknown names see `kernel.queries`."""

    def get_form_class(self) -> Any:
        """Return the form, whose choice fields list the choices in their error messages."""
        form = super().get_form_class()
        for field in form.base_fields.values():
            if isinstance(field, ChoiceField):
                choices: Any = field.choices
                field.error_messages["invalid_choice"] = choices_message(
                    value for value, _ in choices
                )
        return form

    def is_valid(self) -> bool:
        """Validate the values; an empty time, id or choice is an error."""
        is_valid: bool = super().is_valid()
        for name, declared in self.filters.items():
            is_text = isinstance(declared, django_filters.CharFilter)
            if not is_text and (self.data or {}).get(name) == "":
                self.form.add_error(name, "Give a value or leave this out.")
                is_valid = False
        return is_valid
