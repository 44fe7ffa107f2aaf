"""What a rollback would do: the memories that a writer wrote since a time, and others' words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer, from_records
from memories.models import Memory, MemoryQuerySet, Observation, Revision
from memories.models.memory import LIVE
from memories.services.index.given_answers import answers_by_memory
from memories.services.lifecycle.rollback_answers import added_answers
from memories.services.lifecycle.rollback_replaced import replaced_by_word
from memories.services.lifecycle.withdraw import (
    Remainder,
    changed_by_others,
    is_wording_taken,
    merges_of,
    observations_of_others,
    present_of,
    remainder_of_others,
    remainder_of_own,
)

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
class Wording:
    """A memory of another writer that this writer reworded in place, with its former wording."""

    memory_id: UUID
    revision: int
    before: Revision = field(repr=False)


@dataclass(frozen=True, slots=True)
class Outcomes:
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
    def kept_memories(self) -> list[Kept]:
        """Return the memories that are not forgotten, with the reason."""
        shared = [Kept(rest.memory.id, ALSO_STATED) for rest in self.shared]
        return shared + [Kept(memory_id, REWORDED) for memory_id in self.spared]


def preview(workspace: Workspace, writer: Writer, since: datetime) -> RollbackPlan:
    """Return what `roll_back` would do, without writing."""
    with in_workspace(workspace):
        written = _created_by(writer, since)
        outcomes = find_outcomes(writer, since)
        kept = outcomes.kept_memories
        reworded = {wording.memory_id for wording in wordings_to_restore(writer, since)}
        rests = rests_of_others(outcomes, writer, since)
        reworded |= {r.memory.id for r in (*rests, *outcomes.shared) if r.is_reworded}
        reworded |= answers_to_take_out(outcomes, writer, since).keys()
        return RollbackPlan(
            newest=list(written.exclude(pk__in=[one.id for one in kept])[:SHOWN_MAX]),
            total=len(outcomes.forgotten),
            superseded=superseded_by(outcomes, writer, since).count(),
            reworded=len(reworded),
            taken_out=sum(len(rest.removed) for rest in rests),
            kept=kept,
        )


def find_outcomes(
    writer: Writer, since: datetime, locked: Collection[UUID] | None = None
) -> Outcomes:
    """Return the outcomes for what the writer wrote since (of the locked memories, if given)."""
    written = _created_by(writer, since).order_by("pk")
    memories = [m for m in written if locked is None or m.id in locked]
    ids = [memory.id for memory in memories]
    others = observations_of_others(ids, writer.names)
    changed = changed_by_others(ids, writer.key_id)
    present = present_of([memory for memory in memories if memory.id in others])
    outcomes = Outcomes([], [], [])
    for memory in memories:
        by_hand = changed.get(memory.id, set())
        if statements := others.get(memory.id):
            rest = remainder_of_own(present[memory.id], statements, by_hand)
            if not rest.is_reworded or not is_wording_taken(memory, rest.after["content"]):
                outcomes.shared.append(rest)
                continue
        elif "content" in by_hand:
            outcomes.spared.append(memory.id)
            continue
        outcomes.forgotten.append(memory.id)
    return outcomes


def _created_by(writer: Writer, since: datetime) -> MemoryQuerySet:
    """Return the memories created by the writer since and not forgotten, newest first."""
    return Memory.objects.filter(created_at__gte=since, forgotten_at=None, **writer.names)


def rests_of_others(outcomes: Outcomes, writer: Writer, since: datetime) -> list[Remainder]:
    """Return memories of others that contain merges of the writer since, without those merges."""
    written = {*outcomes.undone, *outcomes.spared}
    taken: dict[UUID, set[UUID]] = {}
    for merge in merges_of(written, since, writer.names):
        taken.setdefault(merge.memory_id, set()).add(merge.id)
    present = present_of(list(Memory.objects.filter(pk__in=taken).order_by("pk")))
    return [remainder_of_others(one, taken[pk]) for pk, one in present.items()]


def answers_to_take_out(
    outcomes: Outcomes, writer: Writer, since: datetime
) -> dict[UUID, set[Answer]]:
    """Return memories of others with the answers that the writer's repetitions since added."""
    written = [*outcomes.undone, *outcomes.spared]
    return added_answers(writer.names, since, besides=written, key_id=writer.key_id)


def superseded_by(outcomes: Outcomes, writer: Writer, since: datetime) -> MemoryQuerySet:
    """Return the memories of others that the writer's memories supersede, or others' by its word.

    Who related two memories, is identified by the key alone.
    """
    live = Memory.objects.filter(LIVE, pk__in=outcomes.undone).order_by().values("pk")
    own = [*outcomes.undone, *outcomes.spared]
    is_replaced = Q(superseded_by__in=live) & ~Q(pk__in=own)
    if writer.key_id is not None and writer.names.keys() == {"key_id"}:
        said = replaced_by_word(writer.key_id, since, besides=own)
        is_replaced |= Q(pk__in=said.difference(outcomes.forgotten))
    return Memory.objects.filter(is_replaced)


def wordings_to_restore(writer: Writer, since: datetime) -> list[Wording]:
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
    memories = {memory.id: memory for memory in others.order_by("pk")}
    revisions: dict[UUID, list[Revision]] = {memory_id: [] for memory_id in memories}
    for kept in Revision.objects.filter(memory__in=memories).order_by("-number"):
        revisions[kept.memory_id].append(kept)
    present = answers_by_memory(memories)
    found = []
    for pk, memory in memories.items():
        before = _before(revisions[pk], times.get(pk, set()), numbers[pk])
        if before is not None and changes_from(before, memory, present[pk]):
            found.append(Wording(pk, memory.revision, before))
    return found


def changes_from(before: Revision, memory: Memory, present: Sequence[Answer]) -> list[str]:
    """Return what a memory says otherwise than before: its wording, what it answers, or both.

    `present` is what it answers now.
    """
    answers = from_records(before.fields.get("answers", ()))
    is_changed = {
        "answers": answers != tuple(present),
        "content": before.content != memory.content,
    }
    return [name for name, changed in is_changed.items() if changed]


def _before(
    revisions: Sequence[Revision], times: set[datetime], numbers: set[int]
) -> Revision | None:
    """Return the wording before the writer's uninterrupted last changes; the newest comes first."""
    before = None
    for kept in revisions:
        if kept.created_at not in times and kept.number + 1 not in numbers:
            break
        before = kept
    return before
