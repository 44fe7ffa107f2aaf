"""Take out of other writers' memories what a writer's repetitions of them answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.history import record
from memories.core.answers import Answer, from_records
from memories.models import Memory, Observation, Revision
from memories.services.index.given_answers import answers_by_memory
from memories.services.lifecycle.answers import write_all_answers
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
    repeating = list(own.exclude(memory__in=besides).order_by("pk"))
    known = _known_before(repeating)
    for sent_again in repeating:
        at = sent_again.memory_id, sent_again.created_at
        answers = from_records(sent_again.fields["answers"]) if at in known else ()
        added = {answer for answer in answers if answer.identity not in known[at]}
        found.setdefault(sent_again.memory_id, set()).update(added)
    by_hand, given = changed_by_others(found, key_id), _given_by_others(found, names, since)
    return {
        memory_id: left
        for memory_id, answers_added in found.items()
        if "answers" not in by_hand.get(memory_id, ())
        and (left := answers_added - given.get(memory_id, set()))
    }


def _known_before(repeating: Sequence[Observation]) -> dict[tuple[UUID, datetime], set[str]]:
    """Return which questions memories answered before repetitions that added to them."""
    kept = Revision.objects.filter(
        reason=REPEATED,
        memory__in={one.memory_id for one in repeating},
        created_at__in={one.created_at for one in repeating},
    )
    rows = kept.order_by("-number").values_list("memory_id", "created_at", "fields__answers")
    return {
        (memory_id, at): {answer.identity for answer in from_records(records)}
        for memory_id, at, records in rows
    }


def _given_by_others(
    ids: Collection[UUID], names: Mapping[str, Any], since: datetime
) -> dict[UUID, set[Answer]]:
    given = Observation.objects.filter(memory__in=ids, fields__answers__0__isnull=False)
    others = given.exclude(created_at__gte=since, **names).order_by()
    found: dict[UUID, set[Answer]] = {}
    for memory_id, answers in others.values_list("memory_id", "fields__answers"):
        found.setdefault(memory_id, set()).update(from_records(answers))
    return found


def take_out(
    added: Mapping[UUID, Collection[Answer]],
    memories: Iterable[Memory],
    *,
    actor: Actor,
    now: datetime,
    because: Mapping[str, Any],
) -> set[UUID]:
    """Remove these answers from locked memories that still have them; return which had."""
    by_id = {memory.id: memory for memory in memories}
    changed = []
    for memory_id, present in answers_by_memory(by_id).items():
        memory = by_id[memory_id]
        left = [answer for answer in present if answer not in added.get(memory_id, ())]
        if len(left) == len(present):
            continue
        keep_revision(memory, "rollback", answers=present, actor=actor, now=now)
        memory.revision += 1
        memory.updated_at = now
        memory.save(update_fields=["revision", "updated_at"])
        data = {"revision": memory.revision, "fields": ["answers"], **because}
        record("memory.revised", of=("memory", memory.id), actor=actor, now=now, data=data)
        changed.append((memory, left))
    write_all_answers(changed)
    return {memory.id for memory, _ in changed}
