"""Erase from other memories the answers that an erased statement brought to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q

from memories.core.answers import Answer, from_records
from memories.models import Memory, MemoryAnswer, Merge, Observation, Revision
from memories.services.index.statement_hashes import wordings_of


def answering_elsewhere(ids: Collection[UUID]) -> set[UUID]:
    """Return other memories to which statements of these brought answers, to lock them first."""
    return set(_answers_sent(Q(content_hash__in=wordings_of(ids)), besides=ids))


def erase_answers(ids: Collection[UUID], hashes: Collection[str]) -> set[UUID]:
    """Erase what only the statements with these hashes answered in other memories; return which.

    An answer stays where another statement of that memory gave it too. The caller has locked those
    memories, and erases the observations of the statements afterwards.
    """
    brought = _answers_sent(Q(content_hash__in=hashes), besides=ids)
    also = _answers_sent(~Q(content_hash__in=hashes) & Q(memory__in=brought), besides=ids)
    own = Memory.objects.filter(pk__in=brought, content_hash__in=hashes)
    stating = set(own.values_list("pk", flat=True))  # they make the erased statement themselves
    erased = {
        memory_id: left
        for memory_id, answers in brought.items()
        if memory_id not in stating and (left := answers - also.get(memory_id, set()))
    }
    for memory_id, answers in erased.items():
        _erase_from(memory_id, answers)
    return set(erased)


def _answers_sent(which: Q, *, besides: Collection[UUID]) -> dict[UUID, set[Answer]]:
    found: dict[UUID, set[Answer]] = defaultdict(set)
    sent = Observation.objects.filter(which, fields__answers__0__isnull=False)
    rows = sent.exclude(memory__in=besides).values_list("memory_id", "fields__answers")
    for memory_id, records in rows:
        found[memory_id] |= set(from_records(records))
    return found


def _erase_from(memory_id: UUID, answers: Collection[Answer]) -> None:
    """Erase answers from a memory, from its former wordings and from the records of its merges."""
    for row in MemoryAnswer.objects.filter(memory=memory_id):
        if Answer(row.question, row.answer, row.was) in answers:
            row.delete()
    for revision in Revision.objects.filter(memory=memory_id):
        revision.fields = _without(revision.fields, answers)
        revision.save(update_fields=["fields"])
    for merge in Merge.objects.filter(memory=memory_id):
        merge.before, merge.after = _without(merge.before, answers), _without(merge.after, answers)
        merge.save(update_fields=["before", "after"])


def _without(fields: Mapping[str, Any], answers: Collection[Answer]) -> dict[str, Any]:
    if "answers" not in fields:
        return dict(fields)
    left = [one for one in fields["answers"] if Answer.from_record(one) not in answers]
    return {**fields, "answers": left}
