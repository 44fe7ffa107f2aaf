"""Which wordings a person keeps apart: a rejected suggestion, or a merge that was split."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from memories.models import MergeSuggestion, SuggestionStatus


def wordings_of(a: str, b: str) -> str:
    """Name two wordings by their content hashes, whichever way round."""
    return ":".join(sorted((a, b)))


def pair_of(a: UUID, b: UUID) -> str:
    """Name two memories, whichever way round."""
    return ":".join(sorted((str(a), str(b))))


def apart_from(digest: str, others: Collection[str]) -> set[str]:
    """Return the content hashes among `others` that a person keeps apart from `digest`."""
    names = {wordings_of(digest, other): other for other in others}
    return {names[wordings] for wordings in rejected_among(names)}


def rejected_among(wordings: Collection[str]) -> set[str]:
    """Return those of the named wordings (`wordings_of`) that a person keeps apart."""
    rejected = MergeSuggestion.objects.filter(
        wordings__in=list(wordings), status=SuggestionStatus.REJECTED
    )
    return set(rejected.values_list("wordings", flat=True))
