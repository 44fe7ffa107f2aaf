"""Roll back what a writer wrote since a time: preview, roll back, undo."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
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
from memories.core.content import content_hash
from memories.core.text import terms
from memories.models import Memory, MemoryQuerySet, Merge, Observation, Revision, State
from memories.models.memory import LIVE
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import lock_statements
from memories.services.lifecycle.fields import keep_revision
from memories.services.lifecycle.forget import Restored, restore
from memories.services.lifecycle.states import hide, restore_fields
from memories.services.lifecycle.withdraw import (
    Remainder,
    changed_by_others,
    is_wording_taken,
    merges_of,
    observations_of_others,
    remainder_of_others,
    remainder_of_own,
    wordings,
    write_remainder,
)
from memories.services.locks import lock
from memories.signals import memories_written

SHOWN_MAX = 100
ALSO_STATED = "Others stated it too: it holds what they said, and is theirs."
REWORDED = "Somebody else reworded it since: look at its history."


@dataclass(frozen=True, slots=True)
class Writer:
    """The writer to roll back; all given names must match."""

    agent: str = ""
    session_key: str = ""
    key_id: UUID | None = None

    @property
    def names(self) -> dict[str, Any]:
        """Return the given names by the field names of memories and observations."""
        named = {"agent": self.agent, "session_key": self.session_key, "key_id": self.key_id}
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory of the writer that is not forgotten, and the reason."""

    id: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """What a rollback would do."""

    newest: list[Memory]
    total: int
    superseded: int
    reworded: int
    taken_out: int
    kept: list[Kept]


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What a rollback did."""

    id: UUID
    forgotten: int
    brought_back: int
    reworded: int
    taken_out: int
    kept: list[Kept]


@dataclass(frozen=True, slots=True)
class _Wording:
    """A memory of another writer that this writer reworded in place, with its former wording."""

    memory_id: UUID
    revision: int
    before: Revision = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """The outcomes of a rollback for the memories of a writer.

    `shared` were stated by others too and stay with their statements; `spared` were reworded by
    others and do not change.
    """

    forgotten: list[UUID]
    shared: list[Remainder]
    spared: list[UUID]

    @property
    def undone(self) -> list[UUID]:
        """Return the memories that supersede nothing after the rollback."""
        return [*self.forgotten, *(rest.memory.id for rest in self.shared)]

    @property
    def kept(self) -> list[Kept]:
        """Return the memories that are not forgotten, with the reason."""
        shared = [Kept(rest.memory.id, ALSO_STATED) for rest in self.shared]
        return shared + [Kept(memory_id, REWORDED) for memory_id in self.spared]


def preview(workspace: Workspace, writer: Writer, since: datetime) -> RollbackPlan:
    """Return what `roll_back` would do, without writing."""
    with in_workspace(workspace):
        written = _created_by(writer, since)
        outcomes = _find_outcomes(writer, since)
        kept = outcomes.kept
        reworded = {wording.memory_id for wording in _wordings_to_restore(writer, since)}
        rests = _rests_of_others(outcomes, writer, since)
        reworded |= {r.memory.id for r in (*rests, *outcomes.shared) if r.is_reworded}
        return RollbackPlan(
            newest=list(written.exclude(pk__in=[one.id for one in kept])[:SHOWN_MAX]),
            total=len(outcomes.forgotten),
            superseded=_superseded_by(outcomes).count(),
            reworded=len(reworded),
            taken_out=sum(len(rest.removed) for rest in rests),
            kept=kept,
        )


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
    outcomes = _find_outcomes(writer, since, locked)  # read again under the locks
    _release_absorbed(outcomes, replaced, now)
    to_hide = [locked[i] for i in outcomes.forgotten]
    forgotten = hide(to_hide, "forgotten_at", actor=actor, now=now, because=because)
    words = WordIndex()
    reworded = _reword(
        workspace, _wordings_to_restore(writer, since), locked,
        words=words, actor=actor, now=now, because=because,
    )  # fmt: skip
    rests = [r for r in _rests_of_others(outcomes, writer, since) if r.memory.id in locked]
    for rest in (*outcomes.shared, *rests):
        write_remainder(
            rest, workspace.embedding_model, words=words, actor=actor, now=now, because=because
        )
    reworded |= {rest.memory.id for rest in (*outcomes.shared, *rests) if rest.is_reworded}
    back = _bring_back(lock(replaced), actor=actor, now=now, because=because)
    done = RolledBack(
        rollback_id,
        len(forgotten),
        back,
        len(reworded),
        sum(len(r.removed) for r in rests),
        outcomes.kept,
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
        memories_written.send(Memory, workspace=workspace, memory_ids=sorted(reworded), now=now)
    return done


def _lock_all(writer: Writer, since: datetime) -> tuple[list[UUID], set[UUID]]:
    """Lock the statements of a rollback; return the superseded memories and all to lock."""
    outcomes = _find_outcomes(writer, since)
    rests = [*outcomes.shared, *_rests_of_others(outcomes, writer, since)]
    changes = _wordings_to_restore(writer, since)
    replaced = list(_superseded_by(outcomes).values_list("pk", flat=True))
    lock_statements(_hashes(replaced, changes) | wordings(rests))
    others = {*(wording.memory_id for wording in changes), *(rest.memory.id for rest in rests)}
    return replaced, {*outcomes.undone, *outcomes.spared, *replaced, *others}


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
        successors = {e.object_id: e.data["was_by"] for e in of_it.filter(type="memory.restored")}
        came_back = {memory.id: memory for memory in restored.memories}
        for memory in lock(replaced):
            successor = came_back.get(UUID(successors[str(memory.id)]))
            if successor is not None and memory.state(now) == State.ACTIVE:
                hide([memory], "superseded_at", actor=actor, now=now, successor=successor)
        return restored


def _objects(events: Any, type_: str) -> Sequence[str]:
    return list(events.filter(type=type_).values_list("object_id", flat=True))


def _created_by(writer: Writer, since: datetime) -> MemoryQuerySet:
    """Return the memories created by the writer since and not forgotten, newest first."""
    return Memory.objects.filter(created_at__gte=since, forgotten_at=None, **writer.names)


def _find_outcomes(
    writer: Writer, since: datetime, locked: Collection[UUID] | None = None
) -> _Outcomes:
    """Return the outcomes for what the writer wrote since (of the locked memories, if given)."""
    written = _created_by(writer, since).order_by("pk")
    memories = [m for m in written if locked is None or m.id in locked]
    ids = [memory.id for memory in memories]
    others = observations_of_others(ids, writer.names)
    changed = changed_by_others(ids, writer.key_id)
    outcomes = _Outcomes([], [], [])
    for memory in memories:
        by_hand = changed.get(memory.id, set())
        if statements := others.get(memory.id):
            rest = remainder_of_own(memory, statements, by_hand)
            if not rest.is_reworded or not is_wording_taken(memory, rest.after["content"]):
                outcomes.shared.append(rest)
                continue
        elif "content" in by_hand:
            outcomes.spared.append(memory.id)
            continue
        outcomes.forgotten.append(memory.id)
    return outcomes


def _rests_of_others(outcomes: _Outcomes, writer: Writer, since: datetime) -> list[Remainder]:
    """Return memories of others that contain merges of the writer since, without those merges."""
    written = {*outcomes.undone, *outcomes.spared}
    taken: dict[UUID, set[UUID]] = {}
    for merge in merges_of(written, since, writer.names):
        taken.setdefault(merge.memory_id, set()).add(merge.id)
    memories = Memory.objects.filter(pk__in=taken).order_by("pk")
    return [remainder_of_others(memory, taken[memory.id]) for memory in memories]


def _release_absorbed(outcomes: _Outcomes, replaced: Collection[UUID], now: datetime) -> None:
    """Restore memories of others that accepted merges absorbed into the writer's."""
    merges = Merge.objects.filter(
        memory__in=outcomes.undone, absorbed__in=replaced, split_at=None
    ).order_by("pk")
    for merge in merges:
        Observation.objects.filter(merges=merge).update(memory=merge.absorbed_id)
        merge.split_at = now
        merge.save(update_fields=["split_at"])


