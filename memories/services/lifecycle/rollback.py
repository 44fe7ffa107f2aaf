"""Roll back what a writer wrote since a time, and undo a rollback."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.causes import NOT_ALLOWED, WRITTEN_MEANWHILE
from engram.kernel.collisions import AGAIN
from engram.kernel.history import record
from engram.kernel.models import Event, Role, Workspace
from engram.kernel.refusals import ForbiddenError, MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer, from_records
from memories.core.content import content_hash
from memories.core.text import terms
from memories.models import Memory, Merge, Observation, State
from memories.services.index.given_answers import answers_by_memory
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import lock_statements
from memories.services.lifecycle.answers import write_all_answers
from memories.services.lifecycle.fields import keep_revision
from memories.services.lifecycle.forget import Restored, restore
from memories.services.lifecycle.model_answers import note_restored
from memories.services.lifecycle.rollback_answers import take_out
from memories.services.lifecycle.rollback_plan import (
    Kept,
    Outcomes,
    Wording,
    Writer,
    answers_to_take_out,
    changes_from,
    find_outcomes,
    rests_of_others,
    superseded_by,
    wordings_to_restore,
)
from memories.services.lifecycle.states import hide, restore_fields
from memories.services.lifecycle.withdraw import is_wording_taken, wordings, write_remainder
from memories.services.locks import lock
from memories.signals import memories_written


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What a rollback did."""

    id: UUID
    forgotten: int
    brought_back: int
    reworded: int
    taken_out: int
    kept: list[Kept]


def roll_back(
    workspace: Workspace, writer: Writer, since: datetime, *, actor: Actor, now: datetime
) -> RolledBack:
    """Remove what the writer stated since; memories that nobody else stated are forgotten.

    1. Forget them. 2. Restore wordings that the writer changed in place, unless they were changed
    later. 3. Reduce memories that others stated too to the others' statements; undo the writer's
    merges into memories of others. 4. Restore the memories that the writer's memories superseded.
    """
    try:
        with in_workspace(workspace):
            return _roll_back(workspace, writer, since, actor=actor, now=now)
    except IntegrityError:
        raise StaleError(AGAIN, cause=WRITTEN_MEANWHILE) from None


def _roll_back(
    workspace: Workspace, writer: Writer, since: datetime, *, actor: Actor, now: datetime
) -> RolledBack:
    rollback_id = uuid4()
    because = {"rollback": str(rollback_id)}
    replaced, changed = _lock_all(writer, since)
    locked = {memory.id: memory for memory in lock(changed)}
    outcomes = find_outcomes(writer, since, locked)  # read again under the locks
    still = superseded_by(outcomes, writer, since).filter(pk__in=replaced)
    replaced = list(still.values_list("pk", flat=True))
    _release_absorbed(outcomes, replaced, now)
    to_hide = [locked[i] for i in outcomes.forgotten]
    forgotten = hide(to_hide, "forgotten_at", actor=actor, now=now, because=because)
    words = WordIndex()
    reworded = _reword(
        workspace, wordings_to_restore(writer, since), locked,
        words=words, actor=actor, now=now, because=because,
    )  # fmt: skip
    rests = [r for r in rests_of_others(outcomes, writer, since) if r.memory.id in locked]
    for rest in (*outcomes.shared, *rests):
        write_remainder(
            rest, workspace.embedding_model, words=words, actor=actor, now=now, because=because
        )
    reworded |= {rest.memory.id for rest in (*outcomes.shared, *rests) if rest.is_reworded}
    added = answers_to_take_out(outcomes, writer, since)
    others = lock(added.keys() & locked.keys())  # as the steps before left them
    reworded |= take_out(added, others, actor=actor, now=now, because=because)
    back = _bring_back(
        lock(replaced), outcomes.undone, actor=actor, now=now, because=because
    )  # fmt: skip
    done = RolledBack(
        rollback_id,
        len(forgotten),
        back,
        len(reworded),
        sum(len(r.removed) for r in rests),
        outcomes.kept_memories,
    )
    record(
        "writer.rolled_back",
        of=("rollback", rollback_id),
        actor=actor,
        now=now,
        data={
            "since": since.isoformat(),
            "key": str(writer.key_id) if writer.key_id else None,
            "forgotten": done.forgotten,
            "brought_back": done.brought_back,
            "reworded": done.reworded,
            "taken_out": done.taken_out,
            "kept": len(done.kept),
        },
    )
    words.write()
    if reworded:
        memories_written.send(
            Memory,
            workspace=workspace,
            memory_ids=sorted(reworded),
            reworded=words.reworded,
            respelled=words.respelled,
            linking=words.linking,
            actor=actor,
            now=now,
        )
    return done


def _lock_all(writer: Writer, since: datetime) -> tuple[list[UUID], set[UUID]]:
    """Lock the statements of a rollback; return the superseded memories and all to lock."""
    outcomes = find_outcomes(writer, since)
    rests = [*outcomes.shared, *rests_of_others(outcomes, writer, since)]
    changes = wordings_to_restore(writer, since)
    replaced = list(superseded_by(outcomes, writer, since).values_list("pk", flat=True))
    lock_statements(_hashes(replaced, changes) | wordings(rests))
    others = {*(wording.memory_id for wording in changes), *(rest.memory.id for rest in rests)}
    others |= answers_to_take_out(outcomes, writer, since).keys()
    return replaced, {*outcomes.undone, *outcomes.spared, *replaced, *others}


