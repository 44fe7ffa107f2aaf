"""What a review asks for, in words, for the pages on which people answer it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from memories.models import Review, ReviewKind

NOT_SHOWN = frozenset({"content", "supersedes", "revive"})  # the page says them itself
NOTHING: tuple[Any, ...] = (None, "", [], {}, False)
TITLES = {"session_key": "Session", "derived_from": "Drawn from", "observed_at": "Learned at"}


def fields_in_words(review: Review, fields: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the fields in words; of a commit only those that were not left at nothing."""
    return [
        (TITLES.get(name, name.replace("_", " ").capitalize()), _in_words(name, value))
        for name, value in fields.items()
        if name not in NOT_SHOWN and (value not in NOTHING or review.kind == ReviewKind.REVISE)
    ]


def _in_words(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in NOTHING:
        return "–"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {inner}" for key, inner in value.items())
    if name in {"kind", "provenance"}:
        return str(value).replace("_", " ")
    moment = parse_datetime(value) if name.endswith("_at") else None
    return f"{timezone.localtime(moment):%-d %b %Y, %H:%M}" if moment else str(value)
