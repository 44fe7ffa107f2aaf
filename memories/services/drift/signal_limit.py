"""Limit the signals of one key that wait for people, as the conflicts that it opens are limited."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from engram.kernel.actors import Actor
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.locks import one_at_a_time
from engram.kernel.tenancy import current_workspace_id
from memories.core.track_records import Record
from memories.models import PredictionError, Resolution
from memories.models.drift import ErrorType

_CONFIRMED = (Resolution.UPDATED, Resolution.MEMORY_FORGOTTEN)
_DISMISSED = (Resolution.STILL_TRUE, Resolution.DISMISSED)


def room_for_signals(actor: Actor, config: WorkspaceSettings) -> int | None:
    """Return how many more signals of an actor may wait for people; None: it is not limited.

    Limited are keys until people have decided enough of their signals, and afterwards those whose
    signals are mostly dismissed. Signals of one key are counted one at a time.
    """
    if actor.key_id is None or actor.counts_as_person:
        return None
    one_at_a_time(f"signals:{current_workspace_id()}:{actor.label}")
    counts = _of(actor).aggregate(
        waiting=Count("pk", filter=Q(resolved_at=None)),
        confirmed=Count("pk", filter=Q(resolution__in=_CONFIRMED)),
        dismissed=Count("pk", filter=Q(resolution__in=_DISMISSED)),
    )
    record = Record(counts["confirmed"], counts["dismissed"])
    if record.is_established and record.may_open:
        return None
    return max(0, config.undecided_cards_per_key - int(counts["waiting"]))


def with_open_signal(memory_ids: Collection[UUID], source: str) -> set[UUID]:
    """Return the memories about which a signal of this source is open: another one joins it."""
    found = PredictionError.objects.filter(
        error_type=ErrorType.MEMORY_EXTERNAL_SIGNAL,
        resolved_at=None,
        source=source,
        memory__in=list(memory_ids),
    )
    return {pk for pk in found.order_by().values_list("memory_id", flat=True) if pk is not None}


def _of(actor: Actor) -> QuerySet[PredictionError]:
    """Return the signals that an actor has posted or joined, open or not.

    `by` is a list; of older rows one label, which the operator for lists reads, too.
    """
    found = PredictionError.objects.filter(
        error_type=ErrorType.MEMORY_EXTERNAL_SIGNAL, context__by__contains=actor.label
    )
    return found.order_by()
