"""Frozen dataclasses of plain values as JSON and back, refusing what is not exactly theirs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar, get_type_hints

Shape = TypeVar("Shape")

LARGEST = 1e12  # no sum or count here comes near


class CorruptError(ValueError):
    """What was stored is not what was written."""


def load_dataclass(shape: type[Shape], stored: object) -> Shape:
    """Return a dataclass from what `dataclasses.asdict` made of it; keys beyond it are ignored.

    Raises
    ------
    CorruptError
        When a field is missing, of another type, negative where it counts, or no finite number.
    """
    if not isinstance(stored, Mapping):
        raise CorruptError(f"{shape.__name__} is stored as {type(stored).__name__}")
    kinds = get_type_hints(shape)
    values = {}
    for one in fields(shape):  # type: ignore[arg-type]
        if one.name not in stored:
            raise CorruptError(f"{one.name} is missing")
        values[one.name] = _value(kinds[one.name], stored[one.name], one.name)
    return shape(**values)


def _value(kind: Any, value: Any, name: str) -> Any:
    if is_dataclass(kind):
        return load_dataclass(kind, value)  # type: ignore[arg-type]
    if issubclass(kind, Enum):
        try:
            return kind(value)
        except ValueError as error:
            raise CorruptError(f"{name} is not known") from error
    if kind is float and type(value) in {int, float}:
        if math.isfinite(value) and abs(value) <= LARGEST:
            return float(value)
    elif type(value) is kind and (kind is not int or 0 <= value <= LARGEST):
        return value
    raise CorruptError(f"{name} is not a sound {kind.__name__}")
