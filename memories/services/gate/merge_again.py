"""Undo a split: the two are one memory again, with the fields that it had before the split."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.causes import (
    CHANGED_MEANWHILE,
    NOT_UNDONE_HERE,
    NOTHING_TO_UNDO,
    WRITTEN_MEANWHILE,
)
from engram.kernel.collisions import AGAIN
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import before_writing, in_workspace
from memories.core.content import content_hash
from memories.core.merging import with_again
from memories.models import Memory, Merge, MergeSuggestion, Observation, Revision, State
from memories.services.causes import SAME_STATEMENT
from memories.services.gate.answer_suggestion import add_counters, demand_no_conflict
from memories.services.gate.split import KEPT, SPLIT, VectorsByText, embed
from memories.services.gate.split_checks import later_merges, statement_of, step_of
from memories.services.gate.suggestions import pair_of
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import COMMITTED_AGAIN, live_twins, lock_statements
from memories.services.lifecycle.fields import fields_of, write_fields
from memories.services.lifecycle.states import hide
from memories.services.locks import lock
from memories.signals import memories_written

CHANGED = "One of the two was changed, hidden or committed again since; they stay apart."
OLDER = "This was taken apart by an earlier release, which kept too little to undo it."


def merge_again(workspace: Workspace, merge_id: UUID, *, actor: Actor, now: datetime) -> Merge:
    """Undo the split of a merge; raise `StaleError` if one of the two has changed since.

    The memory that was split off is hidden as one that the survivor absorbed, so that a later split
    brings it back.
    """
    with before_writing(workspace):
        merge = _split_merge(merge_id)
        former = _fields_before(merge)["content"]
        texts = {former, merge.memory.content, statement_of(merge).memory.content}
    vectors = embed([former], workspace.embedding_model)
    try:
        with in_workspace(workspace):
            lock_statements(content_hash(text) for text in texts)
            return _merge_again(workspace, merge_id, vectors, actor=actor, now=now)
    except IntegrityError:
        raise StaleError(AGAIN, cause=WRITTEN_MEANWHILE) from None


def _split_merge(merge_id: UUID) -> Merge:
    """Return a merge that is split, with both memories."""
    merges = Merge.objects.select_related("memory", "observation__memory")
    merge = merges.filter(pk=merge_id).first()
    if merge is None:
        raise MissingError("There is no such merge.")
    if merge.split_at is None:
        raise StaleError("That merge is not taken apart.", cause=NOTHING_TO_UNDO)
    return merge


def _fields_before(merge: Merge) -> dict[str, Any]:
    """Return the survivor's fields before the split, which was its last change."""
    survivor = merge.memory
    kept = Revision.objects.filter(memory=survivor, number=survivor.revision - 1).first()
    if kept is None or kept.reason != SPLIT or survivor.updated_at != merge.split_at:
        raise StaleError(CHANGED, [survivor.id], cause=CHANGED_MEANWHILE)
    if any(name not in kept.fields for name in KEPT):
        raise StaleError(OLDER, [survivor.id], cause=NOT_UNDONE_HERE)
    return {"content": kept.content, **kept.fields}


def _merge_again(
    workspace: Workspace,
    merge_id: UUID,
    vectors: VectorsByText,
    *,
    actor: Actor,
    now: datetime,
) -> Merge:
    """Merge again in one transaction.

    1. Lock both memories. 2. Delete what keeps the two apart. 3. Hide the one that was split off.
    4. Restore the survivor's fields and the records of later merges. 5. Write the word index and
    send the signal last.
    """
    merge = _split_merge(merge_id)
    locked = {m.id: m for m in lock([merge.memory_id, statement_of(merge).memory_id])}
    merge = _split_merge(merge_id)  # again, under the lock
    statement = statement_of(merge)
    survivor, memory = locked[merge.memory_id], locked[statement.memory_id]
    fields = _fields_before(merge)
    _refuse(merge, survivor, memory, fields["content"], now)
    pair = MergeSuggestion.objects.filter(pair=pair_of(survivor.id, memory.id))
    pair.filter(detected_by=SPLIT, created_at=memory.updated_at).delete()  # the time of the split
    because = {"reason": "merge", "undo": True}
    hide(
        [memory], "superseded_at",
        actor=actor, now=now, successor=survivor, because=because, since=merge.created_at,
    )  # fmt: skip
    words = WordIndex()
    is_reworded = _restore_survivor(merge, survivor, fields, words=words, actor=actor, now=now)
    if is_reworded:
        reindex_vectors(survivor, vectors.get(survivor.content), workspace.embedding_model)
    add_counters(survivor, memory)
    Observation.objects.filter(pk=statement.pk).update(memory=survivor)
    merge.split_at, merge.absorbed = None, memory
    merge.save(update_fields=["split_at", "absorbed"])
    data = {
        "revision": survivor.revision,
        "reworded": is_reworded,
        "merged": str(statement.pk),
        "absorbed": str(memory.id),
        "undo": True,
    }
    record("memory.merged", of=("memory", survivor.id), actor=actor, now=now, data=data)
    words.write()
    memories_written.send(
        Memory,
        workspace=workspace,
        memory_ids=[survivor.id],
        reworded=words.reworded,
        respelled=words.respelled,
        linking=words.linking,
        actor=actor,
        now=now,
    )
    return merge


def _refuse(merge: Merge, survivor: Memory, memory: Memory, former: str, now: datetime) -> None:
    """Refuse to merge again what has changed since the split."""
    both = [survivor.id, memory.id]
    is_live = {survivor.state(now), memory.state(now)} <= {State.ACTIVE, State.EXPIRED}
    seen_since = Observation.objects.filter(memory=memory, created_at__gt=memory.updated_at)
    if memory.updated_at != merge.split_at or not is_live or seen_since.exists():
        raise StaleError(CHANGED, both, cause=CHANGED_MEANWHILE)
    demand_no_conflict(*both)
    digest, scope, project = content_hash(former), survivor.scope, survivor.project
    twins = live_twins(digest, scope=scope, project=project, now=now).exclude(pk__in=both)
    if (twin := twins.first()) is not None:
        raise StaleError(COMMITTED_AGAIN, [twin.id], cause=SAME_STATEMENT)


def _restore_survivor(
    merge: Merge,
    survivor: Memory,
    fields: dict[str, Any],
    *,
    words: WordIndex,
    actor: Actor,
    now: datetime,
) -> bool:
    """Write the survivor's former fields and the records of later merges; return if it is reworded.

    The former fields are as they were stored; only the records of later merges are replayed.
    """
    later, current = later_merges(merge), fields_of(survivor)
    again = with_again(step_of(merge), [step_of(row) for row in later], current)
    for row, step in zip(later, again.later, strict=True):
        row.before, row.after = dict(step.before), dict(step.after)
        row.save(update_fields=["before", "after"])
    former = {name: fields[name] for name in current}
    return write_fields(
        survivor, current, former, words=words, reason="merge", actor=actor, now=now
    )
