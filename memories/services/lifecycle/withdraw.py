"""Compute and write what remains of a memory without the statements of one writer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.models import Event
from memories.core.answers import as_records, from_records, unite
from memories.core.content import content_hash
from memories.core.merging import MergeStep, fold, keep_as_witness, without
from memories.models import Memory, Merge, Observation
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import forgotten_memory
from memories.services.lifecycle.fields import fields_by_memory, sent_fields, write_fields
from memories.services.review.trust import by_persons

Records = Sequence[Mapping[str, Any]]
_FIELD = {"is_pinned": "pinned"}  # fields that revisions name differently


@dataclass(frozen=True, slots=True)
class Present:
    """A memory with its fields and the merges into it, oldest first."""

    memory: Memory
    fields: dict[str, Any]
    merges: Sequence[Merge]


@dataclass(frozen=True, slots=True)
class Remainder:
    """A memory without a writer's statements.

    `removed` are the merges that are undone, `kept` the others, with adjusted fields. `first` is
    the first statement of another writer, if this writer's came before it.
    """

    memory: Memory
    before: Mapping[str, Any]
    after: dict[str, Any]
    removed: tuple[Merge, ...]
    kept: tuple[Merge, ...]
    first: Observation | None = None

    @property
    def is_reworded(self) -> bool:
        """Return whether the wording changes."""
        return bool(self.before["content"] != self.after["content"])


def observations_of_others(
    ids: Collection[UUID], names: Mapping[str, Any]
) -> dict[UUID, list[Observation]]:
    """Return the observations of memories by other writers, oldest first.

    Without those of absorbed memories, which are restored as memories.
    """
    observations = (
        Observation.objects.filter(memory__in=ids).exclude(**names).exclude(outcome="absorbed")
    )
    found: dict[UUID, list[Observation]] = defaultdict(list)
    for observation in observations.order_by("created_at", "pk"):
        found[observation.memory_id].append(observation)
    return dict(found)


def changed_by_others(ids: Collection[UUID], key_id: UUID | None) -> dict[UUID, set[str]]:
    """Return the fields that a person (or another key than `key_id`) changed, by memory."""
    by = by_persons()
    if key_id is not None:
        by = (by | Q(actor_kind="key")) & ~Q(actor_kind="key", actor_id=str(key_id))
    revised = Event.objects.filter(by, type="memory.revised", object_id__in=[str(i) for i in ids])
    found: dict[UUID, set[str]] = defaultdict(set)
    for event in revised:
        if "rollback" not in event.data and "observation" not in event.data:
            found[UUID(event.object_id)] |= {_FIELD.get(n, n) for n in event.data["fields"]}
    return dict(found)


def merges_of(written: Collection[UUID], since: datetime, names: Mapping[str, Any]) -> list[Merge]:
    """Return the merges of the writer's statements into memories of others that are not split."""
    sent = {f"observation__{name}": value for name, value in names.items()}
    by_writer = Q(absorbed=None, observation__created_at__gte=since, **sent)
    unsplit = Merge.objects.filter(split_at=None, memory__forgotten_at=None)
    found = unsplit.filter(by_writer | Q(absorbed__in=written)).exclude(memory__in=written)
    return list(found.order_by("memory_id", "created_at", "id"))


def present_of(memories: Collection[Memory]) -> dict[UUID, Present]:
    """Return what remainders of these memories begin with."""
    merges: dict[UUID, list[Merge]] = {memory.id: [] for memory in memories}
    rows = Merge.objects.filter(memory__in=merges, split_at=None).select_related("observation")
    for row in rows.order_by("created_at", "id"):
        merges[row.memory_id].append(row)
    fields = fields_by_memory(memories)
    return {memory.id: Present(memory, fields[memory.id], merges[memory.id]) for memory in memories}


