"""API of asks: pairs of memories whose relation the caller was asked to report."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView
from engram.kernel.models import Role
from memories.models import Ask
from memories.serializers.asks import AskSerializer, present_asks
from memories.services.asks.waiting import waiting_asks


class AskCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """`GET /memories/asks`."""

    default_read_role = Role.AGENT  # only who commits is asked
    serializer_class = AskSerializer
    filter_backends = ()

    def get_queryset(self) -> Any:
        """Return the asks that wait for the caller."""
        if getattr(self, "swagger_fake_view", False):  # no request while the schema is generated
            return Ask.objects.none()
        return waiting_asks(self.actor, self.workspace.config, timezone.now())

    @extend_schema(responses=AskSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the pairs that commits of this key named as `nearby`, newest first.

        An ask leaves the list when anybody reports how the two relate, when one of them is not live
        any more, when a card asks people about them, and after `ask_days`; the pair is not asked
        about again.
        """
        page = self.paginate_queryset(self.get_queryset()) or []
        return self.get_paginated_response(present_asks(page, days=self.workspace.config.ask_days))
