"""A production is no demo, and what it shows or writes holds no password."""

from __future__ import annotations

import json
import stat
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import OperationalError

from engram.console import health
from engram.console.demo import COLLEAGUES, demo_file, ensure_demo
from engram.console.doctor import servers, workspaces
from engram.embedded.logs import rotating_log
from engram.embedded.places import make_home
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import ApiKey, Membership, Role, Workspace
from engram.kernel.tenancy import in_workspace
from engram.supervisor.plan import wants_demo
from engram.supervisor.terminal import greeting
from tests.conftest import NOW

pytestmark = pytest.mark.django_db

PASSWORD = "pa55-of-a-test"
DEMO = {
    "username": "demo",
    "password": PASSWORD,
    "api_key": "egr_of-a-test",
    "agent_key": "egr_of-an-agent",
}


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.ENGRAM_HOME = tmp_path
    settings.STATIC_ROOT = tmp_path / "static"
    return tmp_path


def test_production_makes_no_demo(settings: Any) -> None:
    settings.IS_PRODUCTION = True
    call_command("up", "--prepare", stdout=StringIO())
    with pytest.raises(ImproperlyConfigured):
        ensure_demo(NOW)
    assert (User.objects.count(), Workspace.objects.count(), demo_file().exists()) == (0, 0, False)


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, True),
        ({"ENGRAM_DEMO": "0"}, False),
        ({"ENGRAM_ENV": "production"}, False),
        ({"ENGRAM_ENV": "production", "ENGRAM_DEMO": "1"}, False),
    ],
)
def test_demo_is_left_out_where_it_is_declined(environment: dict[str, str], wanted: bool) -> None:
    assert wants_demo(environment) is wanted


def test_demo_of_earlier_is_told_and_shut_out(settings: Any) -> None:
    ensure_demo(NOW)
    assert workspaces.demo().level == "ok"  # on one machine, that is what it is for
    settings.IS_PRODUCTION = True
    found = workspaces.demo()
    assert (found.level, found.remedy) == ("fail", "manage.py remove_demo")
    assert found.detail.endswith("demo.json, the user demo, 3 keys")
    token = json.loads(demo_file().read_text())["api_key"]
    assert keys.find(token) is not None

    said = StringIO()
    call_command("remove_demo", stdout=said)

    assert said.getvalue() == (
        "Removed: demo.json, the user demo, 3 keys, the reviewers aylin, ines, mira, tomas, "
        "a webhook, an invitation.\n"
    )
    known = keys.find(token)
    assert (workspaces.demo().level, known is not None and known.revoked_at is not None) == (
        "ok",
        True,
    )
    assert (User.objects.count(), demo_file().exists()) == (0, False)
    call_command("remove_demo", stdout=said)
    assert said.getvalue().endswith("There is no demo here.\n")


def test_reviewers_of_the_story_are_members_who_cannot_sign_in() -> None:
    somebody = User.objects.create_user("ines")
    ensure_demo(NOW)
    members = Membership.objects.exclude(user__username="demo").order_by("user__username")
    assert [member.user.username for member in members] == ["aylin", "mira", "tomas"]
    assert {(member.role, member.user.has_usable_password()) for member in members} == {
        (Role.REVIEWER, False)
    }
    members[0].delete()
    ensure_demo(NOW)  # whom people removed stays away
    assert [member.user.username for member in members.all()] == ["mira", "tomas"]
    own = Workspace.objects.create(slug="own", name="Own")
    Membership.objects.create(workspace=own, user=members.get(user__username="mira").user)
    tomas = members.get(user__username="tomas").user
    tomas.set_password("given since")
    tomas.save()
    call_command("remove_demo", stdout=StringIO())
    left = User.objects.order_by("username").values_list("username", flat=True)
    assert list(left) == ["ines", "mira", "tomas"]
    assert not Membership.objects.filter(workspace__slug="demo").exists()
    assert not Membership.objects.filter(user=somebody).exists()


