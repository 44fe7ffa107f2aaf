"""Webhooks: what is written with events, sent, tried again, given up and never revealed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from engram.console import tasks
from engram.console.models import DeliveryStatus, WebhookDelivery
from engram.console.webhooks import endpoints, events, pruning, schedule, sending
from engram.console.webhooks.posting import Answer
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record, record_unsent
from engram.kernel.models import Event
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from tests.conftest import NOW, Tenant
from tests.console.webhooks import OPENED, URL, make, rows, send, stored, tell
from tests.killing import kill_at
from tests.webhook_target import WebhookTarget

CANARY = "Zanzibar keeps the vermilion ledger under the third flowerpot"


@pytest.fixture
def target(settings: Any) -> Iterator[WebhookTarget]:
    """Return a running target that may be called."""
    settings.ENGRAM_WEBHOOK_NETWORKS = ["127.0.0.1"]
    with WebhookTarget() as running:
        yield running


OK, BROKEN = Answer(200, "ok"), Answer(500, "broken")


def test_chosen_events_are_written_with_their_deliveries(tenant: Tenant) -> None:
    first, _ = make(tenant.workspace, OPENED, "conflict.resolved")
    second, _ = make(tenant.workspace, OPENED)
    opened, _ = tell(tenant.workspace), tell(tenant.workspace, "memory.committed")
    resolved = tell(tenant.workspace, "conflict.resolved")
    assert {(d.endpoint_id, d.event_seq, d.kind) for d in rows(tenant.workspace)} == {
        (first.pk, opened.seq, OPENED),
        (second.pk, opened.seq, OPENED),
        (first.pk, resolved.seq, "conflict.resolved"),
    }
    [one, *_] = rows(tenant.workspace)
    assert (one.status, one.attempts, one.at, one.due_at) == ("waiting", 0, NOW, NOW)
    assert (one.object_type, one.object_id) == ("conflict", str(UUID(int=7)))


def test_deliveries_cost_no_query(tenant: Tenant) -> None:
    def queries() -> int:
        with in_workspace(tenant.workspace), CaptureQueriesContext(connection) as asked:
            record(OPENED, of=("conflict", UUID(int=7)), actor=SYSTEM, now=NOW)
        return len(asked)

    before = queries()
    for _ in range(3):
        make(tenant.workspace)
    assert queries() == before
    assert len(rows(tenant.workspace)) == 3


def test_many_events_of_one_statement_have_a_delivery_each(tenant: Tenant) -> None:
    make(tenant.workspace)
    with in_workspace(tenant.workspace):
        ids = [UUID(int=n) for n in range(50)]
        record_unsent(OPENED, [(one, {}) for one in ids], of="conflict", actor=SYSTEM, now=NOW)
        seqs = dict(Event.objects.filter(type=OPENED).values_list("object_id", "seq"))
    found = {d.object_id: d.event_seq for d in rows(tenant.workspace)}
    assert found == seqs
    assert len(found) == 50


def test_what_is_rolled_back_is_not_delivered(tenant: Tenant) -> None:
    make(tenant.workspace)

    def fail() -> None:
        with in_workspace(tenant.workspace), transaction.atomic():
            record(OPENED, of=("conflict", UUID(int=7)), actor=SYSTEM, now=NOW)
            assert WebhookDelivery.objects.count() == 1
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert rows(tenant.workspace) == []


def test_events_of_another_workspace_are_not_delivered(tenant: Tenant, neighbour: Tenant) -> None:
    make(tenant.workspace)
    tell(neighbour.workspace)
    assert rows(tenant.workspace) == rows(neighbour.workspace) == []
    assert send(tenant.workspace, NOW, OK) == []


def test_a_disabled_webhook_is_told_nothing(tenant: Tenant) -> None:
    endpoint, _ = make(tenant.workspace)
    off = {"is_enabled": False, "actor": SYSTEM, "now": NOW}
    endpoints.change(tenant.workspace, endpoint.pk, **off)
    tell(tenant.workspace)
    assert rows(tenant.workspace) == []
    assert stored(endpoint).disabled_reason == "By engram."


def test_a_delivery_is_signed_as_the_documentation_verifies_it(
    tenant: Tenant, target: WebhookTarget
) -> None:
    """Pitfall 44."""
    _, secret = make(tenant.workspace, url=target.url)
    told = tell(tenant.workspace)
    sending.send_due(tenant.workspace, clock=lambda: NOW, draw=lambda: 0.5, seconds=60)
    [received], [delivery] = target.requests, rows(tenant.workspace)
    headers, body = received.headers, received.body

    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = b".".join(
        [headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body]
    )
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert any(hmac.compare_digest(expected, one) for one in headers["webhook-signature"].split())

    assert headers["webhook-id"] == str(delivery.pk)
    assert headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == {
        "type": OPENED,
        "timestamp": "2026-05-04T12:00:00Z",
        "data": {
            "workspace": {"id": str(tenant.workspace.pk), "slug": tenant.workspace.slug},
            "event": told.seq,
            "object": {"type": "conflict", "id": str(UUID(int=7))},
            "link": f"http://127.0.0.1:8000/console/conflicts/{UUID(int=7)}/",
        },
    }
    assert (delivery.status, delivery.status_code, delivery.note) == ("delivered", 200, "ok")
    assert (delivery.delivered_at, delivery.due_at, delivery.attempts) == (NOW, None, 1)


def test_links_lead_to_the_pages_of_objects() -> None:
    some = UUID(int=7)
    for kind, route in {
        "conflict": "console:conflict",
        "memory": "console:memory",
        "note": "console:note",
        "review": "admin:memories_review_change",
        "webhook": "admin:console_webhookendpoint_change",
    }.items():
        assert events.link_to(kind, str(some)).endswith(reverse(route, args=[some]))
    other = events.link_to("session", "a&b")
    assert other.endswith(reverse("admin:kernel_event_changelist") + "?q=a%26b")


def test_after_a_new_secret_both_sign_for_a_day(tenant: Tenant) -> None:
    endpoint, old = make(tenant.workspace)
    _, new = endpoints.replace_secret(tenant.workspace, endpoint.pk, actor=SYSTEM, now=NOW)
    assert new != old
    for hours, known in ((23, [new, old]), (25, [new])):
        assert sending.secrets_of(stored(endpoint), NOW + timedelta(hours=hours)) == known
    tell(tenant.workspace)
    [(_, _, headers)] = send(tenant.workspace, NOW, OK)
    assert len(headers["webhook-signature"].split()) == 2


def test_a_second_new_secret_within_the_day_leaves_the_one_that_receivers_have(
    tenant: Tenant,
) -> None:
    endpoint, old = make(tenant.workspace)
    for hour in (0, 1):
        at = NOW + timedelta(hours=hour)
        _, new = endpoints.replace_secret(tenant.workspace, endpoint.pk, actor=SYSTEM, now=at)
    for hours, known in ((23, [new, old]), (25, [new])):
        assert sending.secrets_of(stored(endpoint), NOW + timedelta(hours=hours)) == known


def test_a_closed_workspace_is_no_event_to_choose(tenant: Tenant) -> None:
    """It sends nothing any more."""
    with pytest.raises(InvalidError, match="no event"):
        make(tenant.workspace, "workspace.closed")


def test_what_failed_is_sent_again_with_the_same_id_and_body(tenant: Tenant) -> None:
    make(tenant.workspace)
    tell(tenant.workspace)
    [first] = send(tenant.workspace, NOW, BROKEN)
    [row] = rows(tenant.workspace)
    assert (row.status, row.status_code, row.note) == ("waiting", 500, "broken")
    assert row.due_at == NOW + timedelta(seconds=11)  # ten, and half of a fifth
    assert send(tenant.workspace, NOW + timedelta(seconds=10), OK) == []
    [second] = send(tenant.workspace, NOW + timedelta(seconds=12), OK)
    assert (first[1], first[2]["webhook-id"]) == (second[1], second[2]["webhook-id"])
    assert first[2]["webhook-timestamp"] != second[2]["webhook-timestamp"]
    [row] = rows(tenant.workspace)
    assert (row.status, row.attempts, row.status_code) == ("delivered", 2, 200)


def test_pauses_grow_until_the_last_attempt(tenant: Tenant) -> None:
    endpoint, _ = make(tenant.workspace)
    tell(tenant.workspace)
    pauses, at = [], NOW
    while (row := rows(tenant.workspace)[0]).due_at is not None:
        pauses.append(row.due_at - at)
        at = row.due_at
        assert len(send(tenant.workspace, at, BROKEN)) == 1
    assert pauses[0] == timedelta(0)
    assert pauses[1:] == sorted(pauses[1:])
    assert len(pauses) == schedule.ATTEMPTS_MAX == row.attempts
    assert (row.status, row.note) == (DeliveryStatus.GIVEN_UP, "broken")
    assert stored(endpoint).is_enabled  # one delivery alone disables nothing


@pytest.mark.parametrize("attempts", range(1, schedule.ATTEMPTS_MAX))
def test_pauses_are_spread(attempts: int) -> None:
    least, most = schedule.pause(attempts, 0.0), schedule.pause(attempts, 1.0)
    assert least is not None
    assert most == least * 1.2


def test_an_endpoint_rests_after_a_failure_however_much_waits(tenant: Tenant) -> None:
    endpoint, _ = make(tenant.workspace)
    for _ in range(30):
        tell(tenant.workspace)
    assert len(send(tenant.workspace, NOW, BROKEN)) == 1
    assert stored(endpoint).rests_until == NOW + timedelta(seconds=1)
    assert len(send(tenant.workspace, NOW + timedelta(seconds=1), BROKEN)) == 1
    assert stored(endpoint).rests_until == NOW + timedelta(seconds=3)
    assert len(send(tenant.workspace, NOW + timedelta(seconds=60), OK)) == 30
    assert (stored(endpoint).failures, stored(endpoint).rests_until) == (0, None)


def test_the_pause_that_a_target_asks_for_is_kept(tenant: Tenant) -> None:
    make(tenant.workspace)
    tell(tenant.workspace)
    send(tenant.workspace, NOW, Answer(429, "slow down", 500))
    assert rows(tenant.workspace)[0].due_at == NOW + timedelta(seconds=500)
    assert send(tenant.workspace, NOW + timedelta(seconds=400), OK) == []


def test_others_are_served_while_one_fails(tenant: Tenant) -> None:
    make(tenant.workspace, url=f"{URL}/bad")
    make(tenant.workspace, url=f"{URL}/good")
    for _ in range(5):
        tell(tenant.workspace)
    sent: list[str] = []

    def fake(url: str, body: bytes, headers: dict[str, str]) -> Answer:
        sent.append(url.rpartition("/")[2])
        return OK if url.endswith("good") else BROKEN

    sending.send_due(tenant.workspace, clock=lambda: NOW, draw=lambda: 0.5, send=fake, seconds=60)
    assert (sent.count("bad"), sent.count("good")) == (1, 5)


def test_one_delivery_of_an_endpoint_is_sent_at_a_time(tenant: Tenant) -> None:
    make(tenant.workspace)
    for _ in range(2):
        tell(tenant.workspace)
    held = sending.acquire(tenant.workspace, NOW)
    assert held is not None
    assert sending.acquire(tenant.workspace, NOW) is None
    sending.settle(tenant.workspace, held, OK, spread=0.5, now=NOW)
    assert sending.acquire(tenant.workspace, NOW) is not None


def test_a_dead_worker_is_replaced_and_writes_nothing_more(tenant: Tenant) -> None:
    make(tenant.workspace)
    tell(tenant.workspace)
    dead = sending.acquire(tenant.workspace, NOW)
    assert dead is not None
    later = NOW + WebhookDelivery.silence + timedelta(seconds=1)
    [(_, _, headers)] = send(tenant.workspace, later, OK)
    assert headers["webhook-id"] == str(dead.pk)
    sending.settle(tenant.workspace, dead, BROKEN, spread=0.5, now=later)
    [row] = rows(tenant.workspace)
    assert (row.status, row.attempts) == ("delivered", 2)


def test_after_many_failures_an_endpoint_is_disabled_with_a_reason(tenant: Tenant) -> None:
    endpoint, _ = make(tenant.workspace, OPENED, "webhook.disabled")
    at, attempts = NOW, 0
    while stored(endpoint).is_enabled:
        tell(tenant.workspace, now=at)
        at += timedelta(hours=2)
        attempts += len(send(tenant.workspace, at, Answer(None, "Not reached: refused")))
        assert attempts <= 200
    found = stored(endpoint)
    assert found.failures >= schedule.FAILURES_MAX
    assert found.failing_since is not None
    assert at - found.failing_since >= schedule.FAILING_FOR
    assert found.disabled_reason == (
        f"It failed {found.failures} times in a row since 2026-05-04 14:00 UTC, at last: "
        "Not reached: refused"
    )
    with in_workspace(tenant.workspace):
        assert Event.objects.filter(type="webhook.disabled").count() == 1
    assert send(tenant.workspace, at + timedelta(hours=1), OK) == []
    on = {"is_enabled": True, "actor": SYSTEM, "now": at}
    endpoints.change(tenant.workspace, endpoint.pk, **on)
    assert (stored(endpoint).failures, stored(endpoint).disabled_reason) == (0, "")
    assert send(tenant.workspace, at + timedelta(hours=1), OK) != []


def test_a_target_that_is_gone_disables_its_webhook_at_once(tenant: Tenant) -> None:
    endpoint, _ = make(tenant.workspace)
    tell(tenant.workspace)
    send(tenant.workspace, NOW, Answer(410, ""))
    assert stored(endpoint).disabled_reason == "It answered 410: it wants nothing more."


def test_what_could_not_be_sent_for_days_is_given_up(tenant: Tenant) -> None:
    make(tenant.workspace)
    tell(tenant.workspace)
    late = NOW + schedule.SENT_WITHIN + timedelta(seconds=1)
    assert send(tenant.workspace, late, OK) == []
    [row] = rows(tenant.workspace)
    assert (row.status, row.note) == (DeliveryStatus.GIVEN_UP, sending.LATE)
    endpoints.redeliver(tenant.workspace, row.pk, now=late)
    assert len(send(tenant.workspace, late, OK)) == 1


def test_a_delivery_is_sent_again_under_its_id(tenant: Tenant) -> None:
    """Pitfall 44."""
    endpoint, _ = make(tenant.workspace)
    tell(tenant.workspace)
    [first] = send(tenant.workspace, NOW, OK)
    [row] = rows(tenant.workspace)
    later = NOW + timedelta(days=20)
    assert (row.delivered_at, row.status_code, row.note) == (NOW, 200, "ok")
    again = endpoints.redeliver(tenant.workspace, row.pk, now=later)
    assert (again.status, again.delivered_at) == (DeliveryStatus.WAITING, None)
    assert (again.status_code, again.note) == (None, "")
    [second] = send(tenant.workspace, later, OK)
    assert (first[1], first[2]["webhook-id"]) == (second[1], second[2]["webhook-id"])
    off = {"is_enabled": False, "actor": SYSTEM, "now": later}
    endpoints.change(tenant.workspace, endpoint.pk, **off)
    with pytest.raises(StaleError, match="disabled"):
        endpoints.redeliver(tenant.workspace, row.pk, now=later)


def test_what_is_sent_again_during_its_last_attempt_is_sent_again(tenant: Tenant) -> None:
    make(tenant.workspace)
    tell(tenant.workspace)
    held = sending.acquire(tenant.workspace, NOW)
    assert held is not None
    held.attempts = 10
    endpoints.redeliver(tenant.workspace, held.pk, now=NOW)
    sending.settle(tenant.workspace, held, BROKEN, spread=0.5, now=NOW)  # records nothing
    [row] = rows(tenant.workspace)
    assert (row.status, row.attempts, row.due_at) == ("waiting", 0, NOW)
    assert len(send(tenant.workspace, NOW, OK)) == 1


def test_a_test_event_is_sent_whatever_was_chosen(tenant: Tenant) -> None:
    endpoint, _ = make(tenant.workspace)
    endpoints.send_test(tenant.workspace, endpoint.pk, now=NOW)
    [(_, body, _)] = send(tenant.workspace, NOW, OK)
    assert json.loads(body)["type"] == "webhook.test"
    assert json.loads(body)["data"]["event"] is None


def test_deleting_takes_the_deliveries_along(tenant: Tenant) -> None:
    endpoint, _ = make(tenant.workspace)
    tell(tenant.workspace)
    held = sending.acquire(tenant.workspace, NOW)
    assert held is not None
    endpoints.delete(tenant.workspace, endpoint.pk, actor=SYSTEM, now=NOW)
    sending.settle(tenant.workspace, held, OK, spread=0.5, now=NOW)  # was sent meanwhile
    assert rows(tenant.workspace) == []


def test_old_deliveries_are_dropped(tenant: Tenant) -> None:
    make(tenant.workspace)
    tell(tenant.workspace)
    tell(tenant.workspace, now=NOW + timedelta(days=10))
    assert pruning.drop_old(tenant.workspace, now=NOW + timedelta(days=31)) == 1
    assert [row.at for row in rows(tenant.workspace)] == [NOW + timedelta(days=10)]


def test_there_are_so_many_webhooks_at_most(tenant: Tenant) -> None:
    for _ in range(endpoints.ENDPOINTS_MAX):
        make(tenant.workspace)
    with pytest.raises(InvalidError, match="20 webhooks at most"):
        make(tenant.workspace)


@pytest.mark.django_db(transaction=True)
def test_a_commit_wakes_the_sender_once_and_the_sweep_finds_what_was_not_woken(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(
        "engram.kernel.jobs.app.send_task", lambda name, args, **_: woken.append((name, args))
    )
    ours = ("console.send_webhooks", [str(tenant.workspace.pk)])
    tell(tenant.workspace)
    assert ours not in woken
    make(tenant.workspace)
    with in_workspace(tenant.workspace):
        for _ in range(3):
            record(OPENED, of=("conflict", UUID(int=7)), actor=SYSTEM, now=timezone.now())
    assert woken.count(ours) == 1
    woken.clear()
    tasks.sweep_webhooks()
    assert woken == [ours]


def test_the_sweep_leaves_resting_and_disabled_webhooks_alone(
    tenant: Tenant, neighbour: Tenant
) -> None:
    for workspace in (tenant.workspace, neighbour.workspace):
        endpoint, _ = make(workspace)
        tell(workspace)
    send(tenant.workspace, NOW, BROKEN)
    off = {"is_enabled": False, "actor": SYSTEM, "now": NOW}
    endpoints.change(neighbour.workspace, endpoint.pk, **off)
    for workspace in (tenant.workspace, neighbour.workspace):
        with in_workspace(workspace):
            assert not sending.select_due(NOW).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_killed_around_sending_loses_nothing(
    tenant: Tenant, target: WebhookTarget, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Killed after the target has it and before that is written: it is sent again, under its id."""
    monkeypatch.setenv("ENGRAM_WEBHOOK_NETWORKS", "127.0.0.1")
    make(tenant.workspace, url=target.url)
    told = tell(tenant.workspace, now=timezone.now())
    step = "_send" if when == "after" else "settle"
    kill_at(tenant, "tests.webhook_task.send", "engram.console.webhooks.sending", step, when)
    assert len(target.requests) == 1
    [row] = rows(tenant.workspace)
    assert (row.status, row.attempts, row.event_seq) == ("waiting", 1, told.seq)
    later = timezone.now() + WebhookDelivery.silence + timedelta(seconds=1)
    sending.send_due(tenant.workspace, clock=lambda: later, draw=lambda: 0.5, seconds=60)
    assert len({one.headers["webhook-id"] for one in target.requests}) == 1
    assert len({one.body for one in target.requests}) == 1
    assert len(target.requests) == 2
    assert rows(tenant.workspace)[0].status == "delivered"


