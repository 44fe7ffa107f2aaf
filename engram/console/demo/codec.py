"""Columns of a workspace's rows as plain JSON, times as seconds before or after an end.

The end is a recording's when a value is encoded, and the moment of loading when it is decoded: so
times are shifted, those within JSON too. A decoded value is JSON again, as PostgreSQL reads it.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Field
from pgvector.django import VectorField

from engram.console.demo.dates import MARK, is_generated, write_dates
from engram.console.demo.tables import recorded_models

MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|\+00:00)")
DIGITS = 7

Convert = Callable[[Any, datetime], Any]


class UnrecordableError(TypeError):
    """Something that no recording can hold."""


@dataclass(frozen=True, slots=True)
class Codec:
    """How a column's value becomes JSON and comes back, each given the end of the recording."""

    encode: Convert
    decode: Convert


def codec(field: Field[Any, Any]) -> Codec:
    """Return how a column is recorded.

    Raises
    ------
    UnrecordableError
        When it must refer to rows that no recording holds, or whose ids the database counts up.
        Where such a column may be empty, encoding a row in which it is not raises the same.
    """
    if isinstance(field, models.ForeignKey):
        return _reference(field)
    if isinstance(field, ArrayField):
        one = codec(field.base_field)
        return Codec(
            _unless_none(lambda value, end: [one.encode(item, end) for item in value]),
            _unless_none(lambda value, end: [one.decode(item, end) for item in value]),
        )
    if is_generated(field):
        return Codec(_as_it_is, _unless_none(write_dates))  # marked by the recording
    for kind, encode, decode in CODECS:
        if isinstance(field, kind):
            return Codec(_unless_none(encode), _unless_none(decode))
    return Codec(_as_it_is, _as_it_is)


def _unless_none(convert: Convert) -> Convert:
    return lambda value, end: None if value is None else convert(value, end)


def _as_it_is(value: Any, end: datetime) -> Any:
    return value


def _reference(field: models.ForeignKey[Any, Any]) -> Codec:
    target = field.related_model
    why = f"{field} refers to {target._meta.label}"
    if target in recorded_models() and isinstance(field.target_field, models.UUIDField):
        return codec(field.target_field)
    if not field.null:
        raise UnrecordableError(why)

    def refuse(value: Any, end: datetime) -> Any:
        raise UnrecordableError(why)

    return Codec(_unless_none(refuse), _as_it_is)


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode("ascii")


def _in_json(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON with its strings changed, names left as they are."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_in_json(item, change) for item in value]
    if isinstance(value, dict):
        return {name: _in_json(item, change) for name, item in value.items()}
    return value


def _encode_moment(text: str, end: datetime) -> str:
    """Return a moment as its distance from the end; any other text as it is."""
    found = MOMENT.fullmatch(text)
    if found is None:
        return text
    moment = datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
    return f"{MARK}{_seconds(moment, end)}{found[2]}"


def _moment(text: str, end: datetime) -> str:
    """Return what `_encode_moment` undoes."""
    if not text.startswith(MARK):
        return text
    zone = "Z" if text.endswith("Z") else "+00:00"
    seconds = float(text[len(MARK) :].removesuffix(zone))
    moment = (end + timedelta(seconds=seconds)).astimezone(UTC)
    return moment.replace(tzinfo=None).isoformat() + zone


def _seconds(moment: datetime, end: datetime) -> float:
    return round((moment - end).total_seconds(), 6)


# The first that fits counts: a moment is a date to Python and to Django.
CODECS: tuple[tuple[type[Field[Any, Any]], Convert, Convert], ...] = (
    (
        models.DateTimeField,
        _seconds,
        lambda value, end: (end + timedelta(seconds=value)).isoformat(),
    ),
    (
        models.DateField,
        lambda value, end: (value - end.date()).days,
        lambda value, end: (end.date() + timedelta(days=value)).isoformat(),
    ),
    (
        VectorField,
        lambda value, end: _base64(np.asarray(value, dtype="<f4").tobytes()),
        lambda value, end: str(np.frombuffer(b64decode(value), dtype="<f4").tolist()),
    ),
    (
        models.BinaryField,
        lambda value, end: _base64(bytes(value)),
        lambda value, end: rf"\x{b64decode(value).hex()}",
    ),
    (models.UUIDField, lambda value, end: str(value), _as_it_is),
    (models.FloatField, lambda value, end: float(f"{value:.{DIGITS}g}"), _as_it_is),
    (
        models.JSONField,
        lambda value, end: _in_json(value, lambda text: _encode_moment(text, end)),
        lambda value, end: _in_json(value, lambda text: _moment(text, end)),
    ),
)
