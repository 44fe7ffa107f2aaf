"""Read the answers of memories: those that they have, give now, or gave at an earlier time."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db.models import DateTimeField, Exists, Func, JSONField, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, JSONObject

from memories.core.answers import Answer
from memories.models import Memory, MemoryAnswer, MemoryQuerySet, Revision


def answers_by_memory(ids: Collection[UUID]) -> dict[UUID, tuple[Answer, ...]]:
    """Return the answers of each memory, in order, by one query."""
    found: dict[UUID, list[Answer]] = {memory_id: [] for memory_id in ids}
    rows = MemoryAnswer.objects.filter(memory__in=found).order_by("memory_id", "position")
    names = ("memory_id", "question", "answer", "was")
    for memory_id, question, answer, was in rows.values_list(*names):
        found[memory_id].append(Answer(question, answer, was))
    return {memory_id: tuple(answers) for memory_id, answers in found.items()}


def readable_at(now: datetime | None, as_of: datetime | None) -> MemoryQuerySet:
    """Return the memories that may be read now, or with `as_of` those that could be read then."""
    if as_of is None:
        return Memory.objects.recallable(now)
    return Memory.objects.recallable_then(as_of)


def given_answers(now: datetime | None, as_of: datetime | None) -> QuerySet[MemoryAnswer]:
    """Return the answers of memories that may be read now, or that could be read at `as_of`.

    With `as_of`, of memories that have the wording and place of then, those that they had then.
    What a model or a rule reads from a statement counts from the statement on.
    """
    readable = readable_at(now, as_of).order_by()
    return _as_worded(MemoryAnswer.objects.filter(memory__in=readable).order_by(), as_of)


def former_answers(now: datetime, as_of: datetime | None) -> QuerySet[MemoryAnswer]:
    """Return the answers of memories that were readable before, and are not forgotten since.

    These are superseded, retired, culled or expired now, or were so at `as_of`.
    """
    readable = readable_at(now, as_of).order_by().filter(pk=OuterRef("memory"))
    given = MemoryAnswer.objects.filter(
        ~Exists(readable), memory__forgotten_at=None, memory__observed_at__lte=as_of or now
    )
    return _as_worded(given.order_by(), as_of)


def _as_worded(given: QuerySet[MemoryAnswer], as_of: datetime | None) -> QuerySet[MemoryAnswer]:
    """Return the answers of memories that have the wording and place of `as_of`, if it is given."""
    return given if as_of is None else given.filter(~Exists(_other_at(as_of)))


def _other_at(at: datetime) -> QuerySet[Revision]:
    """Return the former wording of an answer's memory at `at`, if it differs in what is shown.

    That is the first revision replaced after it. Conditions of this form are planned as joins of
    sets, whatever the number of answers.
    """
    later = Revision.objects.filter(created_at__gt=at).order_by()
    earlier = later.filter(memory=OuterRef("memory"), number__lt=OuterRef("number"))
    first = later.filter(~Exists(earlier), memory=OuterRef("memory"))
    record = JSONObject(
        question=OuterRef("question"), answer=OuterRef("answer"), was=OuterRef("was")
    )
    shown = JSONObject(
        scope=OuterRef("memory__scope"),
        project=OuterRef("memory__project"),
        answers=Func(record, function="jsonb_build_array", output_field=JSONField()),
    )
    expiry = Cast(KeyTextTransform("expires_at", "fields"), DateTimeField())
    same = Q(content=OuterRef("memory__content"), fields__contains=shown)
    stood = same & (Q(expiry=None) | Q(expiry__gt=at))
    return first.alias(expiry=expiry).filter(~stood)
