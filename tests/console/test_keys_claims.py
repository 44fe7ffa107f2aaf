"""What a key may claim is said where keys are made, shown where they are listed, and checked."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from engram.kernel.models import ApiKey, Event
from engram.kernel.tenancy import in_workspace
from tests.conftest import Caller, Tenant

DEFAULTS = {
    "provenance_ceiling": "assistant_derived",
    "relay": False,
    "may_pin": False,
    "agent": "",
}
EVERYTHING = {**DEFAULTS, "provenance_ceiling": "user_stated", "may_pin": True}
HOST = {"provenance_ceiling": "episode_summary", "relay": True, "may_pin": True, "agent": "penny"}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"role": "reviewer", "provenance_ceiling": "assistant_derived"}, "provenance_ceiling"),
    ({"role": "admin", "may_pin": False}, "may_pin"),
    ({"role": "reader", "relay": True}, "relay"),
    ({"role": "reader", "may_pin": True}, "may_pin"),
    ({"role": "reader", "agent": "penny"}, "agent"),
    ({"role": "agent", "provenance_ceiling": "gospel"}, "provenance_ceiling"),
    ({"role": "agent", "relay": "perhaps"}, "relay"),
]


def stored(tenant: Tenant, name: str) -> dict[str, Any]:
    """Return what a key may claim, as callers see it."""
    rows = tenant.admin.get("keys").json()["results"]
    row = next(row for row in rows if row["name"] == name)
    return {field: row[field] for field in DEFAULTS}


@pytest.mark.parametrize(
    ("role", "claims"),
    [("reader", DEFAULTS), ("agent", DEFAULTS), ("reviewer", EVERYTHING), ("admin", EVERYTHING)],
)
def test_a_key_has_its_roles_defaults(tenant: Tenant, role: str, claims: dict[str, Any]) -> None:
    made = tenant.admin.post("keys", {"name": "k", "role": role})
    assert made.status_code == 201
    assert {field: made.json()[field] for field in DEFAULTS} == claims == stored(tenant, "k")


def test_what_is_asked_for_holds_for_the_calls_of_the_key(tenant: Tenant) -> None:
    made = tenant.admin.post("keys", {"name": "k", "role": "agent", **HOST}).json()
    assert stored(tenant, "k") == HOST
    body = {"content": "Never deploy on Fridays.", "provenance": "user_stated", "pinned": True}
    answer = Caller(made["key"], Client()).post("memories", body)
    assert (answer.status_code, answer.json()["memory"]["agent"]) == (201, "penny")


@pytest.mark.parametrize(("body", "field"), WRONG)
def test_claims_that_make_no_sense_are_refused(
    tenant: Tenant, body: dict[str, Any], field: str
) -> None:
    answer = tenant.admin.post("keys", {"name": "k", **body})
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    with in_workspace(tenant.workspace):
        assert not ApiKey.objects.filter(name="k").exists()


def test_the_command_makes_such_keys(tenant: Tenant) -> None:
    out = StringIO()
    call_command(
        "create_key", "--workspace", "acme", "--name", "k", "--provenance-ceiling",
        "episode_summary", "--relay", "--may-pin", "--agent", "penny", stdout=out,
    )  # fmt: skip
    assert out.getvalue().startswith("egr_")
    assert stored(tenant, "k") == HOST
    with pytest.raises(CommandError, match="reader"):
        call_command("create_key", "--workspace", "acme", "--role", "reader", "--relay")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ([], "agent key"),
        (["--role", "reader"], "reader key"),
        (["--role", "admin", "--name", " "], "admin key"),
        (["--agent", "penny"], "penny"),
        (["--agent", "p" * 150], "p" * 120),
        (["--agent", "penny", "--name", "chat host"], "chat host"),
    ],
)
def test_a_key_of_the_command_is_named_by_its_agent_or_role(
    tenant: Tenant, options: list[str], name: str
) -> None:
    out = StringIO()
    call_command("create_key", "--workspace", "acme", *options, stdout=out)
    with in_workspace(tenant.workspace):
        assert ApiKey.objects.get(prefix=out.getvalue()[:12]).name == name


def test_the_author_of_what_such_a_key_writes_has_its_name(tenant: Tenant) -> None:
    out = StringIO()
    call_command("create_key", "--workspace", "acme", "--agent", "penny", stdout=out)
    Caller(out.getvalue().strip(), Client()).post("memories", {"content": "Tea is at four."})
    with in_workspace(tenant.workspace):
        written = Event.objects.filter(object_type="memory")
        assert {event.actor_label for event in written} == {"penny"}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--name", "n" * 121, "--name takes up to 120 characters"),
        ("--name", "sk-proj-Zx8Kq2Lm9Vt4Rb7Yn3Wc6Hd1Jf5Gs0Pa", "--name: "),
        ("--agent", "sk-proj-Zx8Kq2Lm9Vt4Rb7Yn3Wc6Hd1Jf5Gs0Pa", "--agent: "),
        ("--agent", "a" * 201, "--agent takes up to 200 characters"),
    ],
)
def test_the_command_refuses_names_that_no_key_may_have(
    tenant: Tenant, option: str, value: str, message: str
) -> None:
    with in_workspace(tenant.workspace):
        before = ApiKey.objects.count()
    with pytest.raises(CommandError, match=message):
        call_command("create_key", "--workspace", "acme", option, value)
    with in_workspace(tenant.workspace):
        assert ApiKey.objects.count() == before


def test_the_admin_makes_and_shows_such_keys(tenant: Tenant, member: Any) -> None:
    client, path = member("admin"), "/admin/kernel/apikey/"
    form = {"name": "k", "role": "agent", "provenance_ceiling": "episode_summary"}
    flags = {"may_relay": "on", "may_pin": "on", "agent": "penny"}
    assert client.post(f"{path}add/", form | flags).status_code == 200
    assert stored(tenant, "k") == HOST
    assert (
        "session summary, passes on what users say, may pin, as penny"
        in client.get(path).content.decode()
    )
    wrong = client.post(f"{path}add/", {"name": "r", "role": "reader", "may_relay": "on"})
    assert "A reader writes nothing" in wrong.content.decode()
    plain = {"name": "p", "role": "agent", "provenance_ceiling": "", "agent": ""}
    client.post(f"{path}add/", plain)
    assert stored(tenant, "p") == DEFAULTS
