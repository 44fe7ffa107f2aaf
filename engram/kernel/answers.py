"""Derive the fields of response serializers from the dataclasses that services return.

A field that needs a help text, another name or another type is declared as usual; the others follow
from the annotations. `djangorestframework-dataclasses` would also serve request bodies, but marks
fields with a default as not required, which no field of a response is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from types import NoneType
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

Shape = TypeVar("Shape", bound=serializers.Serializer[Any])
PLAIN: Final[Mapping[Any, type[serializers.Field[Any, Any, Any, Any]]]] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    str: serializers.CharField,
    UUID: serializers.UUIDField,
    date: serializers.DateField,
    datetime: serializers.DateTimeField,
}


def fields_of(source: type, *, omit: Collection[str] = ()) -> Callable[[type[Shape]], type[Shape]]:
    """Add the fields of a dataclass that a serializer does not declare itself.

    They are in the order of the dataclass, before all others.
    """

    def declare(shape: type[Shape]) -> type[Shape]:
        declared: dict[str, Any] = shape._declared_fields
        hints = get_type_hints(source)
        names = [one.name for one in fields(source) if one.name not in omit]
        own = {name: declared.get(name) or field_for(hints[name]) for name in names}
        shape._declared_fields = own | declared
        return shape

    return declare


def field_for(hint: Any) -> serializers.Field[Any, Any, Any, Any]:
    """Return the serializer field of a type; raise `TypeError` if it must be declared."""
    arguments = [one for one in get_args(hint) if one is not Ellipsis]
    if NoneType in arguments:
        (inner,) = [one for one in arguments if one is not NoneType]
        return PLAIN[inner](allow_null=True)
    if hint in PLAIN:
        return PLAIN[hint]()
    if get_origin(hint) in {list, tuple, Sequence} and len(arguments) == 1:
        return serializers.ListField(child=field_for(arguments[0]))
    if get_origin(hint) is dict and arguments[0] is str:
        return serializers.DictField(child=field_for(arguments[1]))
    raise TypeError(f"{hint} has no field of its own: declare one")


def to_json(at: datetime | None) -> str | None:
    """Return a time as `DateTimeField` shows it: in the current zone, UTC as Z."""
    if at is None:
        return None
    text = timezone.localtime(at).isoformat()
    return f"{text.removesuffix('+00:00')}Z" if text.endswith("+00:00") else text
