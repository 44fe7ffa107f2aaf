"""What others changed since a person was last here, counted from the history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from django.db.models import Count as Counted
from django.db.models import Q, QuerySet
from django.urls import reverse

from engram.kernel.actors import Actor
from engram.kernel.labels import Count
from engram.kernel.models import Event
from memories.models.drift import OF_NOTES

LONGEST: Final = timedelta(days=30)
# The nouns of what is told, one and many, in the order in which it is told.
NOUNS: Final[dict[str, str]] = {
    "memory.committed": "commit",
    "memory.forgotten": "memory forgotten|memories forgotten",
    "conflict.opened": "conflict found|conflicts found",
    "conflict.resolved": "conflict decided|conflicts decided",
    "review.opened": "review requested|reviews requested",
    "drift.found": "memory put in doubt|memories put in doubt",
    "note.created": "new note",
    "note.changed": "note changed|notes changed",
    "session.judged": "session judged|sessions judged",
    "training.finished": "training finished|trainings finished",
    "janitor.ran": "run of the janitor|runs of the janitor",
    "member.added": "member added|members added",
    "settings.changed": "change of settings|changes of settings",
}


@dataclass(frozen=True, slots=True)
class Change:
    """How often one thing happened, in words, and where the history lists it."""

    words: str
    url: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What happened since `since` (None: this is the first visit); at most 30 days are counted."""

    since: datetime | None
    is_cut: bool
    told: tuple[Change, ...]


def changes_since(seen_at: datetime | None, actor: Actor, now: datetime) -> Changes:
    """Count what anybody but the person did since a moment, in one query."""
    if seen_at is None:
        return Changes(None, is_cut=False, told=())
    since = max(seen_at, now - LONGEST)
    counted = dict(
        by_others(Event.objects.filter(type__in=list(NOUNS)), actor.id, since)
        .order_by()
        .values_list("type")
        .annotate(n=Counted("pk"))
    )
    history = reverse("admin:kernel_event_changelist")
    told = tuple(
        Change(
            f"{Count(counted[kind]):{noun}}",
            f"{history}?{urlencode({'happened': kind, 'since': since.isoformat()})}",
        )
        for kind, noun in NOUNS.items()
        if counted.get(kind)
    )
    return Changes(since, is_cut=since > seen_at, told=told)


def by_others(events: QuerySet[Event], user_id: str, since: datetime) -> QuerySet[Event]:
    """Return what anybody but a person did since a moment, without drift of notes alone."""
    return (
        events.filter(at__gt=since)
        .exclude(Q(actor_kind="user", actor_id=user_id))
        .exclude(
            type="drift.found",
            data__has_key="error_type",
            data__error_type__in=list(OF_NOTES),
        )
    )
