"""Select the prediction errors that wait in the inbox; one stands for all of its edit of a note."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
    Window,
)
from django.db.models.functions import RowNumber

from engram.console.inbox.source import SEVERITIES, InboxFilter
from engram.console.models import PutOff
from memories.models import Memory, PredictionError
from memories.models.memory import in_scope
from memories.services.drift.note_edits import waiting_errors, with_edit


def with_urgency(found: QuerySet[Any]) -> QuerySet[Any]:
    """Annotate errors with `urgency` and `since`, by which the queue is ordered."""
    urgency = Case(
        *(When(severity=name, then=Value(place)) for place, name in enumerate(SEVERITIES)),
        default=Value(len(SEVERITIES) - 1),
        output_field=IntegerField(),
    )
    both = found.select_related("memory", "note")
    marked: QuerySet[Any] = both.annotate(urgency=urgency, since=F("detected_at"))
    return marked


def waiting_in(wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
    """Return all waiting errors that match the filter, also of one edit, annotated with `edit`."""
    found: QuerySet[Any] = waiting_errors(now)
    if wanted.assignee_id is not None:
        found = found.none()
    if wanted.scope:
        inside = Memory.objects.filter(in_scope(wanted.scope.strip("/")))
        found = found.filter(Exists(inside.filter(pk=OuterRef("memory"))))
    if wanted.text:
        named = Q(memory__content__icontains=wanted.text)
        found = found.filter(named | Q(note_path__icontains=wanted.text))
    marked: QuerySet[Any] = with_edit(with_urgency(found))
    if wanted.severity:
        marked = marked.filter(urgency=SEVERITIES.index(wanted.severity))
    return marked


def due_in(wanted: InboxFilter, source: str, now: datetime) -> QuerySet[Any]:
    """Return `waiting_in` without the edits of which one error is snoozed."""
    put_off = PutOff.objects.filter(source=source, until__gt=now)
    hidden: QuerySet[Any] = with_edit(PredictionError.objects.filter(pk__in=put_off.values("item")))
    return waiting_in(wanted, now).exclude(edit__in=hidden.order_by().values("edit"))


def edit_sizes(rows: Sequence[Any], wanted: InboxFilter, now: datetime) -> dict[UUID, int]:
    """Return how many waiting errors that match the filter each of these rows stands for.

    Rows that do not wait, or do not match, are left out.
    """
    matching = waiting_in(wanted, now).order_by()
    edits = dict(matching.filter(pk__in=[row.pk for row in rows]).values_list("pk", "edit"))
    notes = {row.note_id for row in rows if row.note_id and row.pk in edits}
    counted = matching.filter(note__in=notes).values_list("edit").annotate(n=Count("pk"))
    sizes = dict(counted) if notes else {}
    return {pk: sizes.get(edit, 1) for pk, edit in edits.items()}


def first_of_edits(found: QuerySet[Any]) -> QuerySet[Any]:
    """Return the first error of each edit, and every other error."""
    place = Window(
        RowNumber(), partition_by=F("edit"), order_by=[F("urgency"), F("since"), F("pk")]
    )
    first = found.order_by().annotate(place=place).filter(place=1)
    return with_urgency(PredictionError.objects.filter(pk__in=first.values("pk")))