def _superseded_by(outcomes: _Outcomes) -> MemoryQuerySet:
    """Return the memories of others that the writer's memories supersede."""
    live = Memory.objects.filter(LIVE, pk__in=outcomes.undone).order_by().values("pk")
    replaced = Memory.objects.filter(superseded_by__in=live)
    return replaced.exclude(pk__in=[*outcomes.undone, *outcomes.spared])


def _hashes(replaced: Sequence[UUID], wordings: Sequence[_Wording]) -> set[str]:
    hashes = Memory.objects.filter(pk__in=replaced).values_list("content_hash", flat=True)
    return {*hashes, *(content_hash(wording.before.content) for wording in wordings)}


def _bring_back(
    replaced: Sequence[Memory], *, actor: Actor, now: datetime, because: dict[str, Any]
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
            because=because | {"was_by": str(memory.superseded_by_id)},
        )
        back += 1
    return back


def _wordings_to_restore(writer: Writer, since: datetime) -> list[_Wording]:
    """Return the memories of others that the writer reworded last, with the wording before.

    A change in place is identified by the key alone; adjacent merges of the writer are included.
    """
    merged = Observation.objects.filter(created_at__gte=since, outcome="merged", **writer.names)
    times: dict[UUID, set[datetime]] = {}
    for memory_id, at in merged.values_list("memory_id", "created_at"):
        times.setdefault(memory_id, set()).add(at)
    numbers: dict[UUID, set[int]] = {}
    if writer.names.keys() == {"key_id"}:
        revised = Event.objects.filter(type="memory.revised", at__gte=since)
        for event in revised.filter(actor_kind="key", actor_id=str(writer.key_id)):
            numbers.setdefault(UUID(event.object_id), set()).add(event.data["revision"])
    others = Memory.objects.filter(pk__in=numbers.keys(), forgotten_at=None)
    others = others.exclude(pk__in=_created_by(writer, since).order_by().values("pk"))
    found = []
    for memory in others.order_by("pk"):
        before = _before(memory, times.get(memory.id, set()), numbers.get(memory.id, set()))
        if before is not None and before.content != memory.content:
            found.append(_Wording(memory.id, memory.revision, before))
    return found


