"""Guessing passwords: who fails too often waits, is told how long, and learns nothing else."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import F
from django.test import Client, RequestFactory
from django.urls import reverse

from engram.kernel import sign_in
from engram.kernel.models import KnownAddress, Membership
from tests.conftest import Caller, Tenant

LOGIN = "/admin/login/"
PASSWORD = "correct horse battery"
LIMIT = settings.AXES_FAILURE_LIMIT


@pytest.fixture
def person(tenant: Tenant) -> User:
    user = User.objects.create_user("ada", password=PASSWORD, is_staff=True)
    Membership.objects.create(workspace=tenant.workspace, user=user, role="admin")
    return user


def attempt(
    name: str = "ada",
    password: str = "wrong",  # noqa: S107
    *,
    address: str = "192.0.2.1",
    **more: str,
) -> Any:
    data = {"username": name, "password": password, "next": "/console/gate/"}
    return Client(REMOTE_ADDR=address, **more).post(LOGIN, data)


def fail(times: int, name: str = "ada", **more: Any) -> list[int]:
    return [attempt(name, **more).status_code for _ in range(times)]


def test_failures_lock_and_the_page_says_how_long(person: User) -> None:
    assert fail(LIMIT - 1) == [200] * (LIMIT - 1)
    answer = attempt()
    assert answer.status_code == 429
    assert 1 <= int(answer["Retry-After"]) <= 15 * 60
    page = answer.content.decode()
    assert "Wait 15 minutes and try again;" in page
    assert 'name="password"' in page
    assert 'value="ada"' in page
    assert 'name="next" value="/console/gate/"' in page
    assert "wrong" not in page
    right = attempt(password=PASSWORD)
    assert right.status_code == 429
    assert "sessionid" not in right.cookies


def test_the_lock_is_of_a_name_from_an_address(person: User) -> None:
    User.objects.create_user("bob", password=PASSWORD, is_staff=True)
    fail(LIMIT)
    assert attempt(password=PASSWORD, address="192.0.2.2").status_code == 302
    assert attempt("bob", PASSWORD).status_code == 302
    assert attempt(password=PASSWORD).status_code == 429


def test_every_web_process_knows(person: User) -> None:
    """The database counts, not a process: nothing of the lock is in this one's memory."""
    fail(LIMIT)
    AccessAttempt.objects.all().delete()
    assert attempt(password=PASSWORD).status_code == 302


def test_the_lock_ends_by_itself_and_is_not_prolonged_by_trying(person: User) -> None:
    fail(LIMIT)
    before = AccessAttempt.objects.get().attempt_time
    assert set(fail(5)) == {429}
    assert AccessAttempt.objects.get().attempt_time == before
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - settings.AXES_COOLOFF_TIME)
    assert attempt(password=PASSWORD).status_code == 302


def test_signing_in_forgets_the_failures(person: User) -> None:
    fail(LIMIT - 1)
    assert attempt(password=PASSWORD).status_code == 302
    assert fail(LIMIT - 1) == [200] * (LIMIT - 1)


def test_nobody_learns_whether_there_is_an_account(person: User) -> None:
    def seen(name: str) -> list[tuple[int, str]]:
        answers = [attempt(name) for _ in range(LIMIT + 2)]
        return [(a.status_code, _without(a.content.decode(), name)) for a in answers]

    assert seen("ada") == seen("nobody")


def _without(page: str, name: str) -> str:
    token = r'name="csrfmiddlewaretoken" value="[^"]*"'
    return re.sub(token, "", page).replace(f'value="{name}"', "")


def test_one_address_cannot_try_one_password_on_everybody(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "ADDRESS_LIMIT", 6)
    assert [fail(1, f"name{n}") for n in range(6)] == [[200]] * 6
    refused = attempt(password=PASSWORD)
    assert refused.status_code == 429
    assert attempt(password=PASSWORD, address="192.0.2.9").status_code == 302
    # Who has an account does not clear the address by signing in from it.
    assert attempt(password=PASSWORD).status_code == 429


def test_one_name_cannot_be_tried_from_everywhere(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "NAME_LIMIT", 6)
    for n in range(6):
        assert fail(1, address=f"192.0.2.{n + 10}") == [200]
    assert attempt(password=PASSWORD, address="192.0.2.99").status_code == 429


def flood(name: str = "ada") -> None:
    """Let strangers fail for a name until it is locked everywhere."""
    for n in range(sign_in.NAME_LIMIT):
        fail(1, name, address=f"203.0.113.{n + 10}")
    assert attempt(name, PASSWORD, address="203.0.113.99").status_code == 429


