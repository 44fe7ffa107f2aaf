"""Load frozen dataclasses of plain values from JSON, with strict validation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar, get_type_hints

Shape = TypeVar("Shape")

LARGEST = 1e12  # far above any valid sum or count


class CorruptError(ValueError):
    """Raised when stored values do not fit the dataclass."""


def load_dataclass(shape: type[Shape], stored: object) -> Shape:
    """Return a dataclass from the output of `dataclasses.asdict`; unknown keys are ignored.

    Raises
    ------
    CorruptError
        When a field is missing or of another type, an integer is negative, or a number is not
        finite.
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
