"""Split a merge: restore the merged statement as a memory and undo it in the survivor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.causes import WRITTEN_MEANWHILE
from engram.kernel.collisions import AGAIN
from engram.kernel.embedding import EmbeddingUnavailableError, embed_first_windows
from engram.kernel.history import record
from engram.kernel.ids import next_id
from engram.kernel.models import Event, Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import before_writing, in_workspace
from memories.core.answers import from_records
from memories.core.content import content_hash
from memories.core.merging import Undone, without
from memories.models import Memory, Merge, MergeSuggestion, Observation, SuggestionStatus
from memories.services.causes import SAME_STATEMENT
from memories.services.gate.split_checks import (
    later_merges,
    merge_of,
    refuse,
    statement_of,
    step_of,
    undone_by,
)
from memories.services.gate.suggestions import pair_of, reopen_accepted, wordings_of
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import live_twins, lock_statements
from memories.services.lifecycle.attached import Links
from memories.services.lifecycle.create import create
from memories.services.lifecycle.fields import fields_of, sent_fields, write_fields
from memories.services.lifecycle.states import restore_fields
from memories.services.locks import lock
from memories.services.review.trust import by_persons
from memories.signals import memories_written

COUNTERS = ("recall_count", "injected_count", "hit_count", "used_count")
SPLIT = "split"  # the reason of the survivor's revision
KEPT = ("tags", "metadata", "source", "derived_from")  # what it keeps besides, for the undo
VectorsByText = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Split:
    """Both memories after a split; `kept` are fields of the survivor changed after the merge."""

    memory: Memory
    survivor: Memory
    kept: tuple[str, ...]


def split(
    workspace: Workspace,
    memory_id: UUID,
    observation_id: UUID,
    *,
    asks_again: UUID | None = None,
    actor: Actor,
    now: datetime,
) -> Split:
    """Undo the merge of one observed statement into a memory; the gate keeps the two apart then.

    With `asks_again`, the id of the suggestion that was accepted, the two are suggested again
    instead, unless one was reworded or hidden since.
    """
    with before_writing(workspace):
        merge = merge_of(memory_id, observation_id)
        before = undone_by(merge, merge.memory).fields["content"]
        texts = sorted({before, statement_of(merge).content})
    vectors = embed(texts, workspace.embedding_model)
    try:
        with in_workspace(workspace):
            lock_statements([content_hash(text) for text in texts])
            return _split(
                workspace, memory_id, observation_id, vectors, asks_again, actor=actor, now=now
            )
    except IntegrityError:
        raise StaleError(AGAIN, cause=WRITTEN_MEANWHILE) from None


def embed(texts: Sequence[str], model: str) -> VectorsByText:
    """Embed texts, outside a transaction; on failure return no vectors: they are embedded later."""
    try:
        return dict(zip(texts, embed_first_windows(list(texts), model), strict=True))
    except EmbeddingUnavailableError:
        return {}


def _split(
    workspace: Workspace,
    memory_id: UUID,
    observation_id: UUID,
    vectors: VectorsByText,
    asks_again: UUID | None,
    *,
    actor: Actor,
    now: datetime,
) -> Split:
    """Split in one transaction.

    1. Lock both memories. 2. Restore the survivor's fields. 3. Restore or create the merged memory.
    4. Record that the two are kept apart, or suggest them again. 5. Write the word index and send
    signals last.
    """
    absorbed_id = merge_of(memory_id, observation_id).absorbed_id
    locked = {m.id: m for m in lock([memory_id, *([absorbed_id] if absorbed_id else [])])}
    merge = merge_of(memory_id, observation_id)  # again, under the lock
    survivor, absorbed = locked[memory_id], locked.get(absorbed_id) if absorbed_id else None
    refuse(merge, survivor, absorbed, actor=actor, now=now)
    words = WordIndex()
    undone = _restore_survivor(
        merge, survivor, vectors, workspace, words=words, actor=actor, now=now
    )
    statement = statement_of(merge)
    if absorbed is not None:
        memory = _bring_back(absorbed, survivor, actor=actor, now=now)
    else:
        memory = _create_separated(statement, vectors, workspace, words=words, now=now)
    Observation.objects.filter(pk=statement.pk).update(memory=memory)
    merge.split_at = now
    merge.save(update_fields=["split_at"])
    if asks_again is None or not reopen_accepted(asks_again, actor=actor, now=now):
        _keep_apart(survivor, memory, merge, actor=actor, now=now)
    _record_split(merge, survivor, memory, undone, actor=actor, now=now)
    words.write()
    memories_written.send(
        Memory,
        workspace=workspace,
        memory_ids=[survivor.id, memory.id],
        reworded=words.reworded,
        respelled=words.respelled,
        linking=words.linking,
        actor=actor,
        now=now,
    )
    return Split(memory, survivor, undone.kept)


def _restore_survivor(
    merge: Merge,
    survivor: Memory,
    vectors: VectorsByText,
    workspace: Workspace,
    *,
    words: WordIndex,
    actor: Actor,
    now: datetime,
) -> Undone:
    """Undo the merge in the survivor's fields and in the records of later merges."""
    later = later_merges(merge)
    current = fields_of(survivor)
    undone = without(step_of(merge), [step_of(row) for row in later], current)
    for row, step in zip(later, undone.later, strict=True):
        row.before, row.after = dict(step.before), dict(step.after)
        row.save(update_fields=["before", "after"])
    if write_fields(
        survivor, current, undone.fields,
        words=words, reason=SPLIT, keeps=KEPT, actor=actor, now=now,
    ):  # fmt: skip
        reindex_vectors(survivor, vectors.get(survivor.content), workspace.embedding_model)
    return undone


