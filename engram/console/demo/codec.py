"""Columns of a recording as plain JSON, times as seconds before or after an end.

The end is a recording's when a value is encoded, and the moment of loading when it is decoded: so
times are shifted, those within JSON too. Numbers are rounded, everything else is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Field

from engram.console.demo.dates import MARK, is_generated, write_dates
from engram.console.demo.tables import recorded_models
from engram.console.rows import codec as rows
from engram.console.rows.codec import EXACT, Codec, Kinds, as_it_is, unless_none
from engram.kernel.models import LatencyHour

MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|\+00:00)")
DIGITS = 7


def codec(field: Field[Any, Any], end: datetime) -> Codec:
    """Return how a column is recorded, given the end of the recording.

    Raise `UnwritableError` as `engram.console.rows.codec.codec` does.
    """
    if field.model is LatencyHour and field.name == "hour":
        return Codec(lambda value: _seconds(value, end), lambda value: _hour(value, end))
    if is_generated(field):  # marked by the recording
        return Codec(as_it_is, unless_none(lambda value: write_dates(value, end)))
    return rows.codec(field, recorded_models(), kinds=(*_shifted(end), *EXACT))


def _shifted(end: datetime) -> Kinds:
    return (
        (
            models.DateTimeField,
            lambda value: _seconds(value, end),
            lambda value: (end + timedelta(seconds=value)).isoformat(),
        ),
        (
            models.DateField,
            lambda value: (value - end.date()).days,
            lambda value: (end.date() + timedelta(days=value)).isoformat(),
        ),
        (models.FloatField, lambda value: float(f"{value:.{DIGITS}g}"), as_it_is),
        (
            models.JSONField,
            lambda value: _in_json(value, lambda text: _encode_moment(text, end)),
            lambda value: _in_json(value, lambda text: _moment(text, end)),
        ),
    )


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


def _hour(seconds: float, end: datetime) -> str:
    """Return the beginning of the hour (UTC) in which a shifted moment lies.

    Distances of recorded hours are whole hours, so that no two of them fall into one.
    """
    moment = (end + timedelta(seconds=seconds)).astimezone(UTC)
    return moment.replace(minute=0, second=0, microsecond=0).isoformat()


def _seconds(moment: datetime, end: datetime) -> float:
    return round((moment - end).total_seconds(), 6)