def _before(memory: Memory, times: set[datetime], numbers: set[int]) -> Revision | None:
    """Return the wording before the writer's uninterrupted last changes."""
    before = None
    for kept in Revision.objects.filter(memory=memory).order_by("-number"):
        if kept.created_at not in times and kept.number + 1 not in numbers:
            break
        before = kept
    return before


def _reword(
    workspace: Workspace,
    wordings: Sequence[_Wording],
    locked: dict[UUID, Memory],
    *,
    words: WordIndex,
    actor: Actor,
    now: datetime,
    because: dict[str, Any],
) -> set[UUID]:
    """Restore former wordings; words are indexed at once, vectors in the background."""
    done: set[UUID] = set()
    for wording in wordings:
        memory = locked.get(wording.memory_id)
        if (
            memory is None
            or memory.revision != wording.revision
            or is_wording_taken(memory, wording.before.content)
        ):
            continue
        keep_revision(memory, "rollback", actor=actor, now=now)
        before, kept = memory.content, wording.before
        memory.content, memory.content_hash = kept.content, content_hash(kept.content)
        memory.word_count = terms(kept.content).total()
        memory.provenance = kept.fields.get("provenance", memory.provenance)
        memory.confidence = kept.fields.get("confidence", memory.confidence)
        memory.revision += 1
        memory.updated_at = now
        memory.save()
        reindex_vectors(memory, None, workspace.embedding_model)
        words.reword(memory.id, before, memory.content)
        record(
            "memory.revised",
            of=("memory", memory.id),
            actor=actor,
            now=now,
            data={"revision": memory.revision, "fields": ["content"], **because},
        )
        done.add(memory.id)
    return done
