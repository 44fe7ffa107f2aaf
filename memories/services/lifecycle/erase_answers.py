"""Erase from other memories the answers that they have from an erased statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from memories.core.answer_sources import sources_of
from memories.core.answers import Answer, from_records
from memories.core.content import content_hash
from memories.core.typed_answers import typed_answers
from memories.models import AskedAnswers, Memory, MemoryAnswer, Merge, Observation, Revision
from memories.services.index.statement_hashes import texts_of, wordings_of
from memories.services.lifecycle.answers import answers_of


def answering_elsewhere(ids: Collection[UUID]) -> set[UUID]:
    """Return other memories with answers of statements of these, to lock them first."""
    return set(_answers_of(wordings_of(ids), besides=ids))


def erase_answers(ids: Collection[UUID], hashes: Collection[str]) -> set[UUID]:
    """Erase what only the statements with these hashes answered in other memories; return which.

    An answer stays where another statement of that memory gave it too, and with a statement that
    another memory makes. The caller has locked those memories, and erases the observations and
    former wordings afterwards.
    """
    made = Memory.objects.filter(content_hash__in=hashes).exclude(pk__in=ids)
    gone = set(hashes).difference(made.order_by().values_list("content_hash", flat=True))
    answers = _answers_of(gone, besides=ids)
    erased = set()
    for memory in Memory.objects.filter(pk__in=answers).order_by("pk"):
        if left := answers[memory.id] - _given_otherwise(memory, gone):
            _erase_from(memory.id, left)
            erased.add(memory.id)
    return erased


def _answers_of(hashes: Collection[str], *, besides: Collection[UUID]) -> dict[UUID, set[Answer]]:
    """Return what other memories answered by these statements, sent or as their former wording."""
    found: dict[UUID, set[Answer]] = defaultdict(set)
    for model in (Observation, Revision):
        rows = model.objects.filter(content_hash__in=hashes, fields__answers__0__isnull=False)
        others = rows.exclude(memory__in=besides).order_by()
        for memory_id, records in others.values_list("memory_id", "fields__answers"):
            found[memory_id] |= set(from_records(records))
    return found


def _given_otherwise(memory: Memory, gone: Collection[str]) -> set[Answer]:
    """Return what other statements of a memory answer: as sent, or read by rules or a model."""
    sent = Observation.objects.filter(memory=memory, fields__answers__0__isnull=False)
    kept = sent.exclude(content_hash__in=gone).order_by().values_list("fields__answers", flat=True)
    given = {answer for records in kept for answer in from_records(records)}
    texts = [text for text in texts_of([memory.id]) if content_hash(text) not in gone]
    given |= {answer for text in texts for answer in typed_answers(text)}
    asked = AskedAnswers.objects.filter(memory=memory, content_hash=memory.content_hash).first()
    if asked is None:
        return given
    present = answers_of(memory)
    sources = sources_of(present, memory.content, model_digest=asked.answers_hash)
    return given | {a for a, by in zip(present, sources, strict=True) if by == "model"}


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
