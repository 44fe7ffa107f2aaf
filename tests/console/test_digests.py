"""Daily digests: once a day at the workspace's hour, for who wants them and may see them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client

from engram.console import tasks
from engram.console.digests import mails, make, sweeps
from engram.console.digests.due import next_at
from engram.console.digests.subscribe import subscribe
from engram.console.digests.text import one_line
from engram.console.models import (
    Digest,
    DigestLease,
    DigestMail,
    DigestSubscription,
    WebhookDelivery,
)
from engram.console.webhooks import endpoints
from engram.console.webhooks.posting import Answer
from engram.kernel import lease
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, Membership, Workspace
from engram.kernel.services import change_settings
from engram.kernel.tenancy import in_workspace
from tests.conftest import NOW, Tenant
from tests.console.cards import ask, disagree, remember
from tests.console.webhooks import OPENED, rows, send
from tests.console.webhooks import make as make_webhook
from tests.homes import eventually
from tests.killing import kill_at
from tests.mail_server import MailServer

Member = Callable[[str], Client]
PAGE = "/console/digest/"
HOUR = datetime(2026, 5, 5, 8, 0, tzinfo=UTC)  # the next after NOW
DIGEST = "digest.daily"
DAYS = ("Monday", "Friday")


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    """Return a running mail server that digests are sent by."""
    with MailServer() as running:
        settings.ENGRAM_SENDS_MAIL = True
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = running.host, running.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
        settings.DEFAULT_FROM_EMAIL = "engram@example.com"
        yield running


def person(workspace: Workspace, name: str, role: str = "reviewer") -> User:
    """Make a member who wants digests."""
    user = User.objects.create_user(name, email=f"{name}@example.com", is_staff=True)
    Membership.objects.create(workspace=workspace, user=user, role=role)
    subscribe(workspace, wants=True, user_id=user.pk, now=NOW)
    return user


def due_of(workspace: Workspace) -> datetime | None:
    return DigestLease.objects.get(workspace=workspace).due_at


def change(workspace: Workspace, **settings: Any) -> None:
    change_settings(workspace, settings, actor=SYSTEM, now=NOW)


def post_mails(workspace: Workspace, at: datetime) -> int:
    return mails.send_due(workspace, clock=lambda: at, draw=lambda: 0.5, seconds=60)


def mails_of(workspace: Workspace) -> list[DigestMail]:
    with in_workspace(workspace):
        return list(DigestMail.objects.order_by("queued_at", "user_id"))


def test_a_digest_by_mail_says_what_is_open_and_links_the_card(
    tenant: Tenant, server: MailServer
) -> None:
    old, new, card = disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    assert due_of(tenant.workspace) == HOUR
    assert not make.run(tenant.workspace, now=HOUR - timedelta(seconds=1))
    assert make.run(tenant.workspace, now=HOUR)
    assert post_mails(tenant.workspace, HOUR) == 1
    [mail] = server.mails
    assert (mail.sender, mail.to) == ("engram@example.com", ["ana@example.com"])
    assert mail.message["Subject"] == "1 item open in Acme"
    assert mail.message.get_content_type() == "text/plain"
    assert mail.message["Auto-Submitted"] == "auto-generated"
    assert "  Conflicts: 1, the oldest since" in mail.text
    assert f"http://127.0.0.1:8000/console/inbox/?item=conflicts:{card.pk}" in mail.text
    for text in (old.content, new.content, card.question):
        assert text not in mail.text
    [row] = mails_of(tenant.workspace)
    assert (row.status, row.sent_at, row.due_at) == ("sent", HOUR, None)


def test_the_link_opens_the_card(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    html = member("reviewer").get(f"/console/inbox/?item=conflicts:{card.pk}").content.decode()
    assert str(card.pk) in html


def test_a_day_has_one_digest(tenant: Tenant, server: MailServer) -> None:
    disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    for _ in range(3):
        make.run(tenant.workspace, now=HOUR)
        with in_workspace(tenant.workspace):
            make.make(tenant.workspace, HOUR.date(), HOUR)
        post_mails(tenant.workspace, HOUR)
    assert len(server.mails) == 1
    assert due_of(tenant.workspace) == HOUR + timedelta(days=1)
    make.run(tenant.workspace, now=HOUR + timedelta(days=1))
    post_mails(tenant.workspace, HOUR + timedelta(days=1))
    assert len(server.mails) == 2
    with in_workspace(tenant.workspace):
        days = list(Digest.objects.order_by("day").values_list("day", flat=True))
    assert days == [date(2026, 5, 5), date(2026, 5, 6)]


def test_nothing_is_sent_when_nothing_is_open(tenant: Tenant, server: MailServer) -> None:
    make_webhook(tenant.workspace, DIGEST)
    person(tenant.workspace, "ana")
    assert make.run(tenant.workspace, now=HOUR)
    assert post_mails(tenant.workspace, HOUR) == 0
    assert server.mails == []
    assert rows(tenant.workspace) == []
    disagree(tenant.workspace)  # later on that day
    with in_workspace(tenant.workspace):
        make.make(tenant.workspace, HOUR.date(), HOUR + timedelta(hours=2))
        assert not DigestMail.objects.exists()


def test_webhooks_that_chose_digests_are_told_ids_and_links(tenant: Tenant) -> None:
    old, _, card = disagree(tenant.workspace)
    make_webhook(tenant.workspace, DIGEST)
    make_webhook(tenant.workspace, OPENED)
    assert due_of(tenant.workspace) == HOUR
    make.run(tenant.workspace, now=HOUR)
    [(_, body, _)] = send(tenant.workspace, HOUR, Answer(200, ""))
    told = json.loads(body)
    assert (told["type"], told["data"]["open"]) == (DIGEST, {"conflicts": 1})
    assert told["data"]["link"] == "http://127.0.0.1:8000/console/inbox/"
    [item] = told["data"]["items"]
    assert item == {
        "source": "conflicts",
        "id": str(card.pk),
        "severity": card.severity,
        "link": f"http://127.0.0.1:8000/console/inbox/?item=conflicts:{card.pk}",
    }
    assert old.content not in body.decode()
    with in_workspace(tenant.workspace):
        assert Event.objects.get(type=DIGEST).data["open"] == {"conflicts": 1}
        assert WebhookDelivery.objects.count() == 1


def test_questions_are_quoted_only_where_the_setting_says_so(
    tenant: Tenant, server: MailServer
) -> None:
    old, _, card = disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    change(tenant.workspace, digest_texts=True)
    make.run(tenant.workspace, now=HOUR)
    post_mails(tenant.workspace, HOUR)
    assert one_line(card.question) in server.mails[0].text
    tenant.reviewer.post("memories/forget", {"ids": [str(old.pk)], "confirm": True})
    kiln = [remember(tenant.workspace, f"The kiln is fired on {day}.", 5) for day in DAYS]
    ask(tenant.workspace, kiln, yes=kiln[0], question="Is it fired on Monday?")
    make.run(tenant.workspace, now=HOUR + timedelta(days=1))
    post_mails(tenant.workspace, HOUR + timedelta(days=1))
    assert one_line(card.question) not in server.mails[1].text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\r\nBcc: x@y.example\n.\n", "a Bcc: x@y.example ."),
        ("\x1b[31mred\x00\u202e", "[31mred"),
        ("x" * 300, "x" * 199 + "…"),
    ],
)
def test_texts_are_one_printable_line(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_workspace_cannot_write_headers(tenant: Tenant, server: MailServer) -> None:
    Workspace.objects.update(name="Acme\r\nBcc: spy@example.com\n\n<b>")
    tenant.workspace.refresh_from_db()
    disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    make.run(tenant.workspace, now=HOUR)
    post_mails(tenant.workspace, HOUR)
    [mail] = server.mails
    assert mail.to == ["ana@example.com"]
    assert mail.message["Bcc"] is None
    assert mail.message["Subject"] == "1 item open in Acme Bcc: spy@example.com <b>"


def test_who_may_not_see_it_when_it_is_sent_gets_none(tenant: Tenant, server: MailServer) -> None:
    disagree(tenant.workspace)
    gone, locked, bare, stays = (
        person(tenant.workspace, name) for name in ("gone", "locked", "bare", "stays")
    )
    make.run(tenant.workspace, now=HOUR)
    Membership.objects.filter(user=gone).delete()
    User.objects.filter(pk=locked.pk).update(is_active=False)
    User.objects.filter(pk=bare.pk).update(email="")
    assert post_mails(tenant.workspace, HOUR) == 4
    assert [mail.to for mail in server.mails] == [["stays@example.com"]]
    notes = {mail.user_id: (mail.status, mail.note) for mail in mails_of(tenant.workspace)}
    assert notes == {
        gone.pk: ("skipped", mails.NO_MEMBER),
        locked.pk: ("skipped", mails.NO_MEMBER),
        bare.pk: ("skipped", mails.NO_ADDRESS),
        stays.pk: ("sent", ""),
    }
    with in_workspace(tenant.workspace):
        left = set(DigestSubscription.objects.values_list("user_id", flat=True))
    assert left == {bare.pk, stays.pk}


def test_a_role_is_told_of_what_it_may_see(tenant: Tenant, server: MailServer) -> None:
    stated = {"content": "The vault opens at nine.", "provenance": "user_stated"}
    kept = tenant.agent.post("memories", stated).json()["memory"]["id"]
    asked = tenant.agent.patch(f"memories/{kept}", {"content": "The vault opens at ten."})
    assert asked.status_code == 202  # a review waits, which readers do not see
    person(tenant.workspace, "reviewer", "reviewer")
    person(tenant.workspace, "reader", "reader")
    make.run(tenant.workspace, now=HOUR)
    post_mails(tenant.workspace, HOUR)
    assert [mail.to for mail in server.mails] == [["reviewer@example.com"]]
    assert {m.status: m.note for m in mails_of(tenant.workspace)} == {
        "sent": "", "skipped": mails.NOTHING_OPEN,
    }  # fmt: skip


def test_other_workspaces_are_told_nothing(
    tenant: Tenant, neighbour: Tenant, server: MailServer
) -> None:
    disagree(neighbour.workspace)
    person(tenant.workspace, "ana")
    make.run(tenant.workspace, now=HOUR)
    make.run(neighbour.workspace, now=HOUR)
    assert post_mails(tenant.workspace, HOUR) == post_mails(neighbour.workspace, HOUR) == 0
    assert server.mails == []


@pytest.mark.parametrize(
    ("zone", "hour", "now", "expected"),
    [
        ("UTC", 8, "2026-05-04T07:59", "2026-05-04T08:00"),
        ("UTC", 8, "2026-05-04T08:00", "2026-05-05T08:00"),
        ("Europe/Berlin", 8, "2026-05-04T07:00", "2026-05-05T06:00"),
        ("America/Los_Angeles", 0, "2026-05-04T05:00", "2026-05-04T07:00"),
        ("Pacific/Kiritimati", 23, "2026-05-04T12:00", "2026-05-05T09:00"),
        ("Europe/Berlin", 2, "2026-03-28T12:00", "2026-03-29T01:00"),  # 2:00 does not exist
        ("Europe/Berlin", 2, "2026-10-25T00:30", "2026-10-26T01:00"),  # 2:00 comes twice
    ],
)
def test_the_hour_is_that_of_the_workspace(zone: str, hour: int, now: str, expected: str) -> None:
    workspace = Workspace(settings={"time_zone": zone, "digest_hour": hour})
    at = next_at(workspace, datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert at == datetime.fromisoformat(expected).replace(tzinfo=UTC)
    assert at.astimezone(ZoneInfo(zone)).hour in {hour, hour + 1}


def test_a_digest_is_planned_only_while_somebody_wants_it(tenant: Tenant) -> None:
    endpoint, _ = make_webhook(tenant.workspace, DIGEST)
    assert due_of(tenant.workspace) == HOUR
    change(tenant.workspace, digest_hour=20)
    assert due_of(tenant.workspace) == datetime(2026, 5, 4, 20, tzinfo=UTC)
    change(tenant.workspace, time_zone="Asia/Tokyo")
    assert due_of(tenant.workspace) == datetime(2026, 5, 5, 11, tzinfo=UTC)
    events = {"events": [OPENED], "actor": SYSTEM, "now": NOW}
    endpoints.change(tenant.workspace, endpoint.pk, **events)
    assert due_of(tenant.workspace) is None
    user = person(tenant.workspace, "ana")
    assert due_of(tenant.workspace) is not None
    subscribe(tenant.workspace, wants=False, user_id=user.pk, now=NOW)
    assert due_of(tenant.workspace) is None
    change(tenant.workspace, digest_hour=9)
    assert due_of(tenant.workspace) is None
    endpoints.change(tenant.workspace, endpoint.pk, **events | {"events": [DIGEST]})
    assert due_of(tenant.workspace) is not None
    endpoints.delete(tenant.workspace, endpoint.pk, actor=SYSTEM, now=NOW)
    assert due_of(tenant.workspace) is None


def test_what_is_missed_is_made_up_for_once(tenant: Tenant, server: MailServer) -> None:
    disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    late = HOUR + timedelta(days=3, hours=2)
    assert make.run(tenant.workspace, now=late)
    assert not make.run(tenant.workspace, now=late)
    post_mails(tenant.workspace, late)
    assert len(server.mails) == 1
    assert due_of(tenant.workspace) == HOUR + timedelta(days=4)


def test_a_mail_server_that_refuses_is_tried_again(tenant: Tenant, server: MailServer) -> None:
    disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    make.run(tenant.workspace, now=HOUR)
    server.refusal = "450 later"
    post_mails(tenant.workspace, HOUR)
    [row] = mails_of(tenant.workspace)
    assert (row.status, row.due_at) == ("waiting", HOUR + timedelta(seconds=66))
    assert "450" in row.note
    server.refusal = ""
    assert post_mails(tenant.workspace, HOUR + timedelta(seconds=65)) == 0
    assert post_mails(tenant.workspace, HOUR + timedelta(seconds=67)) == 1
    assert mails_of(tenant.workspace)[0].status == "sent"
    assert len(server.mails) == 1


def test_an_address_that_is_refused_for_good_is_given_up(
    tenant: Tenant, server: MailServer
) -> None:
    disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    make.run(tenant.workspace, now=HOUR)
    server.refusal = "550 no such user"
    post_mails(tenant.workspace, HOUR)
    assert mails_of(tenant.workspace)[0].status == "given_up"


def test_a_mail_server_that_is_away_is_given_up_at_last(tenant: Tenant, settings: Any) -> None:
    with MailServer() as away:
        port = away.port
    settings.ENGRAM_SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", port, False
    disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    make.run(tenant.workspace, now=HOUR)
    at, attempts = HOUR, 0
    while (due := mails_of(tenant.workspace)[0].due_at) is not None:
        at = due
        attempts += post_mails(tenant.workspace, at)
    assert attempts == len(mails.PAUSES) + 1
    assert mails_of(tenant.workspace)[0].status == "given_up"
    assert "refused" in mails_of(tenant.workspace)[0].note


def test_an_account_with_a_digest_can_be_deleted(tenant: Tenant, server: MailServer) -> None:
    disagree(tenant.workspace)
    user = person(tenant.workspace, "ana")
    make.run(tenant.workspace, now=HOUR)
    user.delete()
    connection.check_constraints()
    post_mails(tenant.workspace, HOUR)
    [row] = mails_of(tenant.workspace)
    assert (row.status, row.note, server.mails) == ("skipped", mails.NO_MEMBER, [])
    with in_workspace(tenant.workspace):
        assert not DigestSubscription.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_mail_server_that_is_slow_is_given_the_mail_once(
    tenant: Tenant, server: MailServer, monkeypatch: Any
) -> None:
    disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    make.run(tenant.workspace, now=HOUR)
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.05)
    now, taken = [HOUR], []
    send_mail = EmailMessage.send

    def send_slowly(message: EmailMessage) -> int:
        now[0] = HOUR + timedelta(minutes=5)
        assert eventually(lambda: mails_of(tenant.workspace)[0].heartbeat_at == now[0])
        taken.append(mails.acquire(tenant.workspace, now[0]))
        return send_mail(message)

    monkeypatch.setattr(EmailMessage, "send", send_slowly)
    mails.send_due(tenant.workspace, clock=lambda: now[0], draw=lambda: 0.5, seconds=60)
    assert (taken, len(server.mails)) == ([None], 1)


@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_while_it_makes_a_digest_makes_it_once(
    tenant: Tenant, settings: Any
) -> None:
    disagree(tenant.workspace)
    make_webhook(tenant.workspace, DIGEST)
    DigestLease.objects.update(due_at=datetime.now(UTC) - timedelta(minutes=1))
    kill_at(
        tenant, "engram.console.tasks.make_digest", "engram.console.digests.make", "make", "after"
    )
    assert rows(tenant.workspace) == []  # rolled back, with the event
    later = datetime.now(UTC) + DigestLease.silence + timedelta(seconds=1)
    assert make.run(tenant.workspace, now=later)
    assert not make.run(tenant.workspace, now=later)
    assert [row.kind for row in rows(tenant.workspace)] == [DIGEST]


@pytest.mark.django_db(transaction=True)
def test_the_sweep_wakes_workers_for_digests_and_mails(
    tenant: Tenant, neighbour: Tenant, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(
        "engram.kernel.jobs.app.send_task", lambda name, args, **_: woken.append((name, args))
    )
    disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    DigestLease.objects.update(due_at=datetime.now(UTC) - timedelta(minutes=1))
    ours = [str(tenant.workspace.pk)]
    woken.clear()
    tasks.sweep_digests()
    assert woken == [(sweeps.MAKE_TASK, ours)]
    make.run(tenant.workspace, now=datetime.now(UTC))
    woken.clear()
    tasks.sweep_digests()
    assert woken == [(sweeps.MAIL_TASK, ours)]


def test_old_digests_are_dropped(tenant: Tenant, server: MailServer) -> None:
    disagree(tenant.workspace)
    person(tenant.workspace, "ana")
    make.run(tenant.workspace, now=HOUR)
    sweeps.drop_old(HOUR + timedelta(days=89))
    assert len(mails_of(tenant.workspace)) == 1
    sweeps.drop_old(HOUR + timedelta(days=90))
    assert mails_of(tenant.workspace) == []


def test_members_choose_on_their_page(tenant: Tenant, member: Member, server: MailServer) -> None:
    disagree(tenant.workspace)
    client = member("reader")
    User.objects.filter(username="reader-person").update(email="r@example.com")
    html = client.get(PAGE).content.decode()
    assert "r@example.com" in html
    assert "1 item open in Acme" in html
    assert "Send me the digest" in html
    html = client.post(PAGE, {"wants": "yes"}, follow=True).content.decode()
    assert "You get the digest by mail." in html
    with in_workspace(tenant.workspace):
        assert DigestSubscription.objects.get().user.username == "reader-person"
    client.post(PAGE, {"wants": "yes"})  # twice is once
    client.post(PAGE, {"wants": "no"})
    with in_workspace(tenant.workspace):
        assert not DigestSubscription.objects.exists()


def test_the_page_says_what_is_missing(tenant: Tenant, member: Member) -> None:
    html = member("reader").get(PAGE).content.decode()
    assert "no mail server" in html
    assert "no e-mail address" in html
    assert "Nothing is open" in html


@pytest.mark.parametrize(
    ("sends", "address", "told"),
    [
        (False, "r@example.com", "once this installation has a mail server."),
        (True, "", "once your account has an e-mail address."),
        (
            False,
            "",
            "once this installation has a mail server and your account has an e-mail address.",
        ),
    ],
)
def test_who_cannot_get_it_yet_is_told_why(
    member: Member, settings: Any, sends: bool, address: str, told: str
) -> None:
    settings.ENGRAM_SENDS_MAIL = sends
    client = member("reader")
    User.objects.filter(username="reader-person").update(email=address)
    html = client.post(PAGE, {"wants": "yes"}, follow=True).content.decode()
    assert f"You will get it {told}" in html
    assert "You get the digest by mail." not in html
    assert "you get it" not in html
    html = client.post(PAGE, {"wants": "no"}, follow=True).content.decode()
    assert "You get no digest any more." in html
