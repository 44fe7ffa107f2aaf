"""Strict serializer fields: each accepts only its own JSON type, without conversion."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engram.kernel.literals import MAX_DIGITS, decimal_number, whole_number
from engram.kernel.literals import moment as read_moment

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
CLOCK_SKEW = timedelta(minutes=1)


# Letters and symbols by Unicode category that are invisible.
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def has_visible(text: str) -> bool:
    """Return whether a text contains a visible character."""
    return any(unicodedata.category(c)[0] in "LNPS" and c not in _FILLERS for c in text)


class Text(serializers.CharField):
    """A string, unchanged."""

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("trim_whitespace", False)
        super().__init__(**kwargs)

    def to_internal_value(self, value: Any) -> str:
        """Return the string."""
        if not isinstance(value, str):
            self.fail("invalid")
        text: str = super().to_internal_value(value)
        if not self.allow_blank and not has_visible(text):
            self.fail("blank")
        return text


class Line(Text):
    """A string without line breaks and other control characters."""

    def to_internal_value(self, value: Any) -> str:
        """Return the string."""
        text = super().to_internal_value(value)
        if not text.isprintable():
            raise serializers.ValidationError("Must be one line of printable characters.")
        return text


class Path(Line):
    """A topic path: segments joined by single slashes."""

    def to_internal_value(self, value: Any) -> str:
        """Return the path without empty segments."""
        text = super().to_internal_value(value)
        return "/".join(part.strip() for part in text.split("/") if part.strip())


class Number(serializers.FloatField):
    """A JSON number."""

    def to_internal_value(self, value: Any) -> float:
        """Return the number as a float."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail("invalid")
        return float(value)


class Whole(serializers.IntegerField):
    """A JSON integer."""

    def to_internal_value(self, value: Any) -> int:
        """Return the integer."""
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail("invalid")
        return value


class QueryFlag(serializers.BooleanField):
    """`true` or `false` in a query parameter."""

    def to_internal_value(self, value: Any) -> bool:
        """Return the boolean."""
        if value not in ("true", "false"):
            self.fail("invalid", input=value)
        return bool(value == "true")


class QueryWhole(Whole):
    """A whole number in a query parameter."""

    def to_internal_value(self, value: Any) -> int:
        """Return the number; validators check its bounds."""
        try:
            return whole_number(str(value), least=0, most=10**MAX_DIGITS)
        except ValueError:
            self.fail("invalid")


class QueryNumber(serializers.FloatField):
    """A number within bounds in an address."""

    def __init__(self, *, min_value: float, max_value: float, **kwargs: Any):
        super().__init__(min_value=min_value, max_value=max_value, **kwargs)
        self.bounds = min_value, max_value

    def to_internal_value(self, value: Any) -> float:
        """Return the number."""
        least, most = self.bounds
        try:
            return decimal_number(str(value), least=least, most=most)
        except ValueError:
            raise serializers.ValidationError(
                f"Must be a number from {least:g} to {most:g}."
            ) from None


class Flag(serializers.BooleanField):
    """A JSON boolean."""

    def to_internal_value(self, value: Any) -> bool:
        """Return the boolean."""
        if not isinstance(value, bool):
            self.fail("invalid", input=value)
        return value


class Id(serializers.UUIDField):
    """A UUID as a string."""

    def to_internal_value(self, value: Any) -> UUID:
        """Return the UUID."""
        if not isinstance(value, str):
            self.fail("invalid", value=value)
        found: UUID = super().to_internal_value(value)
        return found


class Moment(serializers.DateTimeField):
    """An RFC 3339 time; without an offset it is UTC."""

    def to_internal_value(self, value: Any) -> datetime:
        """Return an aware datetime."""
        try:
            moment = read_moment(value) if isinstance(value, str) else None
        except ValueError:
            moment = None
        if moment is None:
            self.fail("invalid", format="RFC 3339")
        if not EARLIEST <= moment <= LATEST:
            raise serializers.ValidationError("Must lie between the years 1900 and 2200.")
        return moment


class PastMoment(Moment):
    """A time that is not in the future (a minute of clock skew is accepted)."""

    def to_internal_value(self, value: Any) -> datetime:
        """Return an aware datetime, not later than now."""
        moment = super().to_internal_value(value)
        now = timezone.now()
        if moment > now + CLOCK_SKEW:
            raise serializers.ValidationError("Must not be in the future.")
        return min(moment, now)


@extend_schema_field({"type": "object", "additionalProperties": {}})
class JsonObject(serializers.JSONField):
    """A free JSON object of bounded size."""

    def __init__(self, *, max_bytes: int = 8192, **kwargs: Any):
        self.max_bytes = max_bytes
        super().__init__(**kwargs)

    def to_internal_value(self, value: Any) -> dict[str, Any]:
        """Return the object."""
        if not isinstance(value, dict):
            raise serializers.ValidationError("Must be a JSON object.")
        if len(json.dumps(value, ensure_ascii=False).encode()) > self.max_bytes:
            raise serializers.ValidationError(f"Must not be larger than {self.max_bytes} bytes.")
        return value


def choices_message(words: Iterable[object]) -> str:
    """Return the error message for a value that is not one of the choices."""
    return f"Must be one of: {', '.join(str(word) for word in words if word != '')}."
