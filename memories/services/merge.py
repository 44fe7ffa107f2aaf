"""Merging one statement into another: the better wording survives, nothing is lost."""

from __future__ import annotations

from datetime import datetime

from engram.kernel.actors import Actor
from engram.kernel.history import record
from memories.core.gate import Decision
from memories.core.text import terms
from memories.models import Memory, Provenance, Revision
from memories.services.draft import Draft
from memories.services.index import WordIndex


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


def merge_into(
    stored: Memory,
    draft: Draft,
    digest: str,
    decision: Decision,
    *,
    words: WordIndex,
    actor: Actor,
    now: datetime,
) -> bool:
    """Merge a draft into a locked memory; tell whether the wording changed.

    The survivor keeps the more trusted class with that statement's confidence, the higher one when
    both are of the same class.
    """
    keep_revision(stored, "merge", actor=actor, now=now)
    before = stored.content
    is_reworded = decision.survivor == "incoming"
    if is_reworded:
        stored.content = draft.content
        stored.content_hash = digest
        stored.word_count = terms(draft.content).total()
    old, new = Provenance(stored.provenance), Provenance(draft.provenance)
    if new.trust > old.trust:
        stored.provenance, stored.confidence = new, draft.stated_confidence
    elif new == old:
        stored.confidence = max(stored.confidence, draft.stated_confidence)
    stored.revision += 1
    stored.updated_at = now
    stored.save(
        update_fields=[
            "content", "content_hash", "word_count", "provenance", "confidence", "revision",
            "updated_at",
        ]
    )  # fmt: skip
    if is_reworded:
        words.reword(stored.id, before, stored.content)
    record(
        "memory.merged",
        of=("memory", stored.id),
        actor=actor,
        now=now,
        data={"revision": stored.revision, "reworded": is_reworded},
    )
    return is_reworded
