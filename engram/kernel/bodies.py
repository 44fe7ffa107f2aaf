"""Check a body by its serializer: the same for requests and for the lines of a file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from rest_framework import serializers

from engram.kernel.fields import choices_message
from engram.kernel.queries import UNKNOWN_LISTED

Shape = TypeVar("Shape", bound=serializers.Serializer[Any])


def validate(shape: type[Shape], data: Any) -> Shape:
    """Return a body validated by a serializer; unknown field names are errors."""
    serializer = shape(data=data)
    name_choices(serializer)
    if unknown := list(islice(unknown_names(serializer, data), UNKNOWN_LISTED)):
        raise serializers.ValidationError(dict.fromkeys(unknown, "There is no such field."))
    serializer.is_valid(raise_exception=True)
    return serializer


def name_choices(shape: Any) -> None:
    """Make the choice fields of a serializer list the choices in their error messages."""
    if isinstance(shape, serializers.Serializer):
        for field in shape.fields.values():
            name_choices(field)
    elif isinstance(shape, serializers.ChoiceField):
        shape.error_messages["invalid_choice"] = choices_message(shape.choices)
    elif (child := getattr(shape, "child", None)) is not None:
        name_choices(child)


def unknown_names(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the names in a body that its serializer does not have."""
    if isinstance(shape, serializers.Serializer) and isinstance(value, dict):
        known = {field.field_name: field for field in shape._writable_fields}
        for name, inner in value.items():
            own = f"{path}.{name}" if path else name
            if name not in known:
                yield own
            elif isinstance(inner, dict | list):
                yield from unknown_names(known[name], inner, own)
    elif isinstance(shape, serializers.ListField) and isinstance(value, list):
        for position, inner in enumerate(value):
            if isinstance(inner, dict):
                yield from unknown_names(shape.child, inner, f"{path}.{position}")