def _bring_back(absorbed: Memory, survivor: Memory, *, actor: Actor, now: datetime) -> Memory:
    """Restore the absorbed memory with its former counters."""
    for name in COUNTERS:
        left = getattr(survivor, name) - getattr(absorbed, name)
        setattr(survivor, name, max(left, 0))
    survivor.save(update_fields=COUNTERS)
    before = {"superseded_at": None, "superseded_by_id": None}
    restore_fields(absorbed, before, actor=actor, now=now, because={"reason": "split"})
    return absorbed


def _create_separated(
    sent: Observation,
    vectors: VectorsByText,
    workspace: Workspace,
    *,
    words: WordIndex,
    now: datetime,
) -> Memory:
    """Create the memory that the statement would have become without the merge."""
    fields = sent_fields(sent)
    scope, project = sent.fields.get("scope", ""), sent.fields.get("project", "")
    same = live_twins(sent.content_hash, scope=scope, project=project, now=now)
    if (twin := same.first()) is not None:
        raise StaleError(
            "A live memory says exactly this already.", [twin.id], cause=SAME_STATEMENT
        )
    found = vectors.get(sent.content)
    expires_at = fields["expires_at"]
    memory_id = next_id()
    memory = Memory(
        id=memory_id,
        lineage=memory_id,
        content=sent.content,
        content_hash=sent.content_hash,
        scope=scope,
        project=project,
        kind=fields["kind"],
        provenance=sent.provenance,
        confidence=sent.confidence,
        importance=fields["importance"],
        is_pinned=fields["pinned"],
        metadata=fields["metadata"],
        source=fields["source"],
        agent=sent.agent,
        session_key=sent.session_key,
        key_id=sent.key_id,
        observed_at=sent.observed_at,
        expires_at=datetime.fromisoformat(expires_at) if expires_at else None,
        created_at=now,
        updated_at=now,
    )
    known = Memory.objects.filter(pk__in=fields["derived_from"]).values_list("pk", flat=True)
    links = Links(
        sorted(set(fields["tags"])), sorted(known), answers=list(from_records(fields["answers"]))
    )
    create(memory, links, found, workspace.embedding_model, words=words)
    return memory


def _keep_apart(
    survivor: Memory, memory: Memory, merge: Merge, *, actor: Actor, now: datetime
) -> None:
    """Store a rejected suggestion for the two wordings, so that the gate keeps them apart."""
    MergeSuggestion.objects.create(
        memory=survivor,
        other=memory,
        pair=pair_of(survivor.id, memory.id),
        wordings=wordings_of(survivor.content_hash, memory.content_hash),
        similarity=merge.similarity,
        relation=merge.relation,
        reasons=merge.reasons,
        detected_by=SPLIT,
        status=SuggestionStatus.REJECTED,
        created_at=now,
        decided_at=now,
        decided_by=actor.label,
    )


def _record_split(
    merge: Merge, survivor: Memory, memory: Memory, undone: Undone, *, actor: Actor, now: datetime
) -> None:
    observation = str(merge.observation_id)
    record(
        "memory.split",
        of=("memory", survivor.id),
        actor=actor,
        now=now,
        data={
            "revision": survivor.revision,
            "into": str(memory.id),
            "merged": observation,
            "kept": list(undone.kept),
        },
    )
    if merge.absorbed_id is None:  # an absorbed memory has its own event
        data = {
            "observation": observation,
            "from": str(survivor.id),
            "said_by": _actor_kind_of(observation, survivor),
        }
        record("memory.separated", of=("memory", memory.id), actor=actor, now=now, data=data)


def _actor_kind_of(observation: str, survivor: Memory) -> str:
    """Return who committed a statement: `user` also for a reviewer's key, "" if unknown."""
    commits = Event.objects.filter(object_id=str(survivor.id), type="memory.committed")
    of_statement = commits.filter(data__observation=observation)
    if of_statement.filter(by_persons()).exists():
        return "user"
    return next(iter(of_statement.values_list("actor_kind", flat=True)), "")
