"""API views of webhooks and their deliveries."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import django_filters
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.console.models import DeliveryStatus, WebhookDelivery, WebhookEndpoint
from engram.console.webhooks import endpoints, shapes
from engram.console.webhooks.events import KINDS, TEST
from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.filters import MomentFilter, StrictFilterSet
from engram.kernel.models import Role
from engram.kernel.pagination import NewestFirst
from engram.kernel.refusals import MissingError


class NewestDeliveryFirst(NewestFirst):
    """Deliveries by the time of their event, newest first."""

    ordering = ("-at", "-id")


def _find(endpoint_id: UUID) -> WebhookEndpoint:
    endpoint = WebhookEndpoint.objects.filter(pk=endpoint_id).first()
    if endpoint is None:
        raise MissingError(endpoints.NO_SUCH_WEBHOOK)
    return endpoint


class WebhookCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The webhooks of the workspace."""

    roles = {"GET": Role.ADMIN, "POST": Role.ADMIN}
    serializer_class = shapes.WebhookSerializer
    filter_backends = ()
    keeps_answers = False  # a secret is shown only once

    def get_queryset(self) -> Any:
        """Return all webhooks, disabled ones too."""
        return WebhookEndpoint.objects.all()

    @extend_schema(
        request=shapes.NewWebhookSerializer, responses={201: shapes.WebhookWithSecretSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a webhook; only this response contains its secret.

        From now on the chosen events are sent to it, each until it is answered by a status from
        200 to 299, at least once, with the same `webhook-id` each time. What is sent has ids and
        no text of a memory.
        """
        body = validate_body(shapes.NewWebhookSerializer, request).validated_data
        endpoint, secret = endpoints.make(
            self.workspace, **body, actor=self.actor, now=timezone.now()
        )
        return Response({**shapes.WebhookSerializer(endpoint).data, "secret": secret}, status=201)


class WebhookDetail(WorkspaceView):
    """One webhook."""

    roles = {"GET": Role.ADMIN, "PATCH": Role.ADMIN, "DELETE": Role.ADMIN}

    @extend_schema(responses=shapes.WebhookSerializer)
    def get(self, request: Request, webhook_id: UUID) -> Response:
        """Show a webhook (never its secret)."""
        return Response(shapes.WebhookSerializer(_find(webhook_id)).data)

    @extend_schema(request=shapes.ChangedWebhookSerializer, responses=shapes.WebhookSerializer)
    def patch(self, request: Request, webhook_id: UUID) -> Response:
        """Change the URL or the events of a webhook, disable or enable it."""
        body = validate_body(shapes.ChangedWebhookSerializer, request).validated_data
        endpoint = endpoints.change(
            self.workspace, webhook_id, **body, actor=self.actor, now=timezone.now()
        )
        return Response(shapes.WebhookSerializer(endpoint).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, webhook_id: UUID) -> Response:
        """Delete a webhook with its deliveries; what waits is not sent any more."""
        endpoints.delete(self.workspace, webhook_id, actor=self.actor, now=timezone.now())
        return Response(status=204)


class WebhookSecret(WorkspaceView):
    """The secret of a webhook."""

    roles = {"POST": Role.ADMIN}
    keeps_answers = False

    @extend_schema(request=None, responses=shapes.WebhookWithSecretSerializer)
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """Make a new secret; only this response contains it.

        For a day deliveries are signed by both: the header has two signatures.
        """
        endpoint, secret = endpoints.replace_secret(
            self.workspace, webhook_id, actor=self.actor, now=timezone.now()
        )
        return Response({**shapes.WebhookSerializer(endpoint).data, "secret": secret})


class WebhookTest(WorkspaceView):
    """A test of a webhook."""

    roles = {"POST": Role.ADMIN}

    @extend_schema(request=None, responses={202: shapes.DeliverySerializer})
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """Send a delivery of the type `webhook.test`."""
        delivery = endpoints.send_test(self.workspace, webhook_id, now=timezone.now())
        return Response(shapes.DeliverySerializer(delivery).data, status=202)


class DeliveryFilter(StrictFilterSet):
    """`GET /webhooks/{id}/deliveries` filters."""

    status = django_filters.ChoiceFilter(choices=DeliveryStatus.choices)
    type = django_filters.ChoiceFilter(
        field_name="kind", choices=[(kind, kind) for kind in (*KINDS, TEST)]
    )
    since = MomentFilter(field_name="at", lookup_expr="gte")

    class Meta:
        model = WebhookDelivery
        fields: list[str] = []


class DeliveryCollection(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The deliveries of a webhook."""

    roles = {"GET": Role.ADMIN}
    serializer_class = shapes.DeliverySerializer
    filterset_class = DeliveryFilter
    pagination_class = NewestDeliveryFirst

    def get_queryset(self) -> Any:
        """Return the deliveries of the last 30 days."""
        if getattr(self, "swagger_fake_view", False):  # described, not called
            return WebhookDelivery.objects.none()
        return _find(self.kwargs["webhook_id"]).deliveries.all()


class DeliveryAgain(WorkspaceView):
    """A delivery to send again."""

    roles = {"POST": Role.ADMIN}

    @extend_schema(request=None, responses={202: shapes.DeliverySerializer})
    def post(self, request: Request, delivery_id: UUID) -> Response:
        """Send a delivery again, under the same `webhook-id`, with all attempts before it."""
        delivery = endpoints.redeliver(self.workspace, delivery_id, now=timezone.now())
        return Response(shapes.DeliverySerializer(delivery).data, status=202)
