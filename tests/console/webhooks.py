"""Webhooks of tests: made, told of events, and sent by the clock that is given."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from engram.console.models import WebhookDelivery, WebhookEndpoint
from engram.console.webhooks import endpoints, sending
from engram.console.webhooks.posting import Answer
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from tests.conftest import NOW

URL = "https://hooks.example.com/engram"
OPENED = "conflict.opened"


def make(workspace: Workspace, *kinds: str, url: str = URL) -> tuple[WebhookEndpoint, str]:
    return endpoints.make(workspace, url=url, events=kinds or [OPENED], actor=SYSTEM, now=NOW)


def tell(workspace: Workspace, kind: str = OPENED, *, now: datetime = NOW) -> Event:
    with in_workspace(workspace):
        return record(kind, of=("conflict", UUID(int=7)), actor=SYSTEM, now=now)


def rows(workspace: Workspace) -> list[WebhookDelivery]:
    with in_workspace(workspace):
        return list(WebhookDelivery.objects.order_by("at", "event_seq").select_related("endpoint"))


def stored(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    with in_workspace(endpoint.workspace_id):
        return WebhookEndpoint.objects.get(pk=endpoint.pk)


def send(
    workspace: Workspace, at: datetime, *answers: Answer
) -> list[tuple[str, bytes, dict[str, str]]]:
    """Send what is due at a time; return what was sent. The last answer is given from then on."""
    sent: list[tuple[str, bytes, dict[str, str]]] = []

    def fake(url: str, body: bytes, headers: dict[str, str]) -> Answer:
        sent.append((url, body, headers))
        return answers[min(len(sent), len(answers)) - 1]

    sending.send_due(workspace, clock=lambda: at, draw=lambda: 0.5, send=fake, seconds=60)
    return sent
