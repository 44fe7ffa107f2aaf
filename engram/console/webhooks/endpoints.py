"""Make, change and delete webhooks, test them, and send deliveries again.

The history says that it was done and which events were chosen, never the URL: anybody who may read
the history would read it, and URLs of many services contain what opens them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from engram.console.models import DeliveryStatus, WebhookDelivery, WebhookEndpoint
from engram.console.webhooks.addresses import AddressError, read_url
from engram.console.webhooks.causes import DISABLED
from engram.console.webhooks.enqueue import enqueue, wake_sender
from engram.console.webhooks.events import KINDS, TEST
from engram.console.webhooks.signals import webhooks_changed
from engram.console.webhooks.signing import new_secret
from engram.kernel import lease
from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.locks import one_at_a_time
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from engram.kernel.tenancy import in_workspace

ENDPOINTS_MAX: Final = 20  # of a workspace: every event is compared with each
EARLIER_SIGNS_FOR: Final = timedelta(days=1)
NO_SUCH_WEBHOOK: Final = "There is no such webhook."
NO_SUCH_DELIVERY: Final = "There is no such delivery."


def make(
    workspace: Workspace, *, url: str, events: Sequence[str], actor: Actor, now: datetime
) -> tuple[WebhookEndpoint, str]:
    """Make a webhook and return it with its secret, which is never shown again."""
    check_url(url)
    chosen, secret = check_events(events), new_secret()
    with in_workspace(workspace):
        one_at_a_time(f"webhooks {workspace.pk}")
        if WebhookEndpoint.objects.count() >= ENDPOINTS_MAX:
            raise InvalidError("url", f"A workspace has {ENDPOINTS_MAX} webhooks at most.")
        endpoint = WebhookEndpoint.objects.create(
            url=url, events=chosen, secret=secret, created_by=actor.label[:150], created_at=now
        )
        _record("webhook.created", endpoint, actor, now)
    return endpoint, secret


def change(
    workspace: Workspace,
    endpoint_id: UUID,
    *,
    url: str | None = None,
    events: Sequence[str] | None = None,
    is_enabled: bool | None = None,
    actor: Actor,
    now: datetime,
) -> WebhookEndpoint:
    """Change what is given. A new URL, and enabling, forget the failures so far."""
    if url is not None:
        check_url(url)
    chosen = None if events is None else check_events(events)
    with in_workspace(workspace):
        endpoint = _lock(endpoint_id)
        before = (endpoint.url, endpoint.events, endpoint.is_enabled)
        endpoint.url = endpoint.url if url is None else url
        endpoint.events = endpoint.events if chosen is None else chosen
        endpoint.is_enabled = endpoint.is_enabled if is_enabled is None else is_enabled
        if before == (endpoint.url, endpoint.events, endpoint.is_enabled):
            return endpoint
        if endpoint.url != before[0] or endpoint.is_enabled != before[2]:
            endpoint.failures, endpoint.failing_since, endpoint.rests_until = 0, None, None
        if endpoint.is_enabled != before[2]:
            endpoint.disabled_reason = "" if endpoint.is_enabled else f"By {actor.label}."[:300]
        endpoint.save()
        _record("webhook.changed", endpoint, actor, now)
        if endpoint.is_enabled:
            wake_sender()
    return endpoint


def replace_secret(
    workspace: Workspace, endpoint_id: UUID, *, actor: Actor, now: datetime
) -> tuple[WebhookEndpoint, str]:
    """Make a new secret, shown once; for a day the one before signs, too.

    One that is replaced within the day has been in force for less, and signs no more.
    """
    secret = new_secret()
    with in_workspace(workspace):
        endpoint = _lock(endpoint_id)
        if endpoint.earlier_until is None or endpoint.earlier_until <= now:
            endpoint.earlier_secret = endpoint.secret  # else: the one that receivers still use
            endpoint.earlier_until = now + EARLIER_SIGNS_FOR
        endpoint.secret = secret
        endpoint.save(update_fields=["secret", "earlier_secret", "earlier_until"])
        _record("webhook.changed", endpoint, actor, now)
    return endpoint, secret


def delete(workspace: Workspace, endpoint_id: UUID, *, actor: Actor, now: datetime) -> None:
    """Delete a webhook with its deliveries; what waits is not sent any more."""
    with in_workspace(workspace):
        endpoint = _lock(endpoint_id)
        told = WebhookEndpoint(pk=endpoint.pk, events=endpoint.events, workspace_id=workspace.pk)
        endpoint.delete()
        _record("webhook.deleted", told, actor, now)


def send_test(workspace: Workspace, endpoint_id: UUID, *, now: datetime) -> WebhookDelivery:
    """Queue a test delivery."""
    with in_workspace(workspace):
        endpoint = _usable(_lock(endpoint_id))
        return enqueue(endpoint, TEST, of=("webhook", str(endpoint.pk)), now=now)


def redeliver(workspace: Workspace, delivery_id: UUID, *, now: datetime) -> WebhookDelivery:
    """Queue a delivery again, with all attempts before it and under the same id."""
    with in_workspace(workspace):
        mine = WebhookDelivery.objects.filter(pk=delivery_id)
        endpoint_id = mine.values_list("endpoint_id", flat=True).first()
        if endpoint_id is None:
            raise MissingError(NO_SUCH_DELIVERY)
        _usable(_lock(endpoint_id))
        # Whoever sends it right now has lost it, and records nothing.
        again = {"status": DeliveryStatus.WAITING, "attempts": 0, "due_at": now, "queued_at": now}
        unanswered = {"delivered_at": None, "status_code": None, "note": ""}
        if not lease.revoke(mine, **again, **unanswered):
            raise MissingError(NO_SUCH_DELIVERY)
        wake_sender()
        return mine.get()


def check_url(url: str) -> None:
    """Refuse a URL that cannot or may not be called."""
    try:
        read_url(url)
    except AddressError as error:
        raise InvalidError("url", str(error)) from None


def check_events(events: Sequence[str]) -> list[str]:
    """Return the chosen kinds once each, in order; refuse unknown ones and none at all."""
    chosen = sorted(set(events))
    if not chosen:
        raise InvalidError("events", "Choose one at least.")
    unknown = sorted(set(chosen) - set(KINDS))
    if unknown:
        raise InvalidError("events", f"There is no event {unknown[0]!r}.")
    return chosen


def _lock(endpoint_id: UUID) -> WebhookEndpoint:
    found = WebhookEndpoint.objects.filter(pk=endpoint_id)
    endpoint = found.select_for_update(no_key=True).first()
    if endpoint is None:
        raise MissingError(NO_SUCH_WEBHOOK)
    return endpoint


def _usable(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    if not endpoint.is_enabled:
        raise StaleError("The webhook is disabled; enable it first.", cause=DISABLED)
    return endpoint


def _record(what: str, endpoint: WebhookEndpoint, actor: Actor, now: datetime) -> None:
    data = {"events": endpoint.events, "enabled": endpoint.is_enabled}
    record(what, of=("webhook", endpoint.pk), actor=actor, now=now, data=data)
    webhooks_changed.send(WebhookEndpoint, workspace_id=endpoint.workspace_id, now=now)
