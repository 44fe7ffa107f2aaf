"""The janitor over HTTP: previews, runs, what they did, taking it back."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.models import JanitorRun, Memory
from tests.conftest import Tenant
from tests.memories.aged import SUBJECTS, age, fresh, remember, stored


@pytest.fixture
def old_tenant(tenant: Tenant) -> Tenant:
    """Return a workspace whose recall log is old enough."""
    age(tenant.workspace)
    return tenant


def follow(tenant: Tenant, url: str | None) -> list[Any]:
    """Return the results of all pages."""
    rows = []
    while url is not None:
        answer = tenant.reviewer.get(url.removeprefix("http://testserver"))
        assert answer.status_code == 200
        rows += answer.json()["results"]
        url = answer.json()["next"]
    return rows


def test_preview_says_what_the_run_then_does(old_tenant: Tenant) -> None:
    demoted = remember(old_tenant.workspace, SUBJECTS[0])
    said = remember(old_tenant.workspace, SUBJECTS[1], provenance="user_stated")
    before = stored(old_tenant.workspace)
    seen = old_tenant.reviewer.get("janitor/preview").json()
    dry = old_tenant.admin.post("janitor/runs", {"dry_run": True})
    assert (dry.status_code, dry.json()) == (200, seen)
    assert stored(old_tenant.workspace) == before
    assert {k: seen[k] for k in ("cull", "examined", "demoted", "culled", "reported")} == {
        "cull": False, "examined": 2, "demoted": 1, "culled": 0, "reported": 1,
    }  # fmt: skip
    rows = {row["memory"]["id"]: row for row in seen["results"]}
    first, second = rows[str(demoted.pk)], rows[str(said.pk)]
    assert (first["deed"], first["reason"], first["weight_factor"]) == ("demote", "unused", 0.9)
    assert (second["deed"], second["reason"]) == ("report", "user_stated")

    answer = old_tenant.admin.post("janitor/runs", {})
    assert answer.status_code == 201
    ran = answer.json()
    assert (ran["examined"], ran["demoted"], ran["reported"], ran["actor"]) == (
        2, 1, 1, "acme admin",
    )  # fmt: skip
    assert old_tenant.reader.get("janitor/runs").json()["results"] == [ran]
    (action,) = old_tenant.reader.get(f"janitor/runs/{ran['id']}/actions").json()["results"]
    assert (action["memory_id"], action["verb"]) == (str(demoted.pk), "demote")
    assert action["before"]["weight_factor"] == 1.0
    assert action["after"]["confidence_factor"] == 0.8


def test_run_and_single_actions_are_undone(old_tenant: Tenant) -> None:
    first, second = (remember(old_tenant.workspace, content) for content in SUBJECTS[:2])
    ran = old_tenant.admin.post("janitor/runs", {}).json()
    actions = old_tenant.reader.get(f"janitor/runs/{ran['id']}/actions").json()["results"]
    one = next(a for a in actions if a["memory_id"] == str(first.pk))
    answer = old_tenant.admin.post(f"janitor/actions/{one['id']}/undo")
    assert (answer.status_code, answer.json()["undone_at"] is None) == (200, False)
    assert fresh(old_tenant.workspace, first).weight_factor == 1.0
    assert fresh(old_tenant.workspace, second).weight_factor == 0.9
    assert old_tenant.admin.post(f"janitor/actions/{one['id']}/undo").status_code == 409
    answer = old_tenant.admin.post(f"janitor/runs/{ran['id']}/undo")
    assert (answer.status_code, answer.json()["undone_at"] is None) == (200, False)
    assert fresh(old_tenant.workspace, second).weight_factor == 1.0
    assert old_tenant.admin.post(f"janitor/runs/{ran['id']}/undo").status_code == 409


def test_what_changed_since_is_named_and_nothing_is_undone(old_tenant: Tenant) -> None:
    changed, other = (remember(old_tenant.workspace, content) for content in SUBJECTS[:2])
    ran = old_tenant.admin.post("janitor/runs", {}).json()
    with in_workspace(old_tenant.workspace):
        Memory.objects.filter(pk=changed.pk).update(demotion_count=2)
    answer = old_tenant.admin.post(f"janitor/runs/{ran['id']}/undo")
    assert answer.status_code == 409
    assert str(changed.pk) in answer.content.decode()
    assert str(other.pk) not in answer.content.decode()
    assert fresh(old_tenant.workspace, other).weight_factor == 0.9


def test_culling_by_the_call_overrules_the_setting(old_tenant: Tenant) -> None:
    memory = remember(old_tenant.workspace)
    with in_workspace(old_tenant.workspace):
        Memory.objects.update(demotion_count=3)
    assert old_tenant.reviewer.get("janitor/preview", {"cull": "true"}).json()["culled"] == 1
    assert old_tenant.reviewer.get("janitor/preview").json()["culled"] == 0
    old_tenant.admin.patch("workspace/settings", {"janitor_culls": True})
    assert old_tenant.reviewer.get("janitor/preview").json()["culled"] == 1
    assert old_tenant.admin.post("janitor/runs", {"cull": False}).json()["culled"] == 0
    assert fresh(old_tenant.workspace, memory).state() == "active"
    with in_workspace(old_tenant.workspace):
        Memory.objects.update(demoted_at=None)
    assert old_tenant.admin.post("janitor/runs", {"cull": True}).json()["culled"] == 1
    assert fresh(old_tenant.workspace, memory).state() == "culled"


def test_pages_of_previews_and_actions_hold_everything_once(old_tenant: Tenant) -> None:
    ids = sorted(str(remember(old_tenant.workspace, content).pk) for content in SUBJECTS)
    rows = follow(old_tenant, "/api/v1/janitor/preview?limit=4&cull=true")
    assert sorted(row["memory"]["id"] for row in rows) == ids
    ran = old_tenant.admin.post("janitor/runs", {}).json()
    rows = follow(old_tenant, f"/api/v1/janitor/runs/{ran['id']}/actions?limit=4")
    assert sorted(row["memory_id"] for row in rows) == ids


def test_as_many_queries_for_many_findings_as_for_one(old_tenant: Tenant) -> None:
    remember(old_tenant.workspace, SUBJECTS[0])
    old_tenant.reviewer.get("janitor/preview")
    with CaptureQueriesContext(connection) as one:
        old_tenant.reviewer.get("janitor/preview")
    for content in SUBJECTS[1:]:
        remember(old_tenant.workspace, content)
    with CaptureQueriesContext(connection) as many:
        assert len(old_tenant.reviewer.get("janitor/preview").json()["results"]) == len(SUBJECTS)
    assert len(many) == len(one)


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"}, {"limit": "201"}, {"limit": "many"}, {"after": "nobody"},
        {"after": "7e4b9b1e-0000-4000-8000-000000000000"}, {"cull": "perhaps"}, {"after": "\0"},
    ],
)  # fmt: skip
def test_wrong_previews_are_refused(old_tenant: Tenant, query: dict[str, str]) -> None:
    answer = old_tenant.reviewer.get("janitor/preview", query)
    assert answer.status_code in {400, 422}
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "body", [{"dry_run": "yes"}, {"cull": 1}, {"dry_run": None}, [], "run", {"cull": "null"}]
)
def test_wrong_bodies_are_refused_and_nothing_runs(old_tenant: Tenant, body: Any) -> None:
    remember(old_tenant.workspace)
    assert old_tenant.admin.post("janitor/runs", body).status_code in {400, 422}
    with in_workspace(old_tenant.workspace):
        assert not JanitorRun.objects.exists()


def test_wrong_cursors_are_refused(old_tenant: Tenant) -> None:
    ran = old_tenant.admin.post("janitor/runs", {}).json()
    for path in ("janitor/runs", f"janitor/runs/{ran['id']}/actions"):
        for cursor in ("nonsense", "cD1ub2JvZHk=", "cD0yMDI2"):
            assert old_tenant.reader.get(path, {"cursor": cursor}).status_code in {400, 422}


def test_previews_show_nothing_of_another_workspace(old_tenant: Tenant, neighbour: Tenant) -> None:
    age(neighbour.workspace)
    theirs = remember(neighbour.workspace, SUBJECTS[3])
    neighbour.admin.post("janitor/runs", {})
    assert old_tenant.reviewer.get("janitor/preview").json()["examined"] == 0
    assert old_tenant.reader.get("janitor/runs").json()["results"] == []
    answer = old_tenant.reviewer.get("janitor/preview", {"after": str(theirs.pk)})
    assert answer.status_code == 422
