"""Taking back what a writer wrote since a time: a preview, tombstones, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.models import Event, Role, Workspace
from engram.kernel.refusals import ForbiddenError, MissingError
from engram.kernel.tenancy import in_workspace
from memories.core.content import content_hash
from memories.core.text import terms
from memories.models import Memory, MemoryQuerySet, Observation, Revision, State
from memories.models.memory import LIVE
from memories.services.forget import Restored, restore
from memories.services.index import WordIndex, reindex_vectors
from memories.services.lifecycle import hide, lock, put_back
from memories.services.merge import keep_revision
from memories.services.statements import forgotten_memory, lock_statements

SHOWN_MAX = 100


@dataclass(frozen=True, slots=True)
class Writer:
    """Who wrote: every name that is given must fit."""

    agent: str = ""
    session_key: str = ""
    key_id: UUID | None = None

    @property
    def names(self) -> dict[str, Any]:
        """Return the names that are given, as memories and observations call them."""
        named = {"agent": self.agent, "session_key": self.session_key, "key_id": self.key_id}
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class Plan:
    """What rolling back would do."""

    newest: list[Memory]
    total: int
    superseded: int
    reworded: int


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What rolling back did."""

    id: UUID
    forgotten: int
    brought_back: int
    reworded: int


@dataclass(frozen=True, slots=True)
class _Wording:
    """A memory of somebody else that now says what the writer made it say, and what it said."""

    memory_id: UUID
    revision: int
    before: Revision = field(repr=False)


def preview(workspace: Workspace, writer: Writer, since: datetime) -> Plan:
    """Return what `roll_back` would do, changing nothing."""
    with in_workspace(workspace):
        written = _written(writer, since)
        return Plan(
            newest=list(written[:SHOWN_MAX]),
            total=written.count(),
            superseded=_superseded_by(written).count(),
            reworded=len(_wordings(writer, since)),
        )


def roll_back(
    workspace: Workspace, writer: Writer, since: datetime, *, actor: Actor, now: datetime
) -> RolledBack:
    """Forget what the writer committed since, and undo what that did to the memories of others.

    1. What the writer's memories replaced comes back. 2. They are forgotten. 3. Wordings that the
    writer changed go back, if nothing changed them later.
    """
    rollback_id = uuid4()
    because = {"rollback": str(rollback_id)}
    with in_workspace(workspace):
        written = _written(writer, since)
        ids = list(written.order_by("pk").values_list("pk", flat=True))
        replaced_ids = list(_superseded_by(written).values_list("pk", flat=True))
        wordings = _wordings(writer, since)
        lock_statements(_hashes(replaced_ids, wordings))
        locked = {m.id: m for m in lock([*ids, *replaced_ids, *(w.memory_id for w in wordings)])}
        gone = hide([locked[i] for i in ids], "forgotten_at", actor=actor, now=now, because=because)
        back = _bring_back([locked[i] for i in replaced_ids], actor=actor, now=now, because=because)
        reworded = _reword(workspace, wordings, locked, actor=actor, now=now)
        record(
            "writer.rolled_back",
            of=("rollback", rollback_id),
            actor=actor,
            now=now,
            data={
                "since": since.isoformat(),
                "key": str(writer.key_id) if writer.key_id else None,
                "forgotten": len(gone),
                "brought_back": back,
                "reworded": reworded,
            },
        )
    return RolledBack(rollback_id, len(gone), back, reworded)


def undo(workspace: Workspace, rollback_id: UUID, *, actor: Actor, now: datetime) -> Restored:
    """Bring back what a rollback hid; what it had replaced is replaced again.

    Whoever may not roll back may not undo it either.
    """
    if not actor.role.includes(Role.ADMIN):
        raise ForbiddenError("Undoing a rollback needs the role admin.")
    with in_workspace(workspace):
        rollbacks = Event.objects.filter(object_id=str(rollback_id), type="writer.rolled_back")
        told = rollbacks.first()
        if told is None:
            raise MissingError("There is no such rollback.")
        of_it = Event.objects.filter(at=told.at, data__rollback=str(rollback_id))
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


def _written(writer: Writer, since: datetime) -> MemoryQuerySet:
    """Return what the writer created since and is not forgotten yet, newest first."""
    return Memory.objects.filter(created_at__gte=since, forgotten_at=None, **writer.names)


