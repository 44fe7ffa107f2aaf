"""The inbox for programs: how much waits, and what, in the order in which people see it."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from engram.console.inbox import queue
from engram.console.inbox.registry import SOURCES, sources_for
from engram.console.inbox.source import SEVERITIES, Entry, Mark, Wanted
from engram.kernel.api import WorkspaceView
from engram.kernel.fields import AskedWhole
from engram.kernel.literals import moment
from engram.kernel.pagination import MAX_LIMIT

DEFAULT_LIMIT = 50


class InboxSourceSerializer(serializers.Serializer[Any]):
    """One kind of thing that waits for people."""

    name = serializers.CharField()
    title = serializers.CharField()
    count = serializers.IntegerField()
    oldest = serializers.DateTimeField(allow_null=True)


class InboxItemSerializer(serializers.Serializer[Any]):
    """One thing that waits; `id` is that of the conflict, review, suggestion or item itself."""

    source = serializers.CharField()  # type: ignore[assignment]  # the contract's word
    id = serializers.UUIDField()
    kind = serializers.CharField()
    severity = serializers.ChoiceField(SEVERITIES)
    title = serializers.CharField()
    since = serializers.DateTimeField()


class InboxSerializer(serializers.Serializer[Any]):
    """How much waits, and one page of it, the most urgent and longest-waiting first."""

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
    limit = AskedWhole(min_value=1, max_value=MAX_LIMIT, required=False, default=DEFAULT_LIMIT)
    cursor = serializers.CharField(required=False, default="", max_length=400)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins: after a place in the queue, or before it."""

    mark: Mark
    is_back: bool

    def __str__(self) -> str:
        mark = self.mark
        parts = [mark.urgency, mark.since.isoformat(), mark.source, str(mark.id), self.is_back]
        return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Return the cursor; what is not one of ours is a validation error."""
        try:
            padded = text.encode() + b"=" * (-len(text) % 4)
            urgency, since, source, item, is_back = json.loads(
                base64.b64decode(padded, altchars=b"-_", validate=True)
            )
            since_at = moment(since)
            is_ours = (
                urgency in range(len(SEVERITIES))
                and type(urgency) is int
                and isinstance(source, str)
                and isinstance(is_back, bool)
            )
            if not is_ours:
                raise ValueError(text)
            return cls(Mark(urgency, since_at, source, UUID(item)), is_back)
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            raise ValidationError({"cursor": "Not a cursor of this list."}) from None


class Inbox(WorkspaceView):
    """What waits for a person."""

    query_shape = InboxQuerySerializer

    @extend_schema(responses=InboxSerializer)
    def get(self, request: Request) -> Response:
        """List what waits for people, whatever its kind, the most urgent and oldest first.

        `sources` count everything that the caller's role may see, filtered or not; each item is
        answered at the route of its kind: `conflicts`, `reviews`, `merge-suggestions`,
        `predictor/calibration`.
        """
        query = self.asked()
        now = timezone.now()
        sources = sources_for(self.actor.role)
        if query["source"] not in {"", *(source.name for source in sources)}:
            raise ValidationError({"source": "There is no such source."})
        wanted = Wanted(source=query["source"], severity=query["severity"])
        cursor = Cursor.parse(query["cursor"]) if query["cursor"] else None
        limit: int = query["limit"]
        found = queue.entries(
            sources,
            wanted,
            now,
            mark=cursor.mark if cursor else None,
            limit=limit + 1,
            is_back=cursor is not None and cursor.is_back,
        )
        has_more, page = len(found) > limit, found[:limit]
        is_back = cursor is not None and cursor.is_back
        if is_back:
            page.reverse()
        has_next, has_previous = (True, has_more) if is_back else (has_more, cursor is not None)
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
                    "results": [_shape(entry) for entry in page],
                    "next": _link(request, page[-1], False) if page and has_next else None,
                    "previous": _link(request, page[0], True) if page and has_previous else None,
                }
            ).data
        )


def _shape(entry: Entry) -> dict[str, Any]:
    return {
        "source": entry.mark.source,
        "id": entry.mark.id,
        "kind": entry.kind,
        "severity": entry.severity,
        "title": entry.title,
        "since": entry.mark.since,
    }


def _link(request: Request, entry: Entry, is_back: bool) -> str:
    params = request.query_params.copy()
    params["cursor"] = str(Cursor(entry.mark, is_back))
    return request.build_absolute_uri(f"{request.path}?{params.urlencode()}")
