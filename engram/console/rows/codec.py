"""Columns as plain JSON, without loss. A decoded value is JSON again, as PostgreSQL reads it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Field, Model
from pgvector.django import VectorField

Convert = Callable[[Any], Any]
Kinds = Sequence[tuple["type[Field[Any, Any]]", Convert, Convert]]


class UnwritableError(TypeError):
    """Something that no recording and no archive can hold."""


@dataclass(frozen=True, slots=True)
class Codec:
    """How a column's value becomes JSON and comes back."""

    encode: Convert
    decode: Convert


def codec(
    field: Field[Any, Any], tables: Container[type[Model]], *, kinds: Kinds | None = None
) -> Codec:
    """Return how a column is written, with the first of `kinds` (default: EXACT) that fits.

    Raises
    ------
    UnwritableError
        When it must refer to rows of none of `tables`, or whose ids the database counts up. Where
        such a column may be empty, encoding a row in which it is not raises the same.
    """
    kinds = EXACT if kinds is None else kinds
    if isinstance(field, models.ForeignKey):
        return _reference(field, tables, kinds)
    if isinstance(field, ArrayField):
        one = codec(field.base_field, tables, kinds=kinds)
        return Codec(
            unless_none(lambda value: [one.encode(item) for item in value]),
            unless_none(lambda value: [one.decode(item) for item in value]),
        )
    for kind, encode, decode in kinds:
        if isinstance(field, kind):
            return Codec(unless_none(encode), unless_none(decode))
    return Codec(as_it_is, as_it_is)


def unless_none(convert: Convert) -> Convert:
    """Return the conversion that leaves None as it is."""
    if convert is as_it_is:
        return as_it_is
    return lambda value: None if value is None else convert(value)


def as_it_is(value: Any) -> Any:
    """Return the value."""
    return value


def _reference(
    field: models.ForeignKey[Any, Any], tables: Container[type[Model]], kinds: Kinds
) -> Codec:
    target = field.related_model
    why = f"{field} refers to {target._meta.label}"
    if target in tables and isinstance(field.target_field, models.UUIDField):
        return codec(field.target_field, tables, kinds=kinds)
    if not field.null:
        raise UnwritableError(why)

    def refuse(value: Any) -> Any:
        raise UnwritableError(why)

    return Codec(unless_none(refuse), as_it_is)


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode("ascii")


def _bytes(text: str) -> bytes:
    return b64decode(text, validate=True)


# The first that fits counts: a moment is a date to Python and to Django.
EXACT: Kinds = (
    (models.DateTimeField, lambda value: value.isoformat(), as_it_is),
    (models.DateField, lambda value: value.isoformat(), as_it_is),
    (
        VectorField,
        lambda value: _base64(np.asarray(value, dtype="<f4").tobytes()),
        lambda value: str(np.frombuffer(_bytes(value), dtype="<f4").tolist()),
    ),
    (
        models.BinaryField,
        lambda value: _base64(bytes(value)),
        lambda value: rf"\x{_bytes(value).hex()}",
    ),
    (models.UUIDField, str, as_it_is),
)
