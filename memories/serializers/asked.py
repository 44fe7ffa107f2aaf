"""What a review asks for, in words, for the pages on which people answer it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from memories.core.content import normalised
from memories.models import Review, ReviewKind, ReviewStatus
from memories.serializers.review import asked_fields

NOT_SHOWN = frozenset({"content", "supersedes", "revive"})  # the page says them itself
NOTHING: tuple[Any, ...] = (None, "", [], {}, False)
TITLES = {"session_key": "Session", "derived_from": "Drawn from", "observed_at": "Learned at"}


@dataclass(frozen=True, slots=True)
class AskedOnPage:
    """What a page may show of a review."""

    is_withheld: bool  # the memory was forgotten: its text is not shown
    wording: str
    others: list[tuple[str, str]]
    note: str


def asked_on_page(review: Review) -> AskedOnPage:
    """Return what a page may show of what is asked.

    Of a forgotten memory nothing that may quote it: a request that still waits shows what would
    come back unless it holds the very words, one that is answered only that there was one.
    """
    fields = asked_fields(review)
    wording = str(fields.get("content") or "")
    memory = review.memory
    if memory is None or memory.forgotten_at is None:
        others = fields_in_words(review, fields)
        return AskedOnPage(is_withheld=False, wording=wording, others=others, note=review.note)
    if review.status != ReviewStatus.PENDING:
        return AskedOnPage(is_withheld=True, wording="", others=[], note="")
    if normalised(memory.content) in normalised(wording):
        wording = ""  # to bring it back in its own words
    return AskedOnPage(
        is_withheld=True, wording=wording, others=fields_in_words(review, fields), note=review.note
    )


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
