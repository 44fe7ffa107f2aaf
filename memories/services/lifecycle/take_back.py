"""Take back the last revision of a memory, by a further one with the fields of the one before."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE, NOTHING_TO_UNDO
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.answers import as_records, from_records
from memories.core.typed_answers import typed_answers
from memories.models import Memory, MemoryTag, Review, Revision
from memories.services.lifecycle.answers import answers_of
from memories.services.lifecycle.revise import revise

REVISED = "revise"  # the reason of revisions by people and keys; merges are split instead
_FIELDS = ("scope", "project", "kind", "confidence", "importance")
NOT_LAST = "It was changed again since; only the last change can be undone."


def take_back(
    workspace: Workspace, memory_id: UUID, revision: int, *, actor: Actor, now: datetime
) -> Memory | Review:
    """Restore the fields that `revision` changed, or return the review that this needs.

    Raise `StaleError` unless it is the memory's last revision, and a person or key made it.
    """
    with in_workspace(workspace):
        memory = Memory.objects.filter(pk=memory_id, forgotten_at=None).first()
        if memory is None:
            raise MissingError("There is no such memory.")
        kept = revisions_to_take_back([memory]).get(memory_id)
        if memory.revision != revision or kept is None:
            raise StaleError(NOT_LAST, [memory_id], cause=CHANGED_MEANWHILE)
        changes = _former_fields(memory, kept)
    if not changes:
        raise StaleError(
            "There is nothing to take back: it changed no field that is kept.",
            cause=NOTHING_TO_UNDO,
        )
    return revise(workspace, memory_id, changes, revision=revision, actor=actor, now=now)


def revisions_to_take_back(memories: Collection[Memory]) -> dict[UUID, Revision]:
    """Return, by memory, the wording before its last revision where that can be taken back."""
    numbers = {memory.id: memory.revision - 1 for memory in memories}
    rows = Revision.objects.filter(
        memory__in=numbers, number__in=set(numbers.values()), reason=REVISED
    )
    return {row.memory_id: row for row in rows if row.number == numbers[row.memory_id]}


def _former_fields(memory: Memory, kept: Revision) -> dict[str, Any]:
    """Return the changes that lead back to the fields of a revision."""
    fields: Mapping[str, Any] = kept.fields
    before: dict[str, Any] = {name: fields[name] for name in _FIELDS if name in fields}
    before["content"] = kept.content
    before["is_pinned"] = fields.get("pinned", memory.is_pinned)
    expires_at = fields.get("expires_at")
    before["expires_at"] = datetime.fromisoformat(expires_at) if expires_at else None
    changes = {name: value for name, value in before.items() if value != getattr(memory, name)}
    if "tags" in fields:
        tags = MemoryTag.objects.filter(memory=memory).values_list("tag", flat=True)
        if sorted(tags) != sorted(fields["tags"]):
            changes["tags"] = list(fields["tags"])
    answers = fields.get("answers", [])
    is_read_by_rule = "content" in changes and answers == as_records(typed_answers(kept.content))
    if answers != as_records(answers_of(memory)) and not is_read_by_rule:
        changes["answers"] = from_records(answers)
    return changes
