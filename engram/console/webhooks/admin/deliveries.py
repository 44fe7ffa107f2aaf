"""The admin of deliveries: what was sent, what came back, and sending it again."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import action, display

from engram.console.models import DeliveryStatus, WebhookDelivery, WebhookEndpoint
from engram.console.webhooks import endpoints
from engram.console.webhooks.events import body_of
from engram.console.wording import words_for
from engram.kernel.labels import Count
from engram.kernel.models import Role
from engram.kernel.pages import staff_of
from engram.kernel.staff import RoleAdmin, format_moment, moment_column


def host_of(endpoint: WebhookEndpoint) -> str:
    """Return the host of a webhook's URL."""
    return urlsplit(endpoint.url).netloc


class WebhookFilter(admin.SimpleListFilter):
    """Filter by webhook."""

    title = "webhook"
    parameter_name = "webhook"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the webhooks of the workspace, by host."""
        rows = WebhookEndpoint.objects.all()
        return [(str(row.pk), f"{host_of(row)} ({str(row.pk)[:8]})") for row in rows]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep the deliveries of the webhook; an unknown one keeps all."""
        chosen = self.value()
        known = {value for value, _ in self.lookup_choices}
        return queryset.filter(endpoint_id=chosen) if chosen in known else queryset


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(RoleAdmin):
    """Deliveries of webhooks of the last 30 days."""

    roles = {"view": Role.ADMIN, "act": Role.ADMIN}
    list_display = [
        "event_time",
        "happened",
        "place",
        "condition",
        "attempts",
        "answered",
        "next_at",
    ]
    list_display_links = ["event_time"]
    list_filter = ["status", WebhookFilter]
    event_time = moment_column("at", "event")
    next_at = moment_column("due_at", "next attempt")
    search_fields = ["kind"]
    search_help_text = "A type such as conflict.opened, the id of a delivery or of an object"
    ordering = ["-at", "-id"]
    actions = ["send_again"]
    empty_text = "Nothing was sent yet. What webhooks are told of comes here, for 30 days."
    empty_next = ("Webhooks", "admin:console_webhookendpoint_changelist")

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookDelivery]:
        """Return the deliveries with their webhooks."""
        found: QuerySet[WebhookDelivery] = super().get_queryset(request)
        return found.select_related("endpoint", "workspace")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WebhookDelivery], search_term: str
    ) -> tuple[QuerySet[WebhookDelivery], bool]:
        """Find deliveries by exact type, object or id."""
        term = search_term.replace("\x00", "").strip()
        if not term:
            return queryset, False
        found = Q(kind=term) | Q(object_id=term)
        with suppress(ValueError):
            found |= Q(pk=UUID(term))
        return queryset.filter(found), False

    def heading_of(self, row: WebhookDelivery) -> str:
        """Return what happened, who is told of it, and when it happened."""
        return f"{self.happened(row)}, to {host_of(row.endpoint)}, {format_moment(row.at)}"

    @display(description="what happened", ordering="kind")
    def happened(self, delivery: WebhookDelivery) -> str:
        """Return the event in words."""
        return words_for(delivery.kind, {})

    @display(description="for support")
    def technical(self, delivery: WebhookDelivery) -> str:
        """Return the id of the delivery, which its receiver has, folded."""
        return format_html("<details><summary>Id</summary>{}</details>", delivery.pk)

    @display(description="webhook")
    def place(self, delivery: WebhookDelivery) -> str:
        """Return the host that it is sent to, with a link to the webhook."""
        page = reverse("admin:console_webhookendpoint_change", args=[delivery.endpoint_id])
        return format_html('<a href="{}">{}</a>', page, host_of(delivery.endpoint))

    @display(
        description="state",
        ordering="status",
        label={"delivered": "success", "waiting": "info", "given up": "danger"},
    )
    def condition(self, delivery: WebhookDelivery) -> str:
        """Return the state, in words."""
        return DeliveryStatus(delivery.status).label.lower()

    @display(description="last answer")
    def answered(self, delivery: WebhookDelivery) -> str:
        """Return the status and the first line of the last answer, or why there was none."""
        status = "" if delivery.status_code is None else str(delivery.status_code)
        return format_html('<span class="eg-cell">{} {}</span>', status, delivery.note)

    @display(description="body")
    def body(self, delivery: WebhookDelivery) -> str:
        """Return the body as it is sent."""
        shown = json.dumps(
            json.loads(body_of(delivery, delivery.workspace)), indent=2, ensure_ascii=False
        )
        return format_html('<pre class="eg-stored" tabindex="0">{}</pre>', shown)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Return what people need and there is; neither lease nor workspace."""
        if_any = {
            "attempted_at": "attempted_at", "due_at": "next_at", "delivered_at": "delivered_at",
            "status_code": "status_code", "note": "note",
        }  # fmt: skip
        known = [shown for field, shown in if_any.items() if obj and getattr(obj, field)]
        return ["place", "happened", "condition", "attempts", *known, "body", "technical"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Change nothing."""
        return self.get_fields(request, obj)

    @action(description="Send again", permissions=["act"])
    def send_again(self, request: HttpRequest, rows: QuerySet[WebhookDelivery]) -> None:
        """Queue deliveries again, under the same ids."""
        staff, now = staff_of(request), timezone.now()
        queued = self.one_by_one(
            request, rows, lambda one: endpoints.redeliver(staff.workspace, one.pk, now=now)
        )
        if queued:
            messages.success(request, f"{Count(queued):delivery|deliveries} queued.")