def test_reviewers_of_a_demo_that_was_deleted_are_found_again() -> None:
    ensure_demo(NOW)
    Workspace.objects.filter(slug="demo").update(slug="demo-of-before")
    ensure_demo(NOW)
    members = Membership.objects.filter(workspace__slug="demo").exclude(user__username="demo")
    assert members.count() == 4
    Membership.objects.exclude(user__username="demo").delete()
    call_command("remove_demo", stdout=StringIO())
    assert not User.objects.filter(username__in=COLLEAGUES).exists()


def test_others_who_are_called_demo_keep_their_ways_in() -> None:
    own = Workspace.objects.create(slug="own", name="Own")
    User.objects.create_user("demo")
    keys.issue(own, name="demo agent", role=Role.AGENT, actor=SYSTEM, now=NOW)
    call_command("remove_demo", stdout=StringIO())
    with in_workspace(own):
        assert (User.objects.count(), ApiKey.objects.get().revoked_at) == (1, None)


def test_who_administers_a_new_workspace_is_no_superuser() -> None:
    User.objects.create_user("ana", is_staff=True)
    call_command("create_workspace", "acme", "--admin", "ana", stdout=StringIO())
    membership = Membership.objects.get()
    assert (membership.role, membership.user.is_superuser) == ("admin", False)
    with pytest.raises(Exception, match="There is no user 'bob'"):
        call_command("create_workspace", "other", "--admin", "bob", stdout=StringIO())
    assert (User.objects.count(), Workspace.objects.count()) == (1, 1)


def test_password_and_key_are_shown_to_a_terminal_only(tmp_path: Path) -> None:
    shown = "\n".join(greeting("http://x", DEMO))
    written = "\n".join(greeting("http://x", DEMO, tmp_path / "demo.json"))
    assert (PASSWORD in shown, DEMO["api_key"] in shown) == (True, True)
    assert (PASSWORD in written, "egr_" in written) == (False, False)
    # The settings of each client for agents, with the agent's key alone.
    assert shown.count("http://x/mcp") == shown.count(DEMO["agent_key"]) == 4
    assert "manage.py mcp --snippets" in written
    assert str(tmp_path / "demo.json") in written


def test_without_a_demo_the_greeting_says_how_to_make_a_user_and_a_key(tmp_path: Path) -> None:
    lines = "\n".join(greeting("http://x", {}, tmp_path / "demo.json"))
    assert "demo.json" not in lines
    for command in ("createsuperuser", "create_workspace", "create_key"):
        assert f"manage.py {command}" in lines
        assert f"manage.py {command}" not in "\n".join(greeting("http://x", DEMO))
    elsewhere = "\n".join(greeting("http://x", {}, own_home="/srv/my data"))
    assert elsewhere.count("ENGRAM_HOME='/srv/my data' .venv/bin/python manage.py") == 4
    assert "ENGRAM_HOME" not in lines


def test_logs_are_for_their_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "logs").mkdir(parents=True, mode=0o755)
    make_home(home)
    log = rotating_log(home / "logs" / "web.log")
    log.info("a line")
    log.handlers[0].close()
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home / "logs", home / "logs/web.log")]
    assert modes == [0o700, 0o600]


@pytest.mark.parametrize("password", [PASSWORD, "p%40ss", "x"])
def test_no_password_is_in_what_doctor_and_readiness_say(
    settings: Any, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    settings.DATABASE_URL = f"postgres://engram:{password}@db/engram"
    settings.BROKER_URL = f"redis://:{PASSWORD}@broker/0"
    said = f"cannot parse {settings.DATABASE_URL} nor {settings.BROKER_URL}"

    def fail(*_: Any, **__: Any) -> Any:
        raise psycopg.OperationalError(said)

    def fail_in_django(*_: Any, **__: Any) -> Any:
        raise OperationalError(said)

    monkeypatch.setattr(servers, "connect", fail)
    monkeypatch.setattr(health, "_one", fail_in_django)
    told = [finding.detail for finding in servers.server_findings()]
    told += [check["detail"] for check in health.readiness()]
    for text in told:
        assert f":{password}@" not in text
        assert PASSWORD not in text
    assert "postgres://engram:***@db/engram" in told[0]
