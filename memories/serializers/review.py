"""Serializers of reviews and of the body of a decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from engram.kernel.fields import Text
from memories.models import Review, ReviewKind, ReviewStatus
from memories.serializers.memory import MemorySerializer, present
from memories.serializers.withheld import visible_parts


class AskedBySerializer(serializers.Serializer[Any]):
    """The requester of a review, as in history."""

    kind = serializers.ChoiceField(["key", "user", "system"])
    label = serializers.CharField()  # type: ignore[assignment]  # the contract's word, DRF's attribute


class ReviewSerializer(serializers.Serializer[Any]):
    """One request that changes nothing until a reviewer accepts it."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(ReviewKind.choices)
    status = serializers.ChoiceField(ReviewStatus.choices)
    reason = serializers.CharField(help_text="Why a review is needed.")
    memory = MemorySerializer(
        allow_null=True,
        help_text="The memory that it is about; null for a new statement (`claim`).",
    )
    request = serializers.DictField(
        help_text="The fields of the commit or of the change; `sources` that were forgotten. Of a"
        " text that was forgotten or erased nothing that may quote it."
    )
    asked_by = AskedBySerializer()
    created_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField(allow_blank=True)
    note = serializers.CharField(allow_blank=True)
    result = serializers.UUIDField(
        allow_null=True, help_text="The memory that an accepted review wrote."
    )


class AnswerSerializer(serializers.Serializer[Any]):
    """The body of accepting or rejecting a review."""

    note = Text(max_length=1000, allow_blank=True, default="")


def present_reviews(reviews: Sequence[Review]) -> list[dict[str, Any]]:
    """Return the JSON of reviews of the current workspace."""
    about = {r.memory.id: r.memory for r in reviews if r.memory is not None}
    memories = {row["id"]: row for row in present(list(about.values()))}
    visible = visible_parts(reviews)
    return [
        {
            "id": review.id,
            "kind": review.kind,
            "status": review.status,
            "reason": review.reason,
            "memory": memories.get(str(review.memory_id)),
            "request": visible[review.id].fields
            if review.kind != ReviewKind.SOURCE_FORGOTTEN
            else {"sources": review.request["sources"]},
            "asked_by": {"kind": review.actor_kind, "label": review.actor_label},
            "created_at": review.created_at,
            "decided_at": review.decided_at,
            "decided_by": review.decided_by,
            "note": visible[review.id].note,
            "result": review.result_id,
        }
        for review in reviews
    ]
