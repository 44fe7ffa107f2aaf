"""Serializers of a memory and of its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from engram.kernel.answers import to_json
from memories.core.answer_sources import sources_of
from memories.models import Kind, Memory, Provenance, State
from memories.serializers.answers import ShownAnswerSerializer
from memories.services.disputes import disputes_of
from memories.services.lifecycle.attached import Links, links_of


class MemorySerializer(serializers.Serializer[Memory]):
    """Every stored field of a memory, as `present` returns it."""

    id = serializers.UUIDField()
    lineage = serializers.UUIDField()
    content = serializers.CharField()
    scope = serializers.CharField()
    project = serializers.CharField()
    kind = serializers.ChoiceField(Kind.choices)
    provenance = serializers.ChoiceField(Provenance.choices)
    confidence = serializers.FloatField()
    importance = serializers.FloatField()
    tags = serializers.ListField(child=serializers.CharField(), read_only=True)
    agent = serializers.CharField()
    session_key = serializers.CharField()
    pinned = serializers.BooleanField(source="is_pinned")
    metadata = serializers.DictField()
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    state = serializers.ChoiceField(State.choices, read_only=True)
    revision = serializers.IntegerField()
    supersedes = serializers.UUIDField(allow_null=True, read_only=True)
    superseded_by = serializers.UUIDField(source="superseded_by_id", allow_null=True)
    derived_from = serializers.ListField(child=serializers.UUIDField(), read_only=True)
    answers = ShownAnswerSerializer(
        many=True,
        read_only=True,
        help_text="What it answers; with the answers of repetitions and merged statements.",
    )
    observed_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    forgotten_at = serializers.DateTimeField(allow_null=True)
    recall_count = serializers.IntegerField()
    injected_count = serializers.IntegerField()
    hit_count = serializers.IntegerField()
    used_count = serializers.IntegerField()
    last_recalled_at = serializers.DateTimeField(allow_null=True)
    embedding_pending = serializers.BooleanField(
        source="is_embedding_due",
        help_text="True while a part of the text, or all of it, is found by its words alone: its "
        "meaning is read in the background.",
    )
    disputed = serializers.BooleanField(read_only=True)
    conflicts = serializers.ListField(child=serializers.UUIDField(), read_only=True)


def present(
    memories: Sequence[Memory], *, fresh: Mapping[UUID, Links] | None = None
) -> list[dict[str, Any]]:
    """Return the JSON of memories, in a constant number of queries.

    `fresh` are the links of memories written in this request; they need no query.
    """
    fresh = fresh or {}
    ids = [memory.id for memory in memories if memory.id not in fresh]
    links = links_of(ids)
    links.update(fresh)
    disputes = disputes_of(ids)
    now = timezone.now()
    return [_present(m, links[m.id], disputes.get(m.id, []), now) for m in memories]


def _present(memory: Memory, links: Links, conflicts: list[UUID], now: datetime) -> dict[str, Any]:
    """Return the JSON of one memory; a serializer takes ten times as long."""
    return {
        "id": str(memory.id),
        "lineage": str(memory.lineage),
        "content": memory.content,
        "scope": memory.scope,
        "project": memory.project,
        "kind": memory.kind,
        "provenance": memory.provenance,
        "confidence": float(memory.confidence),
        "importance": float(memory.importance),
        "tags": links.tags,
        "agent": memory.agent,
        "session_key": memory.session_key,
        "pinned": memory.is_pinned,
        "metadata": memory.metadata,
        "source": memory.source,
        "state": str(memory.state(now)),
        "revision": memory.revision,
        "supersedes": links.replaced,
        "superseded_by": None if memory.superseded_by_id is None else str(memory.superseded_by_id),
        "derived_from": links.sources,
        "answers": present_answers(memory.content, links),
        "observed_at": to_json(memory.observed_at),
        "expires_at": to_json(memory.expires_at),
        "created_at": to_json(memory.created_at),
        "updated_at": to_json(memory.updated_at),
        "forgotten_at": to_json(memory.forgotten_at),
        "recall_count": memory.recall_count,
        "injected_count": memory.injected_count,
        "hit_count": memory.hit_count,
        "used_count": memory.used_count,
        "last_recalled_at": to_json(memory.last_recalled_at),
        "embedding_pending": memory.is_embedding_due,
        "disputed": bool(conflicts),
        "conflicts": conflicts,
    }


def present_answers(content: str, links: Links) -> list[dict[str, Any]]:
    """Return the JSON of what a memory answers."""
    sources = sources_of(
        links.answers, content, model_digest=links.model_digest, is_set=links.has_set_answers
    )
    return [
        answer.as_record() | {"source": source}
        for answer, source in zip(links.answers, sources, strict=True)
    ]


def present_one(memory: Memory) -> dict[str, Any]:
    """Return the JSON of one memory."""
    return present([memory])[0]


class HistoryEntrySerializer(serializers.Serializer[Any]):
    """One event of a memory, with the wording that it refers to, if any."""

    seq = serializers.IntegerField()
    type = serializers.CharField()
    at = serializers.DateTimeField()
    actor = serializers.CharField(source="actor_label")
    session_key = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment]
    content = serializers.CharField(
        allow_null=True, help_text="The wording that was sent, or the one before a change."
    )
