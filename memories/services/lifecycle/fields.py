"""The fields of a memory that merges, splits and rollbacks change: reading and writing them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from memories.core.content import content_hash
from memories.core.text import terms
from memories.models import Derivation, Memory, MemoryTag, Observation, Revision
from memories.services.index.search_index import WordIndex


def keep_revision(memory: Memory, reason: str, *, actor: Actor, now: datetime) -> None:
    """Keep the present wording before the next one replaces it."""
    Revision.objects.create(
        memory=memory,
        number=memory.revision,
        content=memory.content,
        content_hash=memory.content_hash,
        fields={
            "scope": memory.scope,
            "project": memory.project,
            "kind": memory.kind,
            "provenance": memory.provenance,
            "confidence": memory.confidence,
            "importance": memory.importance,
            "pinned": memory.is_pinned,
            "expires_at": memory.expires_at.isoformat() if memory.expires_at else None,
        },
        reason=reason,
        actor_label=actor.label,
        created_at=now,
    )


def fields_of(memory: Memory) -> dict[str, Any]:
    """Return what a merge may change of a memory, as JSON holds it (see `core.merging`)."""
    return {
        "content": memory.content,
        "provenance": str(memory.provenance),
        "confidence": memory.confidence,
        "importance": memory.importance,
        "kind": str(memory.kind),
        "pinned": memory.is_pinned,
        "metadata": memory.metadata,
        "source": memory.source,
        "expires_at": _moment(memory.expires_at),
        "tags": sorted(MemoryTag.objects.filter(memory=memory).values_list("tag", flat=True)),
        "derived_from": sorted(
            str(source)
            for source in Derivation.objects.filter(derived=memory).values_list(
                "source_id", flat=True
            )
        ),
    }


def fields_sent(observation: Observation) -> dict[str, Any]:
    """Return the same fields as they were sent with a statement."""
    sent = observation.fields
    expires_at = sent.get("expires_at")
    return {
        "content": observation.content,
        "provenance": str(observation.provenance),
        "confidence": observation.confidence,
        "importance": sent.get("importance", 0.5),
        "kind": sent.get("kind", "semantic"),
        "pinned": sent.get("pinned", False),
        "metadata": sent.get("metadata", {}),
        "source": sent.get("source"),
        "expires_at": _moment(datetime.fromisoformat(expires_at)) if expires_at else None,
        "tags": sorted(set(sent.get("tags", ()))),
        "derived_from": sorted(set(sent.get("derived_from", ()))),
    }


def _moment(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat() if at else None


def write_fields(
    memory: Memory,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    words: WordIndex,
    reason: str,
    actor: Actor,
    now: datetime,
) -> bool:
    """Write the fields of a locked memory as a new revision; tell whether it was reworded.

    Its vectors are the caller's to write: they were computed outside of the transaction.
    """
    keep_revision(memory, reason, actor=actor, now=now)
    memory.content = after["content"]
    memory.provenance = after["provenance"]
    memory.confidence = after["confidence"]
    memory.importance = after["importance"]
    memory.kind = after["kind"]
    memory.is_pinned = after["pinned"]
    memory.metadata = dict(after["metadata"])
    memory.source = after["source"]
    expires_at = after["expires_at"]
    memory.expires_at = datetime.fromisoformat(expires_at) if expires_at else None
    is_reworded = bool(before["content"] != after["content"])
    if is_reworded:
        memory.content_hash = content_hash(memory.content)
        memory.word_count = terms(memory.content).total()
        words.reword(memory.id, before["content"], memory.content)
    memory.revision += 1
    memory.updated_at = now
    memory.save(
        update_fields=[
            "content", "content_hash", "word_count", "provenance", "confidence", "importance",
            "kind", "is_pinned", "metadata", "source", "expires_at", "revision", "updated_at",
        ]
    )  # fmt: skip
    _write_tags(memory, set(before["tags"]), set(after["tags"]))
    _write_sources(memory, set(before["derived_from"]), set(after["derived_from"]))
    return is_reworded


def _write_tags(memory: Memory, before: set[str], after: set[str]) -> None:
    if gone := before - after:
        MemoryTag.objects.filter(memory=memory, tag__in=gone).delete()
    if new := after - before:
        MemoryTag.objects.bulk_create(MemoryTag(memory=memory, tag=tag) for tag in sorted(new))


def _write_sources(memory: Memory, before: set[str], after: set[str]) -> None:
    """Write what a memory is derived from: never itself, nor what was erased meanwhile."""
    if gone := before - after:
        Derivation.objects.filter(derived=memory, source__in=[UUID(i) for i in gone]).delete()
    if new := after - before - {str(memory.id)}:
        known = Memory.objects.filter(pk__in=list(new)).order_by("pk")
        Derivation.objects.bulk_create(
            Derivation(source=source, derived=memory) for source in known
        )