def _superseded_by(written: MemoryQuerySet) -> MemoryQuerySet:
    """Return the memories of others that the written ones replace at present."""
    standing = written.filter(LIVE).order_by().values("pk")
    replaced = Memory.objects.filter(superseded_by__in=standing)
    return replaced.exclude(pk__in=written.order_by().values("pk"))


def _hashes(replaced: Sequence[UUID], wordings: Sequence[_Wording]) -> set[str]:
    hashes = Memory.objects.filter(pk__in=replaced).values_list("content_hash", flat=True)
    return {*hashes, *(content_hash(wording.before.content) for wording in wordings)}


def _bring_back(
    replaced: Sequence[Memory], *, actor: Actor, now: datetime, because: dict[str, Any]
) -> int:
    """Let memories stand again, except where the same was said anew meanwhile."""
    back = 0
    for memory in replaced:
        standing = Memory.objects.recallable(now).filter(
            content_hash=memory.content_hash, scope=memory.scope, project=memory.project
        )
        if memory.superseded_by_id is None or standing.exists():
            continue
        put_back(
            memory,
            {"superseded_at": None, "superseded_by_id": None},
            actor=actor,
            now=now,
            because=because | {"was_by": str(memory.superseded_by_id)},
        )
        back += 1
    return back


def _wordings(writer: Writer, since: datetime) -> list[_Wording]:
    """Return the memories of others whose last changes are the writer's, with what was before.

    A merge is the writer's by its observation; a change in place is known by the key alone.
    """
    merged = Observation.objects.filter(created_at__gte=since, outcome="merged", **writer.names)
    times: dict[UUID, set[datetime]] = {}
    for memory_id, at in merged.values_list("memory_id", "created_at"):
        times.setdefault(memory_id, set()).add(at)
    numbers: dict[UUID, set[int]] = {}
    if writer.names.keys() == {"key_id"}:
        told = Event.objects.filter(type="memory.revised", at__gte=since)
        for event in told.filter(actor_kind="key", actor_id=str(writer.key_id)):
            numbers.setdefault(UUID(event.object_id), set()).add(event.data["revision"])
    others = Memory.objects.filter(pk__in=times.keys() | numbers.keys(), forgotten_at=None)
    others = others.exclude(pk__in=_written(writer, since).order_by().values("pk"))
    found = []
    for memory in others.order_by("pk"):
        before = _before(memory, times.get(memory.id, set()), numbers.get(memory.id, set()))
        if before is not None and before.content != memory.content:
            found.append(_Wording(memory.id, memory.revision, before))
    return found


def _before(memory: Memory, times: set[datetime], numbers: set[int]) -> Revision | None:
    """Return the wording before the unbroken run of the writer's changes at the end."""
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
    actor: Actor,
    now: datetime,
) -> int:
    """Give memories their wording from before; found by words at once, by meaning soon."""
    words = WordIndex()
    done = 0
    for wording in wordings:
        memory = locked.get(wording.memory_id)
        if memory is None or memory.revision != wording.revision or _is_taken(memory, wording):
            continue
        keep_revision(memory, "rollback", actor=actor, now=now)
        gone, kept = memory.content, wording.before
        memory.content, memory.content_hash = kept.content, content_hash(kept.content)
        memory.word_count = terms(kept.content).total()
        memory.provenance = kept.fields.get("provenance", memory.provenance)
        memory.confidence = kept.fields.get("confidence", memory.confidence)
        memory.revision += 1
        memory.is_embedding_due = True
        memory.updated_at = now
        memory.save()
        reindex_vectors(memory, (), workspace.embedding_model)
        words.reword(memory.id, gone, memory.content)
        record(
            "memory.revised",
            of=("memory", memory.id),
            actor=actor,
            now=now,
            data={"revision": memory.revision, "fields": ["content"]},
        )
        done += 1
    words.write()
    return done


def _is_taken(memory: Memory, wording: _Wording) -> bool:
    """Tell whether the earlier wording was forgotten or said anew in the same place meanwhile."""
    digest = content_hash(wording.before.content)
    same = Memory.objects.recallable().filter(
        content_hash=digest, scope=memory.scope, project=memory.project
    )
    return forgotten_memory(digest) is not None or same.exclude(pk=memory.pk).exists()
