"""Webhooks by API and admin: who may, what is refused, what is shown once."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engram.console.models import WebhookDelivery, WebhookEndpoint
from engram.console.webhooks import endpoints
from engram.console.webhooks.posting import Answer
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from tests.conftest import NOW, Tenant
from tests.console.webhooks import OPENED, URL, make, rows, send, stored, tell

Member = Callable[[str], Client]
HOOKS, SENT = "/admin/console/webhookendpoint/", "/admin/console/webhookdelivery/"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")


def only(workspace: Workspace) -> WebhookEndpoint:
    with in_workspace(workspace):
        return WebhookEndpoint.objects.get()


def act(client: Client, path: str, action: str, *ids: Any, confirmed: bool = True) -> Any:
    body = {"action": action, "_selected_action": [str(i) for i in ids], "select_across": "0"}
    return client.post(path, body | ({"confirmed": "yes"} if confirmed else {}), follow=True)


def test_the_secret_is_shown_once(tenant: Tenant) -> None:
    made = tenant.admin.post("webhooks", {"url": URL, "events": [OPENED, OPENED]})
    assert made.status_code == 201
    secret = only(tenant.workspace).secret
    assert made.json()["secret"] == secret
    assert SECRET.fullmatch(secret)
    one = f"webhooks/{made.json()['id']}"
    assert made.json()["events"] == [OPENED]
    for answer in (
        tenant.admin.get("webhooks"), tenant.admin.get(one),
        tenant.admin.patch(one, {"enabled": False}), tenant.admin.get("events"),
    ):  # fmt: skip
        assert answer.status_code == 200
        assert secret not in answer.content.decode()
    again = tenant.admin.post(f"{one}/secret").json()["secret"]
    assert again == only(tenant.workspace).secret != secret


def test_a_repeated_request_makes_one_webhook_and_reveals_nothing(tenant: Tenant) -> None:
    body = {"url": URL, "events": [OPENED]}
    key = {"Idempotency-Key": "one"}
    assert tenant.admin.post("webhooks", body, **key).status_code == 201
    again = tenant.admin.post("webhooks", body, **key)
    assert again.status_code == 409
    assert only(tenant.workspace).secret not in again.content.decode()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"url": "http://127.0.0.1/"}, "url"),
        ({"url": "http://169.254.169.254/latest/meta-data"}, "url"),
        ({"url": "ftp://example.com/"}, "url"),
        ({"url": ""}, "url"),
        ({"url": None}, "url"),
        ({"url": 7}, "url"),
        ({"url": "https://a.example/" + "x" * 3000}, "url"),
        ({"events": []}, "events"),
        ({"events": ["conflict.opened", "no.such"]}, "events.1"),
        ({"events": ["webhook.test"]}, "events.0"),
        ({"events": "conflict.opened"}, "events"),
        ({"events": None}, "events"),
        ({"secret": "whsec_mine"}, "secret"),
        ({"is_enabled": False}, "is_enabled"),
    ],
)
def test_bad_bodies_are_refused_and_change_nothing(
    tenant: Tenant, change: dict[str, Any], field: str
) -> None:
    good = {"url": URL, "events": [OPENED]}
    answer = tenant.admin.post("webhooks", good | change)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    endpoint, _ = make(tenant.workspace)
    answer = tenant.admin.patch(f"webhooks/{endpoint.pk}", change)
    assert answer.status_code == 422
    found = stored(endpoint)
    assert (found.url, found.events, found.is_enabled) == (URL, [OPENED], True)


def test_deliveries_are_listed_filtered_and_sent_again(tenant: Tenant, neighbour: Tenant) -> None:
    endpoint, _ = make(tenant.workspace, OPENED, "conflict.resolved")
    path = f"webhooks/{endpoint.pk}/deliveries"
    tell(tenant.workspace)
    send(tenant.workspace, NOW, Answer(500, "broken"))
    tell(tenant.workspace, "conflict.resolved")
    listed = tenant.admin.get(path).json()["results"]
    assert {row["type"] for row in listed} == {OPENED, "conflict.resolved"}
    [failed] = tenant.admin.get(path, {"type": OPENED}).json()["results"]
    assert (failed["status"], failed["status_code"], failed["note"]) == ("waiting", 500, "broken")
    assert failed["attempts"] == 1
    assert tenant.admin.get(path, {"status": "delivered"}).json()["results"] == []
    for query in ({"status": "lost"}, {"type": "x"}, {"since": "x"}, {"statu": "waiting"}):
        assert tenant.admin.get(path, query).status_code == 422
    [one] = tenant.admin.get(path, {"limit": 1, "since": NOW.isoformat()}).json()["results"]
    page = tenant.admin.get(path, {"limit": 1}).json()
    second = tenant.admin.get(page["next"]).json()["results"]
    assert {one["id"], second[0]["id"]} == {row["id"] for row in listed}
    again = f"webhooks/deliveries/{failed['id']}/redeliver"
    answer = tenant.admin.post(again)
    assert (answer.status_code, answer.json()["attempts"]) == (202, 0)
    assert neighbour.admin.post(again).status_code == 404
    assert neighbour.admin.get(path).status_code == 404
    assert tenant.admin.post(f"webhooks/deliveries/{uuid4()}/redeliver").status_code == 404


def test_nothing_is_sent_to_a_disabled_webhook(tenant: Tenant) -> None:
    endpoint, _ = make(tenant.workspace)
    tenant.admin.patch(f"webhooks/{endpoint.pk}", {"enabled": False})
    answer = tenant.admin.post(f"webhooks/{endpoint.pk}/test")
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/webhook-disabled")


def test_lists_ask_as_often_for_many_as_for_one(tenant: Tenant, member: Member) -> None:
    client = member("admin")

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(path).status_code == 200
        return len(asked)

    endpoint, _ = make(tenant.workspace)
    tell(tenant.workspace)
    listed = f"/api/v1/webhooks/{endpoint.pk}/deliveries"
    paths = (HOOKS, SENT, "/api/v1/webhooks", listed)
    few = [queries(path) and queries(path) for path in paths]
    for _ in range(10):
        make(tenant.workspace)
        tell(tenant.workspace)
    assert [queries(path) for path in paths] == few


def test_the_admin_makes_a_webhook_and_shows_its_secret_once(
    tenant: Tenant, member: Member
) -> None:
    client = member("admin")
    answer = client.post(f"{HOOKS}add/", {"url": URL, "events": [OPENED, "review.opened"]})
    endpoint = only(tenant.workspace)
    assert endpoint.secret in answer.content.decode().replace("&#x27;", "'")
    assert "no-store" in answer["Cache-Control"]
    assert (endpoint.url, endpoint.events) == (URL, [OPENED, "review.opened"])
    assert endpoint.created_by == "admin-person"
    for path in (HOOKS, f"{HOOKS}{endpoint.pk}/change/"):
        html = client.get(path).content.decode()
        assert URL in html
        assert endpoint.secret not in html
    with in_workspace(tenant.workspace):
        assert Event.objects.filter(type="webhook.created").count() == 1


@pytest.mark.parametrize(
    "body",
    [
        {"url": "http://127.0.0.1/", "events": [OPENED]},
        {"url": URL},
        {"url": URL, "events": ["no.such"]},
        {"url": f"{URL}\x00", "events": [OPENED]},
        {"events": [OPENED]},
    ],
)
def test_the_admins_form_names_what_is_wrong(
    tenant: Tenant, member: Member, body: dict[str, Any]
) -> None:
    answer = member("admin").post(f"{HOOKS}add/", body)
    assert answer.status_code == 200
    assert "errornote" in answer.content.decode() or "error" in answer.content.decode()
    with in_workspace(tenant.workspace):
        assert not WebhookEndpoint.objects.exists()


def test_the_admin_says_when_there_are_too_many(tenant: Tenant, member: Member) -> None:
    for _ in range(endpoints.ENDPOINTS_MAX):
        make(tenant.workspace)
    body = {"url": URL, "events": [OPENED]}
    html = member("admin").post(f"{HOOKS}add/", body, follow=True).content.decode()
    assert "20 webhooks at most" in html


def test_the_admin_changes_tests_renews_and_deletes(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    endpoint, secret = make(tenant.workspace)
    body = {"url": f"{URL}/2", "events": ["review.opened"]}  # an unticked box is not sent
    client.post(f"{HOOKS}{endpoint.pk}/change/", body)
    found = stored(endpoint)
    assert (found.url, found.events, found.is_enabled) == (f"{URL}/2", ["review.opened"], False)
    assert (
        "disabled; enable it first" in act(client, HOOKS, "send_test", endpoint.pk).content.decode()
    )
    client.post(f"{HOOKS}{endpoint.pk}/change/", body | {"is_enabled": "on"})
    assert stored(endpoint).is_enabled
    html = client.get(f"{HOOKS}{endpoint.pk}/change/").content.decode()
    for name in ("send_test", "replace_secret", "remove"):  # also on the page of the webhook
        assert f'<button name="action" value="{name}">' in html
    assert f"{SENT}?webhook={endpoint.pk}" in html
    assert "1 test event queued" in act(client, HOOKS, "send_test", endpoint.pk).content.decode()
    assert [row.kind for row in rows(tenant.workspace)] == ["webhook.test"]
    act(client, HOOKS, "replace_secret", endpoint.pk, confirmed=False)
    assert stored(endpoint).secret == secret
    html = act(client, HOOKS, "replace_secret", endpoint.pk).content.decode()
    assert stored(endpoint).secret != secret
    assert stored(endpoint).secret in html
    act(client, HOOKS, "remove", endpoint.pk, confirmed=False)
    assert len(rows(tenant.workspace)) == 1
    act(client, HOOKS, "remove", endpoint.pk)
    assert rows(tenant.workspace) == []


def test_the_secret_comes_with_the_check_of_the_documentation(
    tenant: Tenant, member: Member
) -> None:
    answer = member("admin").post(f"{HOOKS}add/", {"url": URL, "events": [OPENED]})
    documented = (settings.BASE_DIR / "docs/webhooks.md").read_text().split("```python\n")[1]
    assert documented.partition("```")[0].strip() in unescape(answer.content.decode())


@pytest.mark.parametrize("action", ["remove", "replace_secret"])
def test_confirmations_name_the_webhook_and_not_its_query(
    tenant: Tenant, member: Member, action: str
) -> None:
    client = member("admin")
    one, _ = make(tenant.workspace, url="https://hooks.example.com:8443/a/b?token=whisper")
    make(tenant.workspace, url="https://other.example.com/")
    html = act(client, HOOKS, action, one.pk, confirmed=False).content.decode()
    assert "hooks.example.com:8443/a/b, added " in html
    assert "whisper" not in html
    assert "other.example.com" not in html


def test_webhooks_are_counted_in_words(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    ids = [make(tenant.workspace)[0].pk for _ in range(3)]
    assert (
        "Delete 2 webhooks?"
        in act(client, HOOKS, "remove", *ids[:2], confirmed=False).content.decode()
    )
    assert "2 webhooks deleted." in act(client, HOOKS, "remove", *ids[:2]).content.decode()
    html = act(client, HOOKS, "remove", ids[2], confirmed=False).content.decode()
    assert "Delete 1 webhook?" in html
    assert "1 webhook deleted." in act(client, HOOKS, "remove", ids[2]).content.decode()


def test_the_admin_shows_what_came_back_and_sends_again(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    make(tenant.workspace)
    told = tell(tenant.workspace)
    send(tenant.workspace, NOW, Answer(500, "<script>alert(1)</script>"))
    [row] = rows(tenant.workspace)
    for path in (SENT, f"{SENT}{row.pk}/change/"):
        html = client.get(path).content.decode()
        assert "&lt;script&gt;alert(1)" in html
        assert "<script>alert(1)" not in html
    assert f"&quot;event&quot;: {told.seq}" in html
    with in_workspace(tenant.workspace):
        WebhookDelivery.objects.update(status="given_up", due_at=None)
    assert "1 delivery queued" in act(client, SENT, "send_again", row.pk).content.decode()
    assert rows(tenant.workspace)[0].status == "waiting"
    for query in (
        f"q={row.pk}",
        f"q={OPENED}",
        "status__exact=waiting",
        f"webhook={row.endpoint_id}",
    ):
        assert f"/{row.pk}/change/" in client.get(f"{SENT}?{query}").content.decode()
    for query in ("q=x", "status__exact=delivered"):
        assert f"/{row.pk}/change/" not in client.get(f"{SENT}?{query}").content.decode()
    assert client.get(f"{SENT}?webhook=x").status_code == 200


def test_pages_are_headed_by_what_happened_and_the_host_and_by_no_id(
    tenant: Tenant, member: Member
) -> None:
    client = member("admin")
    one, _ = make(tenant.workspace, url="https://hooks.example.com/a?token=whisper")
    tell(tenant.workspace)
    [row] = rows(tenant.workspace)
    html = client.get(f"{HOOKS}{one.pk}/change/").content.decode()
    shown = client.get(f"{SENT}{row.pk}/change/").content.decode()
    for page, heading in (
        (html, "Webhook to hooks.example.com"), (shown, "Conflict opened, to hooks.example.com, "),
    ):  # fmt: skip
        title, rest = page.partition("<title>")[2].split("</title>")[:2]
        assert heading in title
        assert heading in rest
    assert "Next attempt" in shown
    said = re.sub(r"<details>.*?</details>|<[^>]*>", " ", html + shown, flags=re.DOTALL)
    assert [pk for pk in (one.pk, row.pk) if str(pk)[:8] in said] == []
    with in_workspace(tenant.workspace):
        WebhookDelivery.objects.update(status="delivered", due_at=None)
    assert "Next attempt" not in client.get(f"{SENT}{row.pk}/change/").content.decode()


def test_only_admins_see_webhooks(tenant: Tenant, member: Member) -> None:
    endpoint, _ = make(tenant.workspace)
    client = member("reviewer")
    for path in (HOOKS, SENT, f"{HOOKS}add/", f"{HOOKS}{endpoint.pk}/change/"):
        assert client.get(path).status_code == 403
    assert "Webhooks" not in client.get("/").content.decode()