def test_no_text_of_a_memory_is_stored_or_sent(tenant: Tenant) -> None:
    """A canary in every field of a memory, its question, its note and its session."""
    make(tenant.workspace, *events.KINDS)
    body = {
        "content": f"{CANARY}: 1000 of them.", "scope": "x", "agent": CANARY, "project": CANARY,
        "tags": [CANARY], "metadata": {"said": CANARY}, "source": CANARY,
        "answers": [{"question": f"How many of {CANARY}?", "answer": "1000"}],
    }  # fmt: skip
    made = tenant.agent.post("memories", body).json()["memory"]["id"]
    tenant.agent.patch(f"memories/{made}", {"content": f"{CANARY}: 2000 of them."})
    tenant.agent.post("sessions", {"session_key": CANARY[:40], "context": CANARY})
    tenant.agent.post("memories/forget", {"ids": [made], "confirm": True})
    tenant.admin.delete(f"memories/{made}")
    found = rows(tenant.workspace)
    assert {"memory.committed", "memory.forgotten", "memory.erased"} <= {d.kind for d in found}
    with in_workspace(tenant.workspace), connection.cursor() as cursor:
        cursor.execute("SELECT d::text FROM console_webhookdelivery AS d")
        dump = " ".join(text for (text,) in cursor.fetchall())
    sent = " ".join(body.decode() for _, body, _ in send(tenant.workspace, timezone.now(), OK))
    for text in (dump, sent):
        assert made in text
        assert "Zanzibar" not in text
        assert "vermilion" not in text


def test_the_history_has_no_url_and_no_secret(tenant: Tenant) -> None:
    endpoint, secret = make(tenant.workspace, url=f"{URL}/T0KEN")
    endpoints.change(tenant.workspace, endpoint.pk, url=f"{URL}/T0KEN2", actor=SYSTEM, now=NOW)
    with in_workspace(tenant.workspace):
        told = [str(event.data) for event in Event.objects.filter(object_type="webhook")]
    assert len(told) == 2
    assert "T0KEN" not in "".join(told)
    assert secret not in "".join(told)


def test_a_copy_sends_nothing(tenant: Tenant, target: WebhookTarget, settings: Any) -> None:
    settings.ENGRAM_OUTGOING = False
    make(tenant.workspace, url=f"http://127.0.0.1:{target.port}/hook")
    tell(tenant.workspace, now=timezone.now())
    tasks.send_webhooks(str(tenant.workspace.pk))
    assert rows(tenant.workspace)[0].attempts == 0
    settings.ENGRAM_OUTGOING = True
    tasks.send_webhooks(str(tenant.workspace.pk))
    assert rows(tenant.workspace)[0].attempts == 1
