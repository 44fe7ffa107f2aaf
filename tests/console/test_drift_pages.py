"""Prediction errors on the pages of notes and in the admin: scoped, without forgotten text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.test import Client

from engram.kernel.tenancy import in_workspace
from memories.models import Note
from tests.conftest import Tenant
from tests.memories.drift_world import MEMORY, PATH, SHOWN, drifted, errors, put, remember, resolve

Member = Callable[[str], Client]
ADMIN = "/admin/memories/predictionerror/"
BEES = "garden/bees.md"
TASKS = ("Rotate the signing keys of the payment gateway", "Which signing keys are accepted?")


def page(client: Client, path: str, code: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == code, path
    return answer.content.decode()


def missed(tenant: Tenant, tasks: tuple[str, ...] = TASKS, path: str = BEES) -> str:
    """Let tasks meet a note that does not fit them; return the address of its page."""
    put(tenant, "# Bees\n\nBees dance when they find nectar.", path)
    for task in tasks:
        assert tenant.agent.post("context", {"task": task}).status_code == 200
    with in_workspace(tenant.workspace):
        return f"/console/notes/{Note.objects.get(path=path).pk}/"


def test_a_note_shows_the_tasks_that_it_did_not_fit(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    one = missed(tenant, TASKS[:1])
    for path in (one, "/console/notes/"):
        assert "not fit" not in page(client, path)
        assert TASKS[0] not in page(client, path)
    missed(tenant, TASKS[1:])
    html = page(client, one)
    assert "Tasks that it did not fit" in html
    assert TASKS[1] in html or TASKS[0] in html
    assert "2 times" in html
    assert "1 task does not fit</a>" in page(client, "/console/notes/")
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "dismiss").status_code == 200
    assert "Tasks that it did not fit" not in page(client, one)
    assert "does not fit</a>" not in page(client, "/console/notes/")


def test_a_task_that_states_a_forgotten_memory_is_shown_nowhere(
    tenant: Tenant, member: Member
) -> None:
    said = "The vault code of the north annex is kept by Marek."
    memory_id = remember(tenant, said)
    one = missed(tenant, (said, said + "  ", "Rotate the signing keys"))
    missed(tenant, (said,))
    client = member("admin")
    assert tenant.admin.post("memories/forget", {"ids": [memory_id], "confirm": True}).json()
    tasks = f"{ADMIN}tasks/"
    for path in (
        one,
        tasks,
        f"{tasks}?state=all&q=annex",
        ADMIN,
        f"{ADMIN}?q=vault",
        f"{ADMIN}?q=Marek",
        f"{ADMIN}?state=all&q=annex",
    ):
        assert "north annex" not in page(client, path), path


def test_the_admin_lists_and_finds_errors_and_leads_to_them(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    note = missed(tenant)
    drifted(tenant)
    drifted(neighbour, MEMORY.replace("licence", "xylophone"))
    reader = member("reader")
    html = page(reader, ADMIN)
    assert SHOWN in html
    assert BEES not in html
    assert "1 memory in doubt (open)" in html
    assert re.search(r">\d+ % sure<", html)
    tasks = page(reader, f"{ADMIN}tasks/")
    assert BEES in tasks
    assert SHOWN not in tasks
    assert "1 task that no note fits (open)" in tasks
    assert BEES in page(reader, f"{ADMIN}tasks/?error_type=low_overlap")
    assert BEES not in page(reader, f"{ADMIN}tasks/?error_type=contextual_mismatch")
    assert SHOWN not in page(reader, f"{ADMIN}?error_type=memory_external_signal")
    assert "xylophone" not in html
    assert SHOWN in page(reader, f"{ADMIN}?q=blocker")
    assert SHOWN not in page(reader, f"{ADMIN}?q=bees")
    rows: dict[str, Any] = {row["error_type"]: row for row in errors(tenant.reader)}
    drift, of_note = rows["memory_drift"], rows["low_overlap"]
    to_card = reader.get(f"{ADMIN}{drift['id']}/change/")
    assert to_card["Location"] == f"/console/inbox/?item=drift:{drift['id']}"
    assert reader.get(f"{ADMIN}{of_note['id']}/change/")["Location"] == note
    [foreign] = errors(neighbour.reader)
    assert reader.get(f"{ADMIN}{foreign['id']}/change/").status_code in {302, 404}
    assert "xylophone review" not in page(reader, f"{ADMIN}?q=xylophone&state=all")
    assert reader.post(f"{ADMIN}{drift['id']}/change/", {}).status_code == 403


def test_the_admin_names_no_forgotten_memory_and_does_not_find_it(
    tenant: Tenant, member: Member
) -> None:
    memory_id = drifted(tenant)
    assert tenant.admin.post("memories/forget", {"ids": [memory_id], "confirm": True}).json()
    client = member("admin")
    html = page(client, f"{ADMIN}?state=all")
    assert "(forgotten)" in html
    assert PATH in html
    assert "open blocker" not in html
    assert "(forgotten)" not in page(client, f"{ADMIN}?state=all&q=blocker")
    assert "(forgotten)" not in page(client, ADMIN)


def test_lists_ask_as_many_queries_for_one_error_as_for_five(
    tenant: Tenant, member: Member, django_assert_max_num_queries: Any
) -> None:
    client = member("reader")
    counts = []
    for extra in (1, 4):
        for n in range(extra):
            memory_id = remember(tenant, f"Valve {extra}{n} is in room {n}{extra}.")
            body = {"source": "git", "evidence": {"n": n}}
            assert tenant.agent.post(f"memories/{memory_id}/signals", body).status_code == 201
        for path in (ADMIN, "/console/notes/"):
            page(client, path)
            with django_assert_max_num_queries(80) as asked:
                page(client, path)
            counts.append(len(asked))
    assert counts[:2] == counts[2:]
