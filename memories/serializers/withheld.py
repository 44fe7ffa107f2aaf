"""What may be shown of reviews: nothing that may quote a text that was forgotten or erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from engram.kernel.credentials import strings_in
from memories.core.content import content_hash, normalise_quote
from memories.models import Review, ReviewStatus
from memories.services.index.statement_hashes import forgotten_wordings

# The fields that hold no free text: they are shown whatever was forgotten.
WITHOUT_TEXT = frozenset(
    {"kind", "provenance", "confidence", "importance", "pinned", "revive", "observed_at",
     "expires_at"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class VisibleParts:
    """The parts of a review that callers and pages may show."""

    is_withheld: bool  # something is left out, because its text was forgotten or erased
    fields: dict[str, Any]
    note: str


def asked_fields(review: Review) -> dict[str, Any]:
    """Return what a review asks for, by the names that callers know.

    That something is to come back is said by its kind, or by `revive` beside other fields.
    """
    fields = dict(review.request.get("fields", {}))
    for own, public in (("is_pinned", "pinned"), ("is_revival", "revive")):
        if own in fields:
            fields[public] = fields.pop(own)
    return fields


def visible_parts(reviews: Sequence[Review]) -> dict[UUID, VisibleParts]:
    """Return what may be shown of reviews, with the same number of queries for 1 and for 100.

    Of a forgotten text nothing that may quote it: a request that still waits shows what would come
    back unless it holds the very words, one that is answered only that there was one.
    """
    hashes = {review.id: _hashes_of(review) for review in reviews}
    forgotten = forgotten_wordings(frozenset[str]().union(*hashes.values())).keys()
    return {
        review.id: _visible(review, not hashes[review.id].isdisjoint(forgotten))
        for review in reviews
    }


def _hashes_of(review: Review) -> frozenset[str]:
    """Return the hashes of all texts that a review asks to write: any may be a whole statement."""
    return frozenset(content_hash(text) for text in strings_in(asked_fields(review)))


def _visible(review: Review, is_forgotten_wording: bool) -> VisibleParts:
    fields = asked_fields(review)
    memory = review.memory
    involved = [one for one in (memory, review.result) if one is not None]
    is_erased = review.status == ReviewStatus.ACCEPTED and not involved
    is_withheld = (
        is_forgotten_wording or is_erased or any(one.forgotten_at is not None for one in involved)
    )
    if not is_withheld:
        return VisibleParts(is_withheld=False, fields=fields, note=review.note)
    if review.status != ReviewStatus.PENDING:
        return VisibleParts(is_withheld=True, fields={}, note="")
    wording = normalise_quote(str(fields.get("content") or ""))
    if is_forgotten_wording or (memory is not None and normalise_quote(memory.content) in wording):
        fields = {name: value for name, value in fields.items() if name in WITHOUT_TEXT}
    return VisibleParts(is_withheld=True, fields=fields, note=review.note)