def remainder_of_others(present: Present, taken: Collection[UUID]) -> Remainder:
    """Return what remains of another writer's memory without the merges `taken`."""
    memory, before = present.memory, present.fields
    rows, removed, fields = list(present.merges), [], before
    for row in [row for row in rows if row.id in taken]:
        at = rows.index(row)
        undone = without(_step(row), [_step(later) for later in rows[at + 1 :]], fields)
        for later, step in zip(rows[at + 1 :], undone.later, strict=True):
            later.before, later.after = dict(step.before), dict(step.after)
        fields = undone.fields
        removed.append(rows.pop(at))
    return Remainder(
        memory, before, _keep_if_taken(memory, before, fields), tuple(removed), tuple(rows)
    )


def remainder_of_own(
    present: Present, others: Sequence[Observation], changed: Collection[str]
) -> Remainder:
    """Return what remains of a writer's memory by others' observations; keep `changed` fields."""
    memory, before = present.memory, present.fields
    rows = {row.observation_id: row for row in present.merges}
    fields = sent_fields(others[0])
    kept = []
    for sent in others[1:]:
        if (row := rows.pop(sent.id, None)) is None:
            fields["answers"] = _with_repeated(fields["answers"], sent, before["answers"])
            continue
        step, row.before = _step(row), dict(fields)
        if step.folds:
            fields = fold(fields, step.incoming, takes_wording=step.takes_wording)
        row.after = dict(fields) if step.folds else keep_as_witness(fields)
        kept.append(row)
    if memory.content_hash in {sent.content_hash for sent in others}:
        fields["content"] = before["content"]
    after = {name: before[name] if name in changed else value for name, value in fields.items()}
    return Remainder(memory, before, after, tuple(rows.values()), tuple(kept), others[0])


def _with_repeated(answers: Records, sent: Observation, present: Records) -> list[dict[str, Any]]:
    """Add the answers that the memory has from a repetition of its statement."""
    taken = [one for one in sent_fields(sent)["answers"] if one in present]
    return as_records(unite(from_records(answers), from_records(taken)))


def is_wording_taken(memory: Memory, content: str) -> bool:
    """Return whether a wording was forgotten, or committed again in the same place."""
    digest = content_hash(content)
    same = Memory.objects.recallable().filter(
        content_hash=digest, scope=memory.scope, project=memory.project
    )
    return forgotten_memory(digest) is not None or same.exclude(pk=memory.pk).exists()


def write_remainder(
    rest: Remainder,
    model: str,
    *,
    words: WordIndex,
    actor: Actor,
    now: datetime,
    because: Mapping[str, Any],
) -> None:
    """Write what remains of a locked memory; vectors follow in the background."""
    for row in rest.removed:
        row.split_at = now
    for row in (*rest.removed, *rest.kept):
        row.save(update_fields=["split_at", "before", "after"])
    memory = rest.memory
    if (first := rest.first) is not None:
        memory.agent, memory.session_key, memory.key_id = (
            first.agent, first.session_key, first.key_id,
        )  # fmt: skip
        memory.observed_at, memory.created_at = first.observed_at, first.created_at
        memory.save(update_fields=["agent", "session_key", "key", "observed_at", "created_at"])
    names = sorted(name for name, value in rest.after.items() if value != rest.before[name])
    if not names:
        return
    if write_fields(
        memory, rest.before, rest.after, words=words, reason="rollback", actor=actor, now=now
    ):
        reindex_vectors(memory, None, model)
    data = {"revision": memory.revision, "fields": names, **because}
    record("memory.revised", of=("memory", memory.id), actor=actor, now=now, data=data)


def _step(row: Merge) -> MergeStep:
    assert row.observation is not None  # noqa: S101  a merge is deleted with its observation
    return MergeStep.stored(row.before, sent_fields(row.observation), row.after)


def _keep_if_taken(
    memory: Memory, before: Mapping[str, Any], fields: dict[str, Any]
) -> dict[str, Any]:
    """Keep the present wording if the earlier one was forgotten or committed again."""
    if fields["content"] != before["content"] and is_wording_taken(memory, fields["content"]):
        return fields | {"content": before["content"]}
    return fields


def wordings(rests: Iterable[Remainder]) -> set[str]:
    """Return the hashes of the new wordings."""
    return {content_hash(rest.after["content"]) for rest in rests if rest.is_reworded}
