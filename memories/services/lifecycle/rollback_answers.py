"""Take out of other writers' memories what a writer's repetitions of them answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.history import record
from memories.core.answers import Answer, from_records
from memories.models import Memory, Observation, Revision
from memories.services.lifecycle.answers import answers_of, write_answers
from memories.services.lifecycle.fields import keep_revision
from memories.services.lifecycle.repeated import REPEATED
from memories.services.lifecycle.withdraw import changed_by_others


def added_answers(
    names: Mapping[str, Any], since: datetime, *, besides: Collection[UUID], key_id: UUID | None
) -> dict[UUID, set[Answer]]:
    """Return the memories to which a writer's repetitions since added answers, with these.

    Without answers that somebody else gave too, memories `besides`, and those whose answers were
    changed by hand since.
    """
    sent = Observation.objects.filter(created_at__gte=since, fields__answers__0__isnull=False)
    own = sent.filter(outcome__in=["duplicate", "revived"], memory__forgotten_at=None, **names)
    found: dict[UUID, set[Answer]] = {}
    for observation in own.exclude(memory__in=besides):
        found.setdefault(observation.memory_id, set()).update(_added_by(observation))
    by_hand = changed_by_others(found, key_id)
    return {
        memory_id: left
        for memory_id, answers in found.items()
        if "answers" not in by_hand.get(memory_id, ())
        and (left := answers - _given_by_others(memory_id, names, since))
    }


def _added_by(observation: Observation) -> set[Answer]:
    before = Revision.objects.filter(
        memory=observation.memory_id, reason=REPEATED, created_at=observation.created_at
    ).first()
    if before is None:
        return set()
    known = {answer.identity for answer in from_records(before.fields["answers"])}
    return {a for a in from_records(observation.fields["answers"]) if a.identity not in known}


def _given_by_others(memory_id: UUID, names: Mapping[str, Any], since: datetime) -> set[Answer]:
    given = Observation.objects.filter(memory=memory_id, fields__answers__0__isnull=False)
    others = given.exclude(created_at__gte=since, **names)
    return {
        answer
        for answers in others.values_list("fields__answers", flat=True)
        for answer in from_records(answers)
    }


def take_out(
    added: Mapping[UUID, Collection[Answer]],
    memories: Iterable[Memory],
    *,
    actor: Actor,
    now: datetime,
    because: Mapping[str, Any],
) -> set[UUID]:
    """Remove these answers from locked memories that still have them; return which had."""
    changed = set()
    for memory in memories:
        present = answers_of(memory)
        left = [answer for answer in present if answer not in added.get(memory.id, ())]
        if len(left) == len(present):
            continue
        keep_revision(memory, "rollback", actor=actor, now=now)
        write_answers(memory, left)
        memory.revision += 1
        memory.updated_at = now
        memory.save(update_fields=["revision", "updated_at"])
        data = {"revision": memory.revision, "fields": ["answers"], **because}
        record("memory.revised", of=("memory", memory.id), actor=actor, now=now, data=data)
        changed.add(memory.id)
    return changed
