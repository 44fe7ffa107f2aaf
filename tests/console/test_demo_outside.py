"""The demo's webhook, deliveries and invitation: true to the product, and sent to nobody."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from engram.console.demo import demo_file, ensure_demo, outside, shut_out
from engram.console.models import WebhookDelivery, WebhookEndpoint
from engram.console.webhooks import endpoints, posting, schedule, sending
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, Invitation, Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from tests.conftest import NOW
from tests.console.webhooks import make, rows, stored, tell


@pytest.fixture
def demo(db: None, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Return the demo's workspace; whatever would resolve a name or connect fails the test."""
    settings.ENGRAM_HOME = tmp_path

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was sent")

    monkeypatch.setattr(posting, "addresses_of", refuse)
    monkeypatch.setattr(posting, "_connect", refuse)
    ensure_demo(NOW)
    return Workspace.objects.get(slug="demo")


def webhook(workspace: Workspace) -> WebhookEndpoint:
    with in_workspace(workspace):
        return WebhookEndpoint.objects.get()


def test_webhook_is_disabled_and_was_told_of_events_that_the_history_has(demo: Workspace) -> None:
    endpoint = webhook(demo)
    assert (endpoint.is_enabled, endpoint.disabled_reason, endpoint.failures) == (
        False, "By demo.", 0,
    )  # fmt: skip
    sent = rows(demo)
    assert [(row.status, row.attempts, row.status_code) for row in sent] == [
        ("delivered", attempts, 200) for attempts in (1, 2, 1, 1, 1)
    ]  # fmt: skip
    with in_workspace(demo):
        made = Event.objects.get(type="webhook.created")
        since = Event.objects.filter(type__in=endpoint.events, at__gte=endpoint.created_at)
        told = since.in_bulk()
        around = [
            Event.objects.filter(seq__lt=made.seq).latest("seq"),
            Event.objects.filter(seq__gt=made.seq).earliest("seq"),
        ]
    assert made.at == endpoint.created_at
    assert made.seq < min(told)  # in the history too it is older than what it was told of
    assert around[0].at <= made.at < around[1].at
    assert sorted(told) == sorted(row.event_seq for row in sent)
    for row in sent:
        event = told[row.event_seq]
        assert (event.type, event.object_id, event.at) == (row.kind, row.object_id, row.at)
        assert endpoint.created_at < row.at < row.delivered_at < NOW
    assert endpoint.attempted_at == sent[-1].delivered_at
    waits = [row.delivered_at - row.at for row in sent]
    assert waits[0] < schedule.PAUSES[0] < waits[1] < schedule.PAUSES[1]


def test_nothing_of_it_is_ever_sent(demo: Workspace) -> None:
    endpoint, sent = webhook(demo), rows(demo)
    tell(demo, outside.TOLD_OF[0])
    for at in (NOW, NOW + timedelta(days=4)):
        attempts = sending.send_due(demo, clock=repeat(at).__next__, draw=lambda: 0.5, seconds=60)
        assert attempts == 0
    with in_workspace(demo):
        assert not sending.select_due(NOW + timedelta(days=4)).exists()
    with pytest.raises(StaleError):
        endpoints.redeliver(demo, sent[0].pk, now=NOW)
    with pytest.raises(StaleError):
        endpoints.send_test(demo, endpoint.pk, now=NOW)
    assert [row.pk for row in rows(demo)] == [row.pk for row in sent]
    assert posting.read_url(endpoint.url).host.rpartition(".")[2] == "example"


def test_secrets_are_made_for_each_demo_and_the_history_has_none(demo: Workspace) -> None:
    secret = webhook(demo).secret
    Workspace.objects.filter(pk=demo.pk).update(slug="demo-of-before")
    ensure_demo(NOW)
    other = webhook(Workspace.objects.get(slug="demo")).secret
    assert secret.startswith("whsec_")
    assert other.startswith("whsec_")
    assert secret != other
    digests = Invitation.objects.values_list("digest", flat=True)
    assert len(set(digests)) == 2
    with in_workspace(demo):
        told = Event.objects.filter(object_type__in=["webhook", "invitation"]).order_by("seq")
        assert [(event.type, event.actor_label) for event in told] == [
            ("webhook.created", "demo"), ("member.invited", "demo"), ("webhook.changed", "demo"),
        ]  # fmt: skip
        text = json.dumps([event.data for event in told])
    assert secret not in text
    assert outside.URL not in text


def test_they_are_made_once(demo: Workspace) -> None:
    endpoints.delete(demo, webhook(demo).pk, actor=SYSTEM, now=NOW)
    ensure_demo(NOW + timedelta(days=1))
    with in_workspace(demo):
        assert not WebhookEndpoint.objects.exists()
    assert Invitation.objects.count() == 1


def test_the_pages_show_them(demo: Workspace) -> None:
    client, made = Client(), json.loads(demo_file().read_text())
    client.post("/admin/login/", {name: made[name] for name in ("username", "password")})
    pages = {
        "console/webhookendpoint": ["hooks.harbour.example", "disabled"],
        "console/webhookdelivery": ["hooks.harbour.example", "200 ok", "delivered"],
        "kernel/invitation": ["yusuf"],
    }
    for path, shown in pages.items():
        html = client.get(f"/admin/{path}/").content.decode()
        assert [words for words in shown if words not in html] == [], path


def test_remove_demo_takes_them_away_and_leaves_those_of_others(demo: Workspace) -> None:
    own = Workspace.objects.create(slug="own", name="Own")
    theirs, _ = make(own, url=outside.URL)
    kept, _ = make(demo)
    Invitation.objects.create(
        workspace=own, username=outside.INVITED, digest="1", invited_by="ana",
        created_at=NOW, expires_at=NOW,
    )  # fmt: skip
    shut_out(NOW)
    with in_workspace(demo):
        assert [row.pk for row in WebhookEndpoint.objects.all()] == [kept.pk]
        assert not WebhookDelivery.objects.exists()
        gone = Event.objects.filter(type__in=["webhook.deleted", "member.invitation_revoked"])
        assert gone.count() == 2
    assert stored(theirs).url == outside.URL
    assert [row.workspace_id for row in Invitation.objects.all()] == [own.pk]