def test_strangers_cannot_lock_a_person_out_of_an_address_of_theirs(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.create_user("bob", password=PASSWORD, is_staff=True)
    monkeypatch.setattr(sign_in, "NAME_LIMIT", 6)
    assert attempt(password=PASSWORD, address="2001:db8:1:2::1").status_code == 302
    flood()
    flood("bob")
    assert attempt(password=PASSWORD, address="2001:db8:1:2::7").status_code == 302  # one network
    assert attempt("bob", PASSWORD, address="2001:db8:1:2::7").status_code == 429
    # There it has its own limit, as everywhere.
    assert fail(LIMIT, address="2001:db8:1:2::1") == [*[200] * (LIMIT - 1), 429]
    assert attempt(password=PASSWORD, address="2001:db8:1:2::1").status_code == 429


def test_known_addresses_are_few_recent_and_not_readable(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "NAME_LIMIT", 6)
    monkeypatch.setattr(sign_in, "KNOWN_ADDRESSES", 2)
    for n in range(3):
        assert attempt(password=PASSWORD, address=f"192.0.2.{n}").status_code == 302
    kept = json.dumps(list(KnownAddress.objects.values()), default=str)
    assert KnownAddress.objects.count() == 2
    assert "192.0.2" not in kept
    flood()
    assert attempt(password=PASSWORD, address="192.0.2.0").status_code == 429
    assert attempt(password=PASSWORD, address="192.0.2.2").status_code == 302
    KnownAddress.objects.update(used_on=F("used_on") - sign_in.KNOWN_FOR - timedelta(days=1))
    assert attempt(password=PASSWORD, address="192.0.2.2").status_code == 429


def test_addresses_of_one_network_of_ipv6_are_one() -> None:
    def seen(address: str) -> str | None:
        return sign_in.address_of(RequestFactory().get("/", REMOTE_ADDR=address))

    assert seen("2001:db8:1:2:3::4") == seen("2001:db8:1:2:ffff::1") == "2001:db8:1:2::"
    assert seen("2001:db8:1:3::4") != seen("2001:db8:1:2::4")
    assert (seen("192.0.2.7"), seen(""), seen("unix:")) == ("192.0.2.7", None, None)


def test_what_a_client_says_of_its_address_does_not_count(person: User) -> None:
    for n in range(LIMIT):
        answer = attempt(HTTP_X_FORWARDED_FOR=f"198.51.100.{n}", HTTP_X_REAL_IP=f"198.51.100.{n}")
    assert answer.status_code == 429
    assert {row.ip_address for row in AccessAttempt.objects.all()} == {"192.0.2.1"}


def test_nothing_that_was_typed_is_kept(person: User, caplog: pytest.LogCaptureFixture) -> None:
    """People type their password into the field of the name."""
    attempt(password="s3cret-guess")
    attempt(name="s3cret-password", password="x")
    kept = json.dumps(list(AccessAttempt.objects.values()), default=str)
    assert "s3cret" not in kept + caplog.text
    assert {row.username == "ada" for row in AccessAttempt.objects.all()} == {True, False}


@pytest.mark.parametrize("name", ["", "a" * 151, "a\0b", "\u202e", "é" * 150, "x'); --"])
def test_odd_names_are_refused_like_others(db: None, name: str) -> None:
    assert set(fail(LIMIT + 1, name)) <= {200, 429}


def test_keys_are_not_affected(tenant: Tenant, person: User) -> None:
    fail(LIMIT)
    locked = Client(REMOTE_ADDR="192.0.2.1")
    assert Caller(tenant.reader.token, locked).get("memories").status_code == 200


def test_who_is_signed_in_stays_so(person: User) -> None:
    client = Client(REMOTE_ADDR="192.0.2.1")
    client.post(LOGIN, {"username": "ada", "password": PASSWORD})
    fail(LIMIT)
    assert client.get("/console/gate/").status_code == 200


def test_operators_unlock_by_command(person: User) -> None:
    fail(LIMIT)
    call_command("axes_reset_username", "ada", verbosity=0)
    assert attempt(password=PASSWORD).status_code == 302
    fail(LIMIT)
    call_command("axes_reset", verbosity=0)
    assert attempt(password=PASSWORD).status_code == 302


LIST = "/admin/axes/accessattempt/"


def test_superusers_see_attempts_and_unlock(person: User) -> None:
    fail(LIMIT)
    boss = Client()
    boss.force_login(User.objects.create_superuser("boss"))
    page = boss.get(LIST)
    assert page.status_code == 200
    assert "192.0.2.1" in page.content.decode()
    row = AccessAttempt.objects.get()
    detail = boss.get(f"{LIST}{row.pk}/change/")
    assert detail.status_code == 200
    assert "csrfmiddlewaretoken=" not in detail.content.decode()  # the form that was sent
    assert boss.get(f"{LIST}add/").status_code == 403
    asked = {"action": "unlock", "_selected_action": [str(row.pk)]}
    assert attempt(password=PASSWORD).status_code == 429
    boss.post(LIST, asked)
    assert attempt(password=PASSWORD).status_code == 429
    boss.post(LIST, asked | {"confirmed": "yes"})
    assert attempt(password=PASSWORD).status_code == 302


def test_admins_of_a_workspace_see_no_attempts(person: User, member: Any) -> None:
    fail(LIMIT)
    admin = member("admin")
    row = AccessAttempt.objects.get()
    for path in (LIST, f"{LIST}{row.pk}/change/", f"{LIST}{row.pk}/history/"):
        assert admin.get(path).status_code == 403, path
    assert "accessattempt" not in admin.get("/admin/").content.decode()
    posted = admin.post(LIST, {"action": "unlock", "_selected_action": [str(row.pk)]})
    assert posted.status_code == 403


@pytest.mark.parametrize("by", ["person", "superuser", "command"])
def test_a_changed_password_ends_sessions(person: User, by: str) -> None:
    here, there = Client(), Client()
    for client in (here, there):
        client.post(LOGIN, {"username": "ada", "password": PASSWORD})
        assert client.get("/console/gate/").status_code == 200
    new = "another horse staple"
    if by == "person":
        fields = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
        assert here.post("/admin/password_change/", fields).status_code == 302
    elif by == "superuser":
        boss = Client()
        boss.force_login(User.objects.create_superuser("boss"))
        path = reverse("admin:auth_user_password_change", args=[person.pk])
        assert boss.post(path, {"password1": new, "password2": new}).status_code == 302
    else:
        person.set_password(new)
        person.save()
    assert there.get("/console/gate/").status_code == 302
    assert there.get("/api/v1/memories").status_code == 401
    assert here.get("/console/gate/").status_code == (200 if by == "person" else 302)


def test_attempts_older_than_the_wait_are_deleted_at_the_next(person: User) -> None:
    fail(2)
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(days=1))
    fail(1, "bob")
    assert AccessAttempt.objects.count() == 1