def _hashes(replaced: Sequence[UUID], wordings: Sequence[Wording]) -> set[str]:
    hashes = Memory.objects.filter(pk__in=replaced).values_list("content_hash", flat=True)
    return {*hashes, *(content_hash(wording.before.content) for wording in wordings)}


def _release_absorbed(outcomes: Outcomes, replaced: Collection[UUID], now: datetime) -> None:
    """Restore memories of others that accepted merges absorbed into the writer's."""
    merges = Merge.objects.filter(
        memory__in=outcomes.undone, absorbed__in=replaced, split_at=None
    ).order_by("pk")
    for merge in merges:
        Observation.objects.filter(merges=merge).update(memory=merge.absorbed_id)
        merge.split_at = now
        merge.save(update_fields=["split_at"])


def _bring_back(
    replaced: Sequence[Memory],
    undone: Collection[UUID],
    *,
    actor: Actor,
    now: datetime,
    because: dict[str, Any],
) -> int:
    """Restore superseded memories, unless the same statement was committed again."""
    back = 0
    for memory in replaced:
        live = Memory.objects.recallable(now).filter(
            content_hash=memory.content_hash, scope=memory.scope, project=memory.project
        )
        if memory.superseded_by_id is None or live.exists():
            continue
        restore_fields(
            memory,
            {"superseded_at": None, "superseded_by_id": None},
            actor=actor,
            now=now,
            because={
                **because,
                "was_by": str(memory.superseded_by_id),
                "by_word": memory.superseded_by_id not in undone,
            },
        )
        back += 1
    return back


def _reword(
    workspace: Workspace,
    wordings: Sequence[Wording],
    locked: dict[UUID, Memory],
    *,
    words: WordIndex,
    actor: Actor,
    now: datetime,
    because: dict[str, Any],
) -> set[UUID]:
    """Restore former wordings and answers; words are indexed at once, vectors later."""
    done: set[UUID] = set()
    present = answers_by_memory([wording.memory_id for wording in wordings])
    told: list[tuple[Memory, Sequence[Answer]]] = []
    numbers = {}
    for wording in wordings:
        memory = locked.get(wording.memory_id)
        if memory is None or memory.revision != wording.revision:
            continue
        before, kept = memory.content, wording.before
        changes = changes_from(kept, memory, present[memory.id])
        if "content" in changes and is_wording_taken(memory, kept.content):
            continue
        keep_revision(memory, "rollback", answers=present[memory.id], actor=actor, now=now)
        told.append((memory, from_records(kept.fields.get("answers", ()))))
        if "answers" in changes:
            numbers[memory.id] = kept.number
        memory.content, memory.content_hash = kept.content, content_hash(kept.content)
        memory.word_count = terms(kept.content).total()
        memory.provenance = kept.fields.get("provenance", memory.provenance)
        memory.confidence = kept.fields.get("confidence", memory.confidence)
        memory.revision += 1
        memory.updated_at = now
        memory.save()
        if "content" in changes:
            reindex_vectors(memory, None, workspace.embedding_model)
            words.reword(memory.id, before, memory.content)
        record(
            "memory.revised",
            of=("memory", memory.id),
            actor=actor,
            now=now,
            data={"revision": memory.revision, "fields": changes, **because},
        )
        done.add(memory.id)
    write_all_answers(told)
    note_restored(numbers)
    return done


def undo(workspace: Workspace, rollback_id: UUID, *, actor: Actor, now: datetime) -> Restored:
    """Undo a rollback: restore what it forgot, supersede again what it restored.

    Needs the role admin, as the rollback does.
    """
    if not actor.role.includes(Role.ADMIN):
        raise ForbiddenError("Undoing a rollback needs the role admin.", cause=NOT_ALLOWED)
    with in_workspace(workspace):
        rollbacks = Event.objects.filter(object_id=str(rollback_id), type="writer.rolled_back")
        rolled_back = rollbacks.first()
        if rolled_back is None:
            raise MissingError("There is no such rollback.")
        of_it = Event.objects.filter(at=rolled_back.at, data__rollback=str(rollback_id))
        ids = [UUID(i) for i in _objects(of_it, "memory.forgotten")]
        replaced = [UUID(i) for i in _objects(of_it, "memory.restored")]
        restored = restore(workspace, ids, actor=actor, now=now)
        events = {UUID(e.object_id): e.data for e in of_it.filter(type="memory.restored")}
        successors = {pk: UUID(data["was_by"]) for pk, data in events.items()}
        by_word = {successors[pk] for pk, data in events.items() if data.get("by_word")}
        present = {memory.id: memory for memory in restored.memories}
        locked = lock({*replaced, *by_word})  # in the order of ids
        present |= {m.id: m for m in locked if m.id in by_word and m.state(now) == State.ACTIVE}
        for memory in [memory for memory in locked if memory.id in events]:
            successor = present.get(successors[memory.id])
            if successor is not None and memory.state(now) == State.ACTIVE:
                hide(
                    [memory], "superseded_at", actor=actor, now=now, successor=successor,
                    because={"undone": str(rollback_id)},
                )  # fmt: skip
        return restored


def _objects(events: Any, type_: str) -> Sequence[str]:
    return list(events.filter(type=type_).values_list("object_id", flat=True))
