"""Choose the memories whose answers a language model is asked for, and write what it says.

A writer's own answers are never replaced: `AskedAnswers` says which statement the model was asked
about and, by a digest, whether the memory still has what it wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import F, Q
from django.db.models.functions import Length

from engram.kernel.actors import SYSTEM
from engram.kernel.credentials import credential_in
from engram.kernel.history import record_unsent
from engram.kernel.models import Event
from memories.core.answer_prompt import Statement
from memories.core.answers import Answer, answers_digest
from memories.models import AskedAnswers, Memory, MemoryAnswer
from memories.services.drift.due import answers_changed
from memories.services.index.entities import mark_due
from memories.services.lifecycle.answers import (
    answer_rows,
    forgotten_quotes,
    quotes_forgotten,
    texts_to_check,
)
from memories.services.locks import lock

MAX_CHARS: Final = 4000  # a longer text has more to say than three answers
MAX_FAILURES: Final = 3  # so often a model may reply unusably about one statement


@dataclass(frozen=True, slots=True)
class Asked:
    """A memory that a model is asked about, as it was read."""

    id: UUID
    content_hash: str
    statement: Statement


def select_unanswered(ids: Collection[UUID], now: datetime) -> list[Asked]:
    """Return those of the memories about which the model has to be asked, the earliest first."""
    known = Q(asked_answers=None)
    changed = ~Q(asked_answers__content_hash=F("content_hash"))
    failed = Q(asked_answers__failures__range=(1, MAX_FAILURES - 1))
    is_open = known | (~Q(asked_answers__content_hash="") & (changed | failed))
    live = Memory.objects.recallable(now).filter(pk__in=ids, answers=None)
    short = live.alias(chars=Length("content")).filter(chars__lte=MAX_CHARS)
    questions = Q(content__endswith="?") | Q(content__endswith="\uff1f")
    wanted = short.filter(is_open).exclude(questions).order_by("observed_at", "created_at", "pk")
    rows = wanted.values_list("pk", "content_hash", "content", "project", "scope")
    return [
        Asked(pk, digest, Statement(content, "/".join(part for part in (project, scope) if part)))
        for pk, digest, content, project, scope in rows
    ]


def write_model_answers(
    given: Mapping[UUID, Sequence[Answer]],
    asked: Sequence[Asked],
    *,
    also_lock: Collection[UUID] = (),
    now: datetime,
) -> set[UUID]:
    """Write a model's answers to those memories that still are as they were read.

    Return the memories that are locked now: all asked about, and `also_lock`, without those that
    were erased. An answer that holds a secret, or exactly a forgotten statement, is left out.
    """
    memories = {memory.id: memory for memory in lock({*also_lock, *(one.id for one in asked)})}
    open_now = {one.id: one.content_hash for one in select_unanswered(memories, now)}
    wanted = [one for one in asked if open_now.get(one.id) == one.content_hash]
    forgotten = forgotten_quotes(answer for answers in given.values() for answer in answers)
    rows, notes, written = [], [], []
    for one in wanted:
        answers = [a for a in given.get(one.id, ()) if _may_be_kept(a, forgotten)]
        rows += answer_rows(memories[one.id], answers)
        notes.append(
            AskedAnswers(
                memory_id=one.id,
                content_hash=one.content_hash,
                answers_hash=answers_digest(answers),
            )
        )
        if answers:
            written.append((one.id, {"answers": len(answers)}))
    MemoryAnswer.objects.bulk_create(rows)
    if rows:
        mark_due({row.memory_id for row in rows})
    _keep(notes)
    if written:
        answers_changed([memory_id for memory_id, _ in written], now=now)
        record_unsent("memory.answered", written, of="memory", actor=SYSTEM, now=now)
    return set(memories)


def _may_be_kept(answer: Answer, forgotten: Collection[str]) -> bool:
    if any(credential_in(text) for text in texts_to_check([answer])):
        return False
    return not quotes_forgotten(answer, forgotten)


def note_failures(asked: Sequence[Asked]) -> None:
    """Note that the model's reply about these memories was unusable; so bounded, it is retried."""
    present = {memory.id for memory in lock([one.id for one in asked])}
    before = {row.memory_id: row for row in AskedAnswers.objects.filter(memory__in=present)}
    notes = []
    for one in asked:
        if one.id not in present:
            continue
        row = before.get(one.id)
        if row is not None and row.content_hash == "":
            continue  # its writer has set the answers meanwhile
        again = row is not None and row.content_hash == one.content_hash
        failures = (row.failures if row is not None and again else 0) + 1
        notes.append(
            AskedAnswers(memory_id=one.id, content_hash=one.content_hash, failures=failures)
        )
    _keep(notes)


def note_set_by_writer(memory: Memory) -> None:
    """Note that a writer set the answers of a locked memory: no model is asked about it."""
    _keep([AskedAnswers(memory=memory)])


def note_read_by_rule(memory: Memory) -> None:
    """Note that a locked memory has nothing more of what a writer set: rules read its answers."""
    AskedAnswers.objects.filter(memory=memory, content_hash="").delete()


def note_restored(numbers: Mapping[UUID, int]) -> None:
    """Note of locked memories that they have the answers of earlier revisions again, by number.

    Where no writer had set them by then, the note that one did is removed.
    """
    revised = Event.objects.filter(
        type="memory.revised", object_id__in=[str(memory_id) for memory_id in numbers]
    )
    still_set = {
        memory_id
        for object_id, data in revised.values_list("object_id", "data")
        if data.get("revision", 0) <= numbers[memory_id := UUID(object_id)]
        and "answers" in data.get("fields", ())
        and not data.keys() & {"observation", "rollback"}
    }
    set_since = numbers.keys() - still_set
    AskedAnswers.objects.filter(memory__in=set_since, content_hash="").delete()


def are_set_by_writer(memory: Memory) -> bool:
    """Return whether a writer set what a memory answers, also that it answers nothing."""
    return AskedAnswers.objects.filter(memory=memory, content_hash="").exists()


def _keep(notes: Sequence[AskedAnswers]) -> None:
    AskedAnswers.objects.bulk_create(
        notes,
        update_conflicts=True,
        unique_fields=["memory"],
        update_fields=["content_hash", "answers_hash", "failures"],
    )


def are_by_model(memory: Memory, answers: Sequence[Answer]) -> bool:
    """Return whether the answers that a memory has are those that the model wrote."""
    return AskedAnswers.objects.filter(memory=memory, answers_hash=answers_digest(answers)).exists()
