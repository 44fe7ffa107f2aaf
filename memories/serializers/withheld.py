"""Select the parts of reviews that may be shown, without quotes of forgotten or erased texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from engram.kernel.credentials import strings_in
from memories.core.content import content_hash, normalise_quote
from memories.models import Review, ReviewStatus
from memories.services.index.statement_hashes import forgotten_wordings

# Fields without free text; they are always shown.
WITHOUT_TEXT = frozenset(
    {"kind", "provenance", "confidence", "importance", "pinned", "revive", "observed_at",
     "expires_at"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class VisibleParts:
    """The parts of a review that callers and pages may show."""

    is_withheld: bool  # parts are left out, because a text was forgotten or erased
    fields: dict[str, Any]
    note: str


def requested_fields(review: Review) -> dict[str, Any]:
    """Return the requested fields of a review, by their API names.

    A restore is shown by the kind of the review, or by `revive` among other fields.
    """
    fields = dict(review.request.get("fields", {}))
    for own, public in (("is_pinned", "pinned"), ("is_revival", "revive")):
        if own in fields:
            fields[public] = fields.pop(own)
    return fields


def visible_parts(reviews: Sequence[Review]) -> dict[UUID, VisibleParts]:
    """Return the visible parts of reviews, in a constant number of queries.

    Nothing that may quote a forgotten text is shown. A pending review shows its fields unless they
    contain the forgotten text itself; a decided one shows none of them.
    """
    hashes = {review.id: _hashes_of(review) for review in reviews}
    forgotten = forgotten_wordings(frozenset[str]().union(*hashes.values())).keys()
    return {
        review.id: _visible(review, not hashes[review.id].isdisjoint(forgotten))
        for review in reviews
    }


def _hashes_of(review: Review) -> frozenset[str]:
    """Return the hashes of all texts in a review's request: any may be a whole statement."""
    return frozenset(content_hash(text) for text in strings_in(requested_fields(review)))


def _visible(review: Review, is_forgotten_wording: bool) -> VisibleParts:
    fields = requested_fields(review)
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
    texts = strings_in([fields.get("content") or "", fields.get("answers") or []])
    if is_forgotten_wording or (
        memory is not None
        and any(normalise_quote(memory.content) in normalise_quote(t) for t in texts)
    ):
        fields = {name: value for name, value in fields.items() if name in WITHOUT_TEXT}
    return VisibleParts(is_withheld=True, fields=fields, note=review.note)
