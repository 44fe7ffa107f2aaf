"""The janitor in the admin: previewed before it runs, read memory by memory, undone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import JanitorAction, JanitorRun, Memory
from memories.services.janitor.run import run
from memories.services.lifecycle.forget import forget
from tests.conftest import NOW, Tenant
from tests.memories.aged import SUBJECTS, age, fresh, remember, stored

Member = Callable[[str], Client]
RUNS = "/admin/memories/janitorrun/"
NOW_PAGE = f"{RUNS}run-now/"


@pytest.fixture
def old_tenant(tenant: Tenant) -> Tenant:
    """Return a workspace whose recall log is old enough."""
    age(tenant.workspace)
    return tenant


def only_run(tenant: Tenant) -> JanitorRun:
    with in_workspace(tenant.workspace):
        return JanitorRun.objects.get()


def test_running_shows_what_it_would_do_and_does_it_when_confirmed(
    old_tenant: Tenant, member: Member
) -> None:
    memory = remember(old_tenant.workspace, "<b>Bold</b> claims are printed on blue paper.")
    remember(old_tenant.workspace, SUBJECTS[0], is_pinned=True)
    before = stored(old_tenant.workspace)
    client = member("admin")
    assert "Run now…" in client.get(RUNS).content.decode()
    html = client.get(NOW_PAGE).content.decode()
    assert "Demote 1</button>" in html
    assert "left alone: pinned" in html
    assert "&lt;b&gt;Bold&lt;/b&gt; claims" in html
    assert stored(old_tenant.workspace) == before
    answer = client.post(NOW_PAGE, {"confirmed": "yes", "cull": "no"}, follow=True)
    assert "1 memories demoted, 0 hidden." in answer.content.decode()
    assert "1.00 → 0.90" in answer.content.decode()
    assert fresh(old_tenant.workspace, memory).weight_factor == 0.9


def test_hiding_is_asked_for_by_name(old_tenant: Tenant, member: Member) -> None:
    memory = remember(old_tenant.workspace)
    with in_workspace(old_tenant.workspace):
        Memory.objects.update(demotion_count=3)
    client = member("admin")
    assert "hide 1" not in client.get(NOW_PAGE).content.decode()
    assert "hide 1" in client.get(f"{NOW_PAGE}?cull=yes").content.decode()
    client.post(NOW_PAGE, {"confirmed": "yes", "cull": "yes"})
    assert fresh(old_tenant.workspace, memory).state() == "culled"


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer"])
def test_running_and_undoing_need_the_role(old_tenant: Tenant, member: Member, role: str) -> None:
    memory = remember(old_tenant.workspace)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    with in_workspace(old_tenant.workspace):
        action = JanitorAction.objects.get()
    client = member(role)
    report = client.get(f"{RUNS}{done.pk}/change/").content.decode()
    assert "Undo" not in report.split("<thead>")[1].split("</thead>")[1].split("</table>")[0]
    assert client.get(NOW_PAGE).status_code == 403
    assert client.post(NOW_PAGE, {"confirmed": "yes"}).status_code == 403
    assert client.post(f"{RUNS}{done.pk}/change/", {"undo": str(action.pk)}).status_code == 403
    body = {"action": "undo", "_selected_action": [str(done.pk)], "confirmed": "yes"}
    assert client.post(RUNS, body).status_code == 403
    assert fresh(old_tenant.workspace, memory).weight_factor == 0.9
    assert only_run(old_tenant).undone_at is None


def test_a_run_is_undone_after_a_question(old_tenant: Tenant, member: Member) -> None:
    memory = remember(old_tenant.workspace)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    client = member("admin")
    body = {"action": "undo", "_selected_action": [str(done.pk)], "select_across": "0"}
    assert "Undo 1 runs of the janitor?" in client.post(RUNS, body).content.decode()
    assert fresh(old_tenant.workspace, memory).weight_factor == 0.9
    client.post(RUNS, body | {"confirmed": "yes"})
    assert fresh(old_tenant.workspace, memory).weight_factor == 1.0
    assert "undone" in client.get(f"{RUNS}{done.pk}/change/").content.decode()


def test_one_memory_is_given_back_from_the_report(old_tenant: Tenant, member: Member) -> None:
    first, second = (remember(old_tenant.workspace, content) for content in SUBJECTS[:2])
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    with in_workspace(old_tenant.workspace):
        action = JanitorAction.objects.get(memory=first)
    client = member("admin")
    path = f"{RUNS}{done.pk}/change/"
    assert client.post(path, {"undo": str(action.pk)}, follow=True).status_code == 200
    assert fresh(old_tenant.workspace, first).weight_factor == 1.0
    assert fresh(old_tenant.workspace, second).weight_factor == 0.9
    again = client.post(path, {"undo": str(action.pk)}, follow=True)
    assert "undone already" in again.content.decode()
    for nonsense in ("", "nobody", "\0", str(done.pk)):
        assert client.post(path, {"undo": nonsense}).status_code == 404


def test_report_withholds_what_was_forgotten_since(old_tenant: Tenant, member: Member) -> None:
    memory = remember(old_tenant.workspace)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    forget(old_tenant.workspace, [memory.pk], actor=SYSTEM, now=NOW)
    html = member("reader").get(f"{RUNS}{done.pk}/change/").content.decode()
    assert SUBJECTS[0] not in html
    assert "Forgotten since" in html


def test_runs_of_another_workspace_are_not_there(
    old_tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    age(neighbour.workspace)
    memory = remember(neighbour.workspace, SUBJECTS[3])
    theirs = run(neighbour.workspace, actor=SYSTEM, now=NOW)
    with in_workspace(neighbour.workspace):
        action = JanitorAction.objects.get()
    client = member("admin")
    assert client.get(f"{RUNS}{theirs.pk}/change/").status_code == 404
    answer = client.post(f"{RUNS}{theirs.pk}/change/", {"undo": str(action.pk)})
    assert answer.status_code == 404
    assert SUBJECTS[3] not in client.get(NOW_PAGE).content.decode()
    body = {"action": "undo", "_selected_action": [str(theirs.pk)], "confirmed": "yes"}
    client.post(RUNS, body)
    assert fresh(neighbour.workspace, memory).weight_factor == 0.9


def test_report_asks_as_often_for_many_memories_as_for_one(
    old_tenant: Tenant, member: Member, django_assert_max_num_queries: Callable[..., object]
) -> None:
    for content in SUBJECTS:
        remember(old_tenant.workspace, content)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    client = member("admin")
    client.get(f"{RUNS}{done.pk}/change/")  # what a process keeps once it has asked
    with django_assert_max_num_queries(19):  # eight: what waits in the inbox  # type: ignore[attr-defined]
        html = client.get(f"{RUNS}{done.pk}/change/").content.decode()
    assert html.count('name="undo"') == len(SUBJECTS)


def test_a_long_report_is_read_page_by_page(old_tenant: Tenant, member: Member) -> None:
    memory = remember(old_tenant.workspace)
    done = run(old_tenant.workspace, actor=SYSTEM, now=NOW)
    with in_workspace(old_tenant.workspace):
        copies = [Memory(id=UUID(int=n), **fields_of(memory, n)) for n in range(1, 80)]
        Memory.objects.bulk_create(copies)
        JanitorAction.objects.all().delete()
        JanitorAction.objects.bulk_create(
            JanitorAction(run=done, memory=copy, verb="demote", at=NOW) for copy in copies
        )
    client = member("reader")
    seen: list[str] = []
    path = f"{RUNS}{done.pk}/change/"
    address = path
    while address:
        html = client.get(address).content.decode()
        seen += re.findall(r">Copy (\d+)<", html)
        onward = re.search(r'rel="next" href="([^"]+)"', html)
        address = path + onward[1].replace("&amp;", "&") if onward else ""
    assert seen == [str(n) for n in range(1, 80)]
    assert client.get(path, {"cursor": "nonsense"}).status_code == 200


def fields_of(memory: Memory, number: int) -> dict[str, Any]:
    """Return the fields of a memory like another one."""
    names = ("kind", "provenance", "confidence", "created_at", "updated_at", "observed_at")
    like = {name: getattr(memory, name) for name in names}
    return {
        **like,
        "lineage": UUID(int=number),
        "content": f"Copy {number}",
        "content_hash": f"{number}",
    }
