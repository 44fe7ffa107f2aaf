"""The time zone of a workspace: which names are taken, and where pages name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from engram.kernel import configuration
from engram.kernel.actors import SYSTEM
from engram.kernel.configuration import WorkspaceSettings, known_zones
from engram.kernel.middleware import ZONE_COOKIE
from engram.kernel.services import change_settings
from tests.conftest import NOW, Tenant


@pytest.mark.parametrize(
    "name",
    ["", "europe/berlin", "Berlin", "UTC+2", "localtime", "Factory", "../../etc/passwd", "Europe",
     "posix/Europe/Berlin", "\0", "Europe/Berlin ", None, 3, ["UTC"]],
)  # fmt: skip
def test_names_that_are_none_are_refused(tenant: Tenant, name: Any) -> None:
    answer = tenant.admin.patch("workspace/settings", {"time_zone": name})
    assert answer.status_code in {400, 422}  # NUL is no text
    assert answer.status_code == 400 or answer.json()["errors"][0]["field"] == "time_zone"
    assert tenant.workspace.settings == {}


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Etc/GMT+5"])
def test_names_of_the_database_of_zones_are_taken(tenant: Tenant, name: str) -> None:
    assert tenant.admin.patch("workspace/settings", {"time_zone": name}).status_code == 200
    told = tenant.reader.get("workspace/settings").json()["settings"]["time_zone"]
    assert told == name


def test_the_names_are_read_from_the_disk_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[None] = []
    real = configuration.available_timezones

    def count() -> set[str]:
        reads.append(None)
        return real()

    monkeypatch.setattr(configuration, "available_timezones", count)
    known_zones.cache_clear()
    for _ in range(20):
        WorkspaceSettings.model_validate({"time_zone": "Europe/Berlin"})
    assert len(reads) == 1


def test_pages_name_the_zone_of_their_times(
    tenant: Tenant, member: Callable[[str], Client]
) -> None:
    client = member("admin")
    pages = ("/", "/admin/kernel/event/")
    assert ["UTC" in client.get(page).content.decode() for page in pages] == [True, True]
    zone = {"time_zone": "Asia/Kathmandu"}
    change_settings(tenant.workspace, zone, actor=SYSTEM, now=NOW)
    dashboard, events = (client.get(page).content.decode() for page in pages)
    assert "Times in Asia/Kathmandu" in dashboard
    assert 'data-zone="Asia/Kathmandu"' in dashboard  # for the times that scripts write
    assert "Times in Asia/Kathmandu" in events
    assert "4 May 2026, 17:45".replace(" ", "\u00a0") in events  # NOW is 12:00 in UTC


@pytest.mark.parametrize(
    ("told", "zone"),
    [
        ("America/New_York", "America/New_York"),
        ("Europe/Nowhere", "Asia/Kathmandu"),
        ("../../etc/passwd", "Asia/Kathmandu"),
        ("localtime", "Asia/Kathmandu"),
        ("x" * 4000, "Asia/Kathmandu"),
        ("", "Asia/Kathmandu"),
    ],
)
def test_times_are_in_the_zone_that_the_browser_tells(
    tenant: Tenant, member: Callable[[str], Client], told: str, zone: str
) -> None:
    client = member("admin")
    change_settings(tenant.workspace, {"time_zone": "Asia/Kathmandu"}, actor=SYSTEM, now=NOW)
    client.cookies[ZONE_COOKIE] = told
    page = client.get("/admin/kernel/event/").content.decode()
    assert f"Times in {zone}" in page
    clock = {"America/New_York": "08:00", "Asia/Kathmandu": "17:45"}[zone]  # NOW is 12:00 in UTC
    assert f"4 May 2026, {clock}".replace(" ", "\u00a0") in page
    told_to_agents = tenant.reader.get("events").json()["results"][0]["at"]
    assert told_to_agents.endswith(("Z", "+00:00"))
