"""Serializers of a memory and of its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memories.models import Kind, Memory, Provenance, State
from memories.services.disputes import disputes_of
from memories.services.lifecycle.attached import Links, links_of


class MemorySerializer(serializers.Serializer[Memory]):
    """Every stored field of a memory."""

    id = serializers.UUIDField()
    lineage = serializers.UUIDField()
    content = serializers.CharField()
    scope = serializers.CharField()
    project = serializers.CharField()
    kind = serializers.ChoiceField(Kind.choices)
    provenance = serializers.ChoiceField(Provenance.choices)
    confidence = serializers.FloatField()
    importance = serializers.FloatField()
    tags = serializers.SerializerMethodField()
    agent = serializers.CharField()
    session_key = serializers.CharField()
    pinned = serializers.BooleanField(source="is_pinned")
    metadata = serializers.DictField()
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    state = serializers.SerializerMethodField()
    revision = serializers.IntegerField()
    supersedes = serializers.SerializerMethodField()
    superseded_by = serializers.UUIDField(source="superseded_by_id", allow_null=True)
    derived_from = serializers.SerializerMethodField()
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
    disputed = serializers.SerializerMethodField()
    conflicts = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_tags(self, memory: Memory) -> list[str]:
        """Return the tags, sorted."""
        return self._links[memory.id].tags

    @extend_schema_field(serializers.ChoiceField(State.choices))
    def get_state(self, memory: Memory) -> str:
        """Return the strongest state that applies now."""
        return str(memory.state())

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_derived_from(self, memory: Memory) -> list[UUID]:
        """Return the ids of the memories that this one summarises."""
        return self._links[memory.id].sources

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_supersedes(self, memory: Memory) -> UUID | None:
        """Return the id of the newest memory that this one superseded."""
        return self._links[memory.id].replaced

    def get_disputed(self, memory: Memory) -> bool:
        """Return whether the memory is in an open conflict."""
        return memory.id in self._disputes

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_conflicts(self, memory: Memory) -> list[UUID]:
        """Return the ids of its open conflicts."""
        found: list[UUID] = self._disputes.get(memory.id, [])
        return found

    @property
    def _links(self) -> dict[UUID, Links]:
        links: dict[UUID, Links] = self.context["links"]
        return links

    @property
    def _disputes(self) -> dict[UUID, list[UUID]]:
        disputes: dict[UUID, list[UUID]] = self.context.get("disputes", {})
        return disputes


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
    shape = MemorySerializer(context={"links": links, "disputes": disputes_of(ids)})
    return [shape.to_representation(memory) for memory in memories]


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
