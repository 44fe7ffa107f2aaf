"""Present the requests of reviews in words, for the pages on which people decide them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from engram.kernel.literals import moment
from memories.core.answers import Answer, from_records
from memories.core.shares import percent
from memories.models import Kind, Provenance, Review, ReviewKind
from memories.serializers.withheld import visible_parts

NOT_SHOWN = frozenset({"content", "supersedes", "revive"})  # shown elsewhere on the page
NOTHING: tuple[Any, ...] = (None, "", [], {}, False)
UNREADABLE = 1e15  # numbers from here on are shown with an exponent
CHOICES = {"kind": Kind, "provenance": Provenance}
SHARES = frozenset({"confidence", "importance"})  # 0 to 1
TITLES = {"session_key": "Session", "derived_from": "Drawn from", "observed_at": "Learned at"}


@dataclass(frozen=True, slots=True)
class ReviewOnPage:
    """The parts of a review that a page may show."""

    is_withheld: bool  # its text was forgotten or erased; anything that may quote it is hidden
    wording: str
    others: list[tuple[str, str]]
    note: str
    scope: str  # of the requested commit


def review_on_page(review: Review) -> ReviewOnPage:
    """Return the parts of one review that a page may show."""
    return reviews_on_pages([review])[review.id]


def reviews_on_pages(reviews: Sequence[Review]) -> dict[UUID, ReviewOnPage]:
    """Return the parts of reviews that pages may show, in a constant number of queries."""
    visible = visible_parts(reviews)
    return {
        review.id: ReviewOnPage(
            is_withheld=(parts := visible[review.id]).is_withheld,
            wording=str(parts.fields.get("content") or ""),
            others=fields_in_words(review, parts.fields),
            note=parts.note,
            scope=str(parts.fields.get("scope") or ""),
        )
        for review in reviews
    }


def fields_in_words(review: Review, fields: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the requested fields in words; of a commit only those that are not empty."""
    return [
        (field_title(name), value_in_words(name, value))
        for name, value in fields.items()
        if name not in NOT_SHOWN and (value not in NOTHING or review.kind == ReviewKind.REVISE)
    ]


def field_title(name: str) -> str:
    """Return what pages call a field of the API."""
    return TITLES.get(name, name.replace("_", " ").capitalize())


def value_in_words(name: str, value: Any) -> str:
    """Return the value of a field of the API as pages show it."""
    if name == "answers" and value and isinstance(value, list):
        return "; ".join(map(_answer_in_words, from_records(value)))
    choices = CHOICES.get(name)
    if choices is not None and value in choices.values:
        return str(choices(value).label)
    if name in SHARES and isinstance(value, (int, float)) and 0 <= value <= 1:
        return percent(value)
    return _free_in_words(name, value)


def _free_in_words(name: str, value: Any) -> str:
    """Return a value in words; metadata have any names and values."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in NOTHING:
        return "–"
    if isinstance(value, (dict, list)):
        return ", ".join(_parts_in_words(value))
    if isinstance(value, float):
        return _number_in_words(value)
    if name.endswith("_at") or name == "until":
        return _moment_in_words(str(value))
    return str(value)


def _number_in_words(value: float) -> str:
    """Return a number with at most four places, or as many digits if it is below one."""
    if 1 <= abs(value) < UNREADABLE:
        return f"{value:,.4f}".rstrip("0").rstrip(".")
    return f"{value:.4g}"


def _parts_in_words(value: dict[str, Any] | list[Any]) -> list[str]:
    if isinstance(value, list):
        return [_free_in_words("", one) for one in value]
    return [f"{name.replace('_', ' ')}: {_free_in_words(name, one)}" for name, one in value.items()]


def _moment_in_words(text: str) -> str:
    """Return a time as pages show it, and what is none as it is."""
    try:
        return f"{timezone.localtime(moment(text)):%-d %b %Y, %H:%M}"
    except (ValueError, OverflowError):
        return text


def _answer_in_words(answer: Answer) -> str:
    was = f" (was: {answer.was})" if answer.was else ""
    return f"{answer.question} {answer.answer}{was}"
