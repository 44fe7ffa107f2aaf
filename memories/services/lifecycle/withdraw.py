"""What stays of a memory when the statements of one writer are taken out of it."""

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
from memories.core.content import content_hash
from memories.core.merging import Step, fold, keep_as_witness, without
from memories.models import Memory, Merge, Observation
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import forgotten_memory
from memories.services.lifecycle.fields import fields_of, fields_sent, write_fields
from memories.services.review.trust import by_persons

_FIELD = {"is_pinned": "pinned"}  # what a revision names otherwise than a merge does


@dataclass(frozen=True, slots=True)
class Remainder:
    """A memory without a writer's statements; `first` of the others', if the writer's came first.

    `gone` are the merges that stand no more, `standing` the others, with other fields around them.
    """

    memory: Memory
    before: Mapping[str, Any]
    after: dict[str, Any]
    gone: tuple[Merge, ...]
    standing: tuple[Merge, ...]
    first: Observation | None = None

    @property
    def is_reworded(self) -> bool:
        """Tell whether the memory says something else now."""
        return bool(self.before["content"] != self.after["content"])


def witnesses(ids: Collection[UUID], names: Mapping[str, Any]) -> dict[UUID, list[Observation]]:
    """Return what others than the writer stated of memories, oldest first.

    Not what an accepted merge absorbed: that has a memory of its own, which comes back.
    """
    said = Observation.objects.filter(memory__in=ids).exclude(**names).exclude(outcome="absorbed")
    found: dict[UUID, list[Observation]] = defaultdict(list)
    for observation in said.order_by("created_at", "pk"):
        found[observation.memory_id].append(observation)
    return dict(found)


def changed_by_others(ids: Collection[UUID], key_id: UUID | None) -> dict[UUID, set[str]]:
    """Return which fields a person changed in place (or, of a key, any other key did)."""
    by = by_persons()
    if key_id is not None:
        by = (by | Q(actor_kind="key")) & ~Q(actor_kind="key", actor_id=str(key_id))
    told = Event.objects.filter(by, type="memory.revised", object_id__in=[str(i) for i in ids])
    found: dict[UUID, set[str]] = defaultdict(set)
    for event in told:
        if "rollback" not in event.data:
            found[UUID(event.object_id)] |= {_FIELD.get(n, n) for n in event.data["fields"]}
    return dict(found)


def merges_of(written: Collection[UUID], since: datetime, names: Mapping[str, Any]) -> list[Merge]:
    """Return the standing merges of the writer's statements into the memories of others."""
    sent = {f"observation__{name}": value for name, value in names.items()}
    theirs = Q(absorbed=None, observation__created_at__gte=since, **sent)
    standing = Merge.objects.filter(split_at=None, memory__forgotten_at=None)
    found = standing.filter(theirs | Q(absorbed__in=written)).exclude(memory__in=written)
    return list(found.order_by("memory_id", "created_at", "id"))


def remainder_of_others(memory: Memory, taken: Collection[UUID]) -> Remainder:
    """Return what stays of another's memory without some of its merges."""
    rows, gone = _merges_into(memory), []
    before = fields_of(memory)
    fields = before
    for row in [row for row in rows if row.id in taken]:
        at = rows.index(row)
        undone = without(_step(row), [_step(later) for later in rows[at + 1 :]], fields)
        for later, step in zip(rows[at + 1 :], undone.later, strict=True):
            later.before, later.after = dict(step.before), dict(step.after)
        fields = undone.fields
        gone.append(rows.pop(at))
    return Remainder(
        memory, before, _unless_taken(memory, before, fields), tuple(gone), tuple(rows)
    )


def remainder_of_own(
    memory: Memory, others: Sequence[Observation], changed: Collection[str]
) -> Remainder:
    """Return what a writer's memory holds by what others stated of it, `changed` fields spared."""
    rows = {row.observation_id: row for row in _merges_into(memory)}
    before = fields_of(memory)
    fields = fields_sent(others[0])
    standing = []
    for sent in others[1:]:
        if (row := rows.pop(sent.id, None)) is None:
            continue
        step, row.before = _step(row), dict(fields)
        if step.folds:
            fields = fold(fields, step.incoming, takes_wording=step.takes_wording)
        row.after = dict(fields) if step.folds else keep_as_witness(fields)
        standing.append(row)
    if memory.content_hash in {sent.content_hash for sent in others}:
        fields["content"] = before["content"]
    after = {name: before[name] if name in changed else value for name, value in fields.items()}
    return Remainder(memory, before, after, tuple(rows.values()), tuple(standing), others[0])


def is_said_elsewhere(memory: Memory, content: str) -> bool:
    """Tell whether a wording was forgotten or said anew in the same place meanwhile."""
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
    """Write what stays of a locked memory; found by words at once, by meaning soon."""
    for row in rest.gone:
        row.split_at = now
    for row in (*rest.gone, *rest.standing):
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
    told = {"revision": memory.revision, "fields": names, **because}
    record("memory.revised", of=("memory", memory.id), actor=actor, now=now, data=told)


def _merges_into(memory: Memory) -> list[Merge]:
    rows = Merge.objects.filter(memory=memory, split_at=None).select_related("observation")
    return list(rows.order_by("created_at", "id"))


def _step(row: Merge) -> Step:
    assert row.observation is not None  # noqa: S101  a merge goes with its observation
    return Step(row.before, fields_sent(row.observation), row.after)


def _unless_taken(
    memory: Memory, before: Mapping[str, Any], fields: dict[str, Any]
) -> dict[str, Any]:
    """Keep the present wording where the earlier one is not free any more."""
    if fields["content"] != before["content"] and is_said_elsewhere(memory, fields["content"]):
        return fields | {"content": before["content"]}
    return fields


def wordings(rests: Iterable[Remainder]) -> set[str]:
    """Return the hashes of the wordings that memories get."""
    return {content_hash(rest.after["content"]) for rest in rests if rest.is_reworded}
