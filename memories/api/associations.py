"""The links of one memory."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView
from engram.kernel.pagination import LimitOffset
from engram.kernel.refusals import MissingError
from memories.api.memories import visible_to
from memories.serializers.associations import MemoryLinkSerializer
from memories.services.associations.list import links_of_memory


class MemoryAssociations(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """`GET /memories/{id}/associations`."""

    serializer_class = MemoryLinkSerializer
    pagination_class = LimitOffset
    filter_backends = ()

    @extend_schema(responses=MemoryLinkSerializer(many=True))
    def get(self, request: Request, memory_id: UUID, *args: Any, **kwargs: Any) -> Response:
        """List what a memory is linked with, strongest first: recallable memories, and notes."""
        memory = visible_to(self.actor.role).filter(pk=memory_id).first()
        if memory is None:
            raise MissingError("There is no such memory.")
        page = self.paginate_queryset(links_of_memory(memory, timezone.now()))
        return self.get_paginated_response(MemoryLinkSerializer(cast("Any", page), many=True).data)
