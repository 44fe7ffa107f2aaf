"""Read and write the fields of a memory that merges, splits and rollbacks change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from memories.core.answers import Answer, as_records, from_records
from memories.core.content import content_hash
from memories.core.text import terms
from memories.models import Derivation, Memory, MemoryTag, Observation, Revision
from memories.services.index.given_answers import answers_by_memory
from memories.services.index.search_index import WordIndex
from memories.services.lifecycle.answers import answers_of, write_answers


def keep_revision(
    memory: Memory,
    reason: str,
    *,
    actor: Actor,
    now: datetime,
    answers: Sequence[Answer] | None = None,
    replaced: Mapping[str, Any] | None = None,
) -> None:
    """Store the present wording as a revision before it is replaced.

    `answers` are those that the memory has, if the caller has read them; `replaced` are further
    fields that the change replaces, stored so that it can be taken back.
    """
    Revision.objects.create(
        memory=memory,
        number=memory.revision,
        content=memory.content,
        content_hash=memory.content_hash,
        fields=revision_fields(memory, answers_of(memory) if answers is None else answers)
        | dict(replaced or {}),
        reason=reason,
        actor_label=actor.label,
        created_at=now,
    )


def revision_fields(memory: Memory, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return what a revision keeps of a memory besides its wording, JSON serialisable."""
    return {
        "scope": memory.scope,
        "project": memory.project,
        "kind": memory.kind,
        "provenance": memory.provenance,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "pinned": memory.is_pinned,
        "expires_at": memory.expires_at.isoformat() if memory.expires_at else None,
        "answers": as_records(answers),
    }


def fields_of(memory: Memory) -> dict[str, Any]:
    """Return the fields that a merge may change, JSON serialisable (see `core.merging`)."""
    return fields_by_memory([memory])[memory.id]


def fields_by_memory(memories: Collection[Memory]) -> dict[UUID, dict[str, Any]]:
    """Return the same of each memory, by as many queries as of one."""
    ids = [memory.id for memory in memories]
    tags, sources = defaultdict(list), defaultdict(list)
    for memory_id, tag in MemoryTag.objects.filter(memory__in=ids).values_list("memory_id", "tag"):
        tags[memory_id].append(tag)
    derived = Derivation.objects.filter(derived__in=ids)
    for memory_id, source in derived.values_list("derived_id", "source_id"):
        sources[memory_id].append(str(source))
    answers = answers_by_memory(ids)
    return {
        memory.id: _own_fields(memory)
        | {
            "tags": sorted(tags[memory.id]),
            "derived_from": sorted(sources[memory.id]),
            "answers": as_records(answers[memory.id]),
        }
        for memory in memories
    }


def _own_fields(memory: Memory) -> dict[str, Any]:
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
    }


def sent_fields(observation: Observation) -> dict[str, Any]:
    """Return the same fields as sent with an observation."""
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
        "answers": sent.get("answers", []),
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
    keeps: Collection[str] = (),
) -> bool:
    """Write the fields of a locked memory as a new revision; return whether its wording changed.

    The revision also has the fields `keeps` as they were. The caller writes the vectors, which were
    computed outside the transaction.
    """
    replaced = {name: before[name] for name in keeps}
    keep_revision(memory, reason, replaced=replaced, actor=actor, now=now)
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
    if before["answers"] != after["answers"]:
        write_answers(memory, from_records(after["answers"]))
    return is_reworded


def _write_tags(memory: Memory, before: set[str], after: set[str]) -> None:
    if removed := before - after:
        MemoryTag.objects.filter(memory=memory, tag__in=removed).delete()
    if new := after - before:
        MemoryTag.objects.bulk_create(MemoryTag(memory=memory, tag=tag) for tag in sorted(new))


def _write_sources(memory: Memory, before: set[str], after: set[str]) -> None:
    """Write the sources of a memory; ignore itself and memories that no longer exist."""
    if removed := before - after:
        Derivation.objects.filter(derived=memory, source__in=[UUID(i) for i in removed]).delete()
    if new := after - before - {str(memory.id)}:
        known = Memory.objects.filter(pk__in=list(new)).order_by("pk")
        Derivation.objects.bulk_create(
            Derivation(source=source, derived=memory) for source in known
        )
