"""The admin of webhooks: made, tested, changed, deleted; the secret is shown once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminTextInputWidget

from engram.console.event_fields import kind_in_words
from engram.console.models import WebhookEndpoint
from engram.console.webhooks import endpoints
from engram.console.webhooks.addresses import URL_MAX_CHARS
from engram.console.webhooks.admin.deliveries import host_of
from engram.console.webhooks.events import KINDS
from engram.console.wording import WORDS
from engram.kernel.labels import Count
from engram.kernel.models import Role
from engram.kernel.pages import staff_of
from engram.kernel.refusals import InvalidError, RefusalError
from engram.kernel.staff import RoleAdmin, format_moment, moment_column

# What the most people want to be told of comes first.
FIRST = ("conflict", "review", "merge", "prediction_error", "drift", "memory", "note")


def kinds_by_family() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the kinds of events with their words, by what they are about."""

    def family_of(kind: str) -> str:
        return kind.partition(".")[0]

    def place_of(kind: str) -> int:
        family = family_of(kind)
        return FIRST.index(family) if family in FIRST else len(FIRST)

    for family, kinds in groupby(sorted(KINDS, key=place_of), family_of):
        title = kind_in_words(family).capitalize()
        yield title, [(kind, WORDS.get(kind, kind)) for kind in kinds]


