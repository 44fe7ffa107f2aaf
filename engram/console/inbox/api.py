"""The API of the inbox: counts and items, in the order of the page."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from engram.console.inbox import queue
from engram.console.inbox.counts import tallies
from engram.console.inbox.registry import SOURCES, sources_for
from engram.console.inbox.source import SEVERITIES, InboxEntry, InboxFilter, Mark
from engram.kernel.api import WorkspaceView
from engram.kernel.pagination import NewestFirst


class InboxSourceSerializer(serializers.Serializer[Any]):
    """A source of items that wait for people."""

    name = serializers.CharField()
    title = serializers.CharField()
    count = serializers.IntegerField()
    oldest = serializers.DateTimeField(allow_null=True)


class InboxItemSerializer(serializers.Serializer[Any]):
    """A waiting item; `id` is that of the conflict, review, suggestion or another kind."""

    source = serializers.CharField()  # type: ignore[assignment]  # the contract's word
    id = serializers.UUIDField()
    kind = serializers.CharField()
    severity = serializers.ChoiceField(SEVERITIES)
    title = serializers.CharField()
    since = serializers.DateTimeField()
    size = serializers.IntegerField(
        help_text="How many items it stands for: drift of several memories from one edit of a note."
    )


class InboxSerializer(serializers.Serializer[Any]):
    """Counts of waiting items, and one page of them, the most urgent first."""

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


class MostUrgentFirst(NewestFirst):
    """Cursor pagination of the queue over all sources, which no single query can order."""

    ordering = ("mark",)

    def read_position(self, position: str) -> str:
        """Return the mark of a cursor position; raise `ValueError` for an invalid one."""
        return str(Mark.parse(position))


class Inbox(WorkspaceView):
    """The items that wait for people."""

    query_shape = InboxQuerySerializer
    pagination_class = MostUrgentFirst

    @extend_schema(responses=InboxSerializer)
    def get(self, request: Request) -> Response:
        """List the items of all kinds that wait for people, the most urgent first.

        Of equally urgent items conflicts come first, then the oldest.

        `sources` count all items that the caller's role may see, without the filters; each item is
        answered at the route of its kind: `conflicts`, `reviews`, `merge-suggestions`,
        `predictor/calibration`, `mutings`, `memories/extraction-refusals`, `prediction-errors`
        (`drift`; one of `size` above 1 by its note and version at `prediction-errors/resolve`).
        """
        query = self.query_values()
        now = timezone.now()
        sources = sources_for(self.actor.role)
        if query["source"] not in {"", *(source.name for source in sources)}:
            raise ValidationError({"source": "There is no such source."})
        wanted = InboxFilter(source=query["source"], severity=query["severity"])
        waiting: Any = queue.WaitingEntries(sources, wanted, now)  # the stubs know querysets only
        pages = self.pagination_class()
        rows: list[InboxEntry] = pages.paginate_queryset(waiting, request) or []
        counted = tallies(sources, now)
        return Response(
            InboxSerializer(
                {
                    "count": sum(found.count for found in counted.values()),
                    "sources": [
                        {
                            "name": source.name,
                            "title": source.title,
                            "count": counted[source.name].count,
                            "oldest": counted[source.name].oldest,
                        }
                        for source in sources
                    ],
                    **pages.get_paginated_response([_shape(entry) for entry in rows]).data,
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
        "size": entry.size,
    }
