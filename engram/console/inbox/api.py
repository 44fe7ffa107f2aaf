"""The API of the inbox: counts and items, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import Cursor
from rest_framework.request import Request
from rest_framework.response import Response

from engram.console.inbox import queue
from engram.console.inbox.registry import SOURCES, sources_for
from engram.console.inbox.source import SEVERITIES, InboxEntry, InboxFilter, Mark
from engram.kernel.api import WorkspaceView
from engram.kernel.fields import QueryWhole
from engram.kernel.literals import moment, whole_number
from engram.kernel.pagination import MAX_LIMIT, NewestFirst

DEFAULT_LIMIT = 50


class InboxSourceSerializer(serializers.Serializer[Any]):
    """A source of items that wait for people."""

    name = serializers.CharField()
    title = serializers.CharField()
    count = serializers.IntegerField()
    oldest = serializers.DateTimeField(allow_null=True)


class InboxItemSerializer(serializers.Serializer[Any]):
    """A waiting item; `id` is that of the conflict, review, suggestion or calibration item."""

    source = serializers.CharField()  # type: ignore[assignment]  # the contract's word
    id = serializers.UUIDField()
    kind = serializers.CharField()
    severity = serializers.ChoiceField(SEVERITIES)
    title = serializers.CharField()
    since = serializers.DateTimeField()


class InboxSerializer(serializers.Serializer[Any]):
    """Counts of waiting items, and one page of them, the most urgent and oldest first."""

    count = serializers.IntegerField()
    sources = InboxSourceSerializer(many=True)
    results = InboxItemSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)


class InboxQuerySerializer(serializers.Serializer[Any]):
    """The query parameters of `GET /inbox`."""

    source = serializers.ChoiceField(  # type: ignore[assignment]  # the contract's word
        [source.name for source in SOURCES], required=False, default=""
    )
    severity = serializers.ChoiceField(SEVERITIES, required=False, default="")
    limit = QueryWhole(min_value=1, max_value=MAX_LIMIT, required=False, default=DEFAULT_LIMIT)
    cursor = serializers.CharField(required=False, default="", max_length=400)


class InboxPages(NewestFirst):
    """Paginates the queue over all sources, which no single query can order."""

    def read_position(self, position: str) -> str:
        """Return a cursor's mark in the queue; raise `ValueError` for an invalid one."""
        return _position(_place(position))

    def answer(
        self,
        request: Request,
        limit: int,
        entries: Callable[[Mark | None, int, bool], list[InboxEntry]],
    ) -> dict[str, Any]:
        """Return a page of `entries(place, limit, is_back)`, which returns the nearest first."""
        cursor = self.decode_cursor(request) if request.query_params.get("cursor") else None
        place = _place(cursor.position) if cursor and cursor.position else None
        is_back = bool(cursor and cursor.reverse)
        found = entries(place, limit + 1, is_back)
        has_more, rows = len(found) > limit, found[:limit]
        if is_back:
            rows.reverse()
        has_next, has_previous = (True, has_more) if is_back else (has_more, cursor is not None)
        self.base_url = request.build_absolute_uri()
        return {
            "results": [_shape(entry) for entry in rows],
            "next": self._link(rows[-1], is_back=False) if rows and has_next else None,
            "previous": self._link(rows[0], is_back=True) if rows and has_previous else None,
        }

    def _link(self, entry: InboxEntry, *, is_back: bool) -> str:
        position: Any = _position(entry.mark)  # the stubs know numbers only
        return str(self.encode_cursor(Cursor(0, is_back, position)))


def _position(place: Mark) -> str:
    return f"{place.urgency} {place.since.isoformat()} {place.source} {place.id}"


def _place(position: str) -> Mark:
    urgency, since, source, item = position.split(" ")
    rank = whole_number(urgency, least=0, most=len(SEVERITIES) - 1)
    return Mark(rank, moment(since), source, UUID(item))


class Inbox(WorkspaceView):
    """The items that wait for people."""

    query_shape = InboxQuerySerializer

    @extend_schema(responses=InboxSerializer)
    def get(self, request: Request) -> Response:
        """List the items of all kinds that wait for people, the most urgent and oldest first.

        `sources` count all items that the caller's role may see, without the filters; each item is
        answered at the route of its kind: `conflicts`, `reviews`, `merge-suggestions`,
        `predictor/calibration`.
        """
        query = self.query_values()
        now = timezone.now()
        sources = sources_for(self.actor.role)
        if query["source"] not in {"", *(source.name for source in sources)}:
            raise ValidationError({"source": "There is no such source."})
        wanted = InboxFilter(source=query["source"], severity=query["severity"])

        def entries(place: Mark | None, limit: int, is_back: bool) -> list[InboxEntry]:
            return queue.entries(sources, wanted, now, mark=place, limit=limit, is_back=is_back)

        page = InboxPages().answer(request, query["limit"], entries)
        tallies = queue.tallies(sources, now)
        return Response(
            InboxSerializer(
                {
                    "count": sum(tally.count for tally in tallies.values()),
                    "sources": [
                        {
                            "name": source.name,
                            "title": source.title,
                            "count": tallies[source.name].count,
                            "oldest": tallies[source.name].oldest,
                        }
                        for source in sources
                    ],
                    **page,
                }
            ).data
        )


def _shape(entry: InboxEntry) -> dict[str, Any]:
    return {
        "source": entry.mark.source,
        "id": entry.mark.id,
        "kind": entry.kind,
        "severity": entry.severity,
        "title": entry.title,
        "since": entry.mark.since,
    }
