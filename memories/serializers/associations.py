"""Serializers of links between memories: those that recall walked, and those of one memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memories.core.associations import ASKED, ENTITY, MEMORY, NAMED
from memories.core.spreading import Node
from memories.serializers.memory import MemorySerializer
from memories.services.associations.list import KINDS, SHARING, MemoryLink
from memories.services.recall.recall import Association


class WalkStepSerializer(serializers.Serializer[Any]):
    """One step of a walk: a memory, an entity, a note, or the query."""

    kind = serializers.ChoiceField(["memory", "entity", "note", "query"])
    id = serializers.UUIDField(allow_null=True, help_text="Of a memory or a note; null: another.")
    name = serializers.CharField(
        allow_null=True,
        help_text="The entity, the title of the note, or what the query names; null: a memory.",
    )


class AssociationSerializer(serializers.Serializer[Any]):
    """One of the results that links led to."""

    memory = MemorySerializer()
    activation = serializers.FloatField(
        help_text="How far links lead to it beside the memory to which they lead most, in (0, 1]."
    )
    path = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="The memories of the walk, from where it started to this one; this one alone "
        "where an entity named in the query led to it.",
    )
    steps = WalkStepSerializer(
        many=True, help_text="The whole walk, with the entities and notes between the memories."
    )


def present_associations(
    associations: Sequence[Association], recalled: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the JSON of associations; `recalled` is that of the results, which they are among."""
    memories = {result["memory"]["id"]: result["memory"] for result in recalled}
    return [
        {
            "memory": memories[str(one.memory.id)],
            "activation": one.activation,
            "path": [node.key for node in one.path if node.kind == MEMORY],
            "steps": [_step(node, one.titles) for node in one.path if node.kind != NAMED],
        }
        for one in associations
    ]


def _step(node: Node, titles: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON of a step; an entity that the query names stands for the query."""
    if node.kind == ASKED:
        return {"kind": "query", "id": None, "name": node.key}
    is_entity = node.kind == ENTITY
    return {
        "kind": node.kind,
        "id": None if is_entity else node.key,
        "name": node.key if is_entity else titles.get(node.key),
    }


class OtherSerializer(serializers.Serializer[Any]):
    """Where a link leads."""

    type = serializers.ChoiceField(["memory", "note"])
    id = serializers.UUIDField()


class FurtherReasonSerializer(serializers.Serializer[Any]):
    """A further reason for a link."""

    kind = serializers.ChoiceField(SHARING)
    name = serializers.CharField(help_text="The entity or the title of the note; empty: none.")


class MemoryLinkSerializer(serializers.Serializer[MemoryLink]):
    """One link of a memory."""

    kind = serializers.ChoiceField(list(KINDS))
    other = serializers.SerializerMethodField()
    name = serializers.CharField(help_text="The entity or the title of the note; empty: none.")
    weight = serializers.FloatField(help_text="How strong the link is, in (0, 1].")
    since = serializers.DateTimeField(help_text="Since when there is the link.")
    also = serializers.SerializerMethodField(
        help_text="Further reasons for the same link: memories that share a note and an entity."
    )

    @extend_schema_field(FurtherReasonSerializer(many=True))
    def get_also(self, link: MemoryLink) -> list[dict[str, str]]:
        """Return the further reasons."""
        return [{"kind": kind, "name": name} for kind, name in link.also]

    @extend_schema_field(OtherSerializer)
    def get_other(self, link: MemoryLink) -> dict[str, Any]:
        """Return where the link leads."""
        return {"type": link.other_type, "id": str(link.other)}
