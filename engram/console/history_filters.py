"""Filters of the list of history: in words, and what others did since a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from engram.console.changes import by_others
from engram.console.event_fields import kind_in_words
from engram.console.wording import words_for
from engram.kernel.models import Event
from engram.kernel.pages import staff_of
from engram.kernel.staff import format_moment

_ACTORS = {"key": "Agents", "user": "People", "system": "Engram itself"}


class _WordedFilter(admin.AllValuesFieldListFilter):
    """Filter by the values that there are, in words."""

    in_words: Callable[[str], str]  # what the page calls a value

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Yield the choices, each in words."""
        for choice in super().choices(changelist):
            yield {**choice, "display": self.in_words(str(choice["display"]))}


class KindFilter(_WordedFilter):
    """Filter by the kind of object, in words."""

    in_words = staticmethod(kind_in_words)


def _actor_in_words(kind: str) -> str:
    return _ACTORS.get(kind, kind)


class ActorFilter(_WordedFilter):
    """Filter by the kind of actor, in words."""

    in_words = staticmethod(_actor_in_words)


class _LinkedFilter(admin.SimpleListFilter):
    """A filter that links set: it shows what it is set to, and offers to remove it."""

    parameter_name: str
    in_words: Callable[[str], str]  # what the page calls a value

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the value of the address, in words; none without one."""
        chosen = request.GET.get(self.parameter_name, "")
        return [(chosen, self.in_words(chosen))] if chosen else []


def _type_in_words(kind: str) -> str:
    return words_for(kind, {})


class HappenedFilter(_LinkedFilter):
    """Filter by what happened."""

    title = "what happened"
    parameter_name = "happened"
    in_words = staticmethod(_type_in_words)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Event]) -> QuerySet[Event]:
        """Keep the events of the type."""
        return queryset.filter(type=self.value()) if self.value() else queryset


def _moment(text: str) -> datetime:
    """Return a moment of an address; raises what makes the list show everything again."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise IncorrectLookupParameters(str(error)) from error
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)


def _moment_in_words(text: str) -> str:
    return format_moment(_moment(text))


class SinceFilter(_LinkedFilter):
    """Filter by what others did since a moment, as Home counts it."""

    title = "by others, since"
    parameter_name = "since"
    in_words = staticmethod(_moment_in_words)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Event]) -> QuerySet[Event]:
        """Keep what anybody but the reader did since then."""
        chosen = self.value()
        if not chosen:
            return queryset
        return by_others(queryset, staff_of(request).actor.id, _moment(chosen))