class WebhookForm(forms.ModelForm):  # type: ignore[type-arg]
    """Where events are sent, and which."""

    class Meta:
        model = WebhookEndpoint
        fields = ["url", "events", "is_enabled"]

    url = forms.CharField(
        label="URL",
        max_length=URL_MAX_CHARS,
        widget=UnfoldAdminTextInputWidget,
        help_text="Receives a POST for each event. It is shown to admins only.",
    )
    events = forms.MultipleChoiceField(
        choices=list(kinds_by_family()), widget=UnfoldAdminCheckboxSelectMultipleWidget
    )

    def clean_url(self) -> str:
        """Refuse a URL that cannot or may not be called."""
        url: str = self.cleaned_data["url"]
        try:
            endpoints.check_url(url)
        except InvalidError as error:
            raise forms.ValidationError(error.message) from None
        return url


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(RoleAdmin):
    """Webhooks: addresses that are told of events."""

    roles = {"view": Role.ADMIN, "add": Role.ADMIN, "change": Role.ADMIN, "act": Role.ADMIN}
    form = WebhookForm
    list_display = ["place", "condition", "chosen", "failures", "tried_at", "made_at"]
    list_display_links = ["place"]
    tried_at = moment_column("attempted_at", "last attempt")
    made_at = moment_column("created_at", "created")
    ordering = ["-created_at", "-id"]
    actions = ["send_test", "replace_secret", "remove"]
    empty_text = (
        "No other tool is told of anything yet. Add a webhook: chosen events are sent to its "
        "address, signed, until they arrive."
    )
    empty_next = ("Add a webhook", "admin:console_webhookendpoint_add")

    def heading_of(self, row: WebhookEndpoint) -> str:
        """Return the host that is told."""
        return f"Webhook to {host_of(row)}"

    def name_of(self, row: WebhookEndpoint) -> str:
        """Return host and path of the URL; its query may hold what opens it."""
        return f"{host_of(row)}{urlsplit(row.url).path}, added {format_moment(row.created_at)}"

    @display(description="URL", ordering="url")
    def place(self, endpoint: WebhookEndpoint) -> str:
        """Return the URL, cut."""
        return endpoint.url if len(endpoint.url) <= 80 else f"{endpoint.url[:79]}…"

    @display(
        description="state",
        label={"enabled": "success", "failing": "warning", "disabled": "danger"},
    )
    def condition(self, endpoint: WebhookEndpoint) -> str:
        """Return the webhook's state, in words."""
        if not endpoint.is_enabled:
            return "disabled"
        return "failing" if endpoint.failures else "enabled"

    @display(description="events")
    def chosen(self, endpoint: WebhookEndpoint) -> str:
        """Return how many kinds of events are sent, or the one."""
        return endpoint.events[0] if len(endpoint.events) == 1 else f"{len(endpoint.events)} kinds"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Return few fields for a new webhook and all but the secret for an existing one."""
        if obj is None:
            return ["url", "events"]
        return [
            "url", "is_enabled", "condition", "disabled_reason", "failures", "failing_since",
            "rests_until", "attempted_at", "created_by", "created_at", "events",
        ]  # fmt: skip

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Change the URL, the events, and whether it is enabled."""
        return [name for name in self.get_fields(request, obj) if name not in self.form.Meta.fields]

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Show the form; a refusal that only the service can tell leads back to the list."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except RefusalError as error:
            messages.error(request, error.detail)
            return HttpResponseRedirect(reverse("admin:console_webhookendpoint_changelist"))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Make or change the webhook; only the answer to the first has the secret."""
        staff, now = staff_of(request), timezone.now()
        sent = {"url": obj.url, "events": form.cleaned_data["events"], "actor": staff.actor}
        if change:
            on = form.cleaned_data["is_enabled"]
            endpoints.change(staff.workspace, obj.pk, is_enabled=on, **sent, now=now)
            return
        made, secret = endpoints.make(staff.workspace, **sent, now=now)
        obj.pk, obj.created_at = made.pk, made.created_at
        request.webhook_secret = secret  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: Any = None
    ) -> HttpResponse:
        """Show the secret, once."""
        return self._show_secret(request, obj, request.webhook_secret)  # type: ignore[attr-defined]

    def _show_secret(
        self, request: HttpRequest, endpoint: WebhookEndpoint, secret: str, *, is_new: bool = True
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "Webhook",
            "opts": self.opts,
            "endpoint": endpoint,
            "secret": secret,
            "is_new": is_new,
        }
        template = "admin/console/webhookendpoint/secret.html"
        response = TemplateResponse(request, template, context)
        response["Cache-Control"] = "no-store"
        return response

    @action(description="Send a test event", permissions=["act"])
    def send_test(self, request: HttpRequest, rows: QuerySet[WebhookEndpoint]) -> None:
        """Queue a test delivery for each."""
        staff, now = staff_of(request), timezone.now()
        sent = self.one_by_one(
            request, rows, lambda one: endpoints.send_test(staff.workspace, one.pk, now=now)
        )
        if sent:
            messages.success(request, f"{Count(sent):test event} queued: see the deliveries.")

    @action(description="Replace the secret", permissions=["act"])
    def replace_secret(
        self, request: HttpRequest, rows: QuerySet[WebhookEndpoint]
    ) -> HttpResponse | None:
        """Make a new secret for one webhook, and show it."""
        if rows.count() != 1:
            messages.error(request, "Tick the one webhook whose secret is to be replaced.")
            return None
        if request.POST.get("confirmed") == "yes":
            staff, now = staff_of(request), timezone.now()
            try:
                endpoint, secret = endpoints.replace_secret(
                    staff.workspace, rows.get().pk, actor=staff.actor, now=now
                )
            except RefusalError as error:
                messages.error(request, error.detail)
                return None
            return self._show_secret(request, endpoint, secret, is_new=False)
        return self.confirm(
            request,
            rows,
            question="Replace the secret of this webhook?",
            consequence="The new one is shown once. For a day deliveries are signed by both, so "
            "that the receiver can be changed meanwhile.",
            button="Replace",
            done="",
            work=lambda _: 0,
            is_grave=False,
        )

    @action(description="Delete", permissions=["act"])
    def remove(self, request: HttpRequest, rows: QuerySet[WebhookEndpoint]) -> HttpResponse | None:
        """Delete webhooks with their deliveries."""
        staff, now = staff_of(request), timezone.now()

        def work(chosen: QuerySet[WebhookEndpoint]) -> int:
            def delete(one: WebhookEndpoint) -> None:
                endpoints.delete(staff.workspace, one.pk, actor=staff.actor, now=now)

            return self.one_by_one(request, list(chosen), delete)

        return self.confirm(
            request,
            rows,
            question="Delete {n:webhook}?",
            consequence="Their deliveries go with them; what waits is not sent any more. This "
            "cannot be undone.",
            button="Delete",
            done="{n:webhook} deleted.",
            work=work,
        )
