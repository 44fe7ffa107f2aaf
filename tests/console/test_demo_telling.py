"""The demo's story, told in the background: once, to its end, whoever is killed on the way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conflicts.models import DetectionDue
from engram.console import demo, tasks
from engram.console.demo import telling
from engram.console.demo.teller import SILENCE, OvertakenError, Teller
from engram.console.models import Telling
from engram.kernel.models import Membership, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import NOW, Tenant
from tests.console.test_demo import commit

Member = Callable[[str], Client]
TEXTS = [f"Ferry {number} sails at {number + 5}:00." for number in range(5)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    story = tmp_path / "story.jsonl"
    steps = [commit(9 - n, text, label=f"f{n}") for n, text in enumerate(TEXTS)]
    steps.append({"do": "forget", "days_ago": 1, "of": ["f1"], "by": "mira"})
    story.write_text("".join(json.dumps(step) + "\n" for step in steps))
    return story


def go_on(tenant: Tenant, path: Path) -> None:
    telling.go_on(tenant.workspace, clock=lambda: NOW, path=path)


def told(tenant: Tenant) -> list[str]:
    with in_workspace(tenant.workspace):
        return list(Memory.objects.order_by("observed_at").values_list("content", flat=True))


def test_beginning_writes_a_row_and_tells_nothing(tenant: Tenant, path: Path) -> None:
    telling.begin(tenant.workspace, NOW, path=path)
    row = Telling.objects.get()
    assert (row.workspace, row.told, row.steps, row.began_at) == (tenant.workspace, 0, 6, NOW)
    assert told(tenant) == []
    assert telling.unfinished() == [tenant.workspace]


def test_story_is_told_once_and_read_at_its_end(tenant: Tenant, path: Path) -> None:
    for _ in range(2):
        telling.begin(tenant.workspace, NOW, path=path)
        go_on(tenant, path)
    assert told(tenant) == TEXTS
    row = Telling.objects.get()
    assert (row.told, row.finished_at, row.labels) == (6, NOW, {})
    with in_workspace(tenant.workspace):
        assert DetectionDue.objects.count() == 4  # the forgotten one is not read
    assert telling.unfinished() == []


def test_workspace_with_memories_is_told_no_story(tenant: Tenant, path: Path) -> None:
    tenant.agent.post("memories", {"content": "Tea is at four."})
    telling.begin(tenant.workspace, NOW, path=path)
    go_on(tenant, path)
    assert told(tenant) == ["Tea is at four."]
    assert telling.unfinished() == []


@pytest.mark.parametrize("killed_at", range(6))
def test_killed_teller_is_followed_by_another(
    tenant: Tenant, path: Path, killed_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    telling.begin(tenant.workspace, NOW, path=path)
    taken: list[Any] = []
    take = telling.take

    def killed(*arguments: Any) -> None:
        take(*arguments)
        taken.append(arguments)
        if len(taken) == killed_at + 1:
            raise SystemExit  # after the step's writes, before its transaction ends

    monkeypatch.setattr(telling, "take", killed)
    with pytest.raises(SystemExit):
        go_on(tenant, path)
    assert Telling.objects.get().told == killed_at
    assert told(tenant) == TEXTS[:killed_at]

    tenant.agent.post("memories", {"content": "Meanwhile a person speaks."})
    monkeypatch.setattr(telling, "take", take)
    go_on(tenant, path)
    assert [text for text in told(tenant) if text in TEXTS] == TEXTS
    assert Telling.objects.get().finished_at == NOW
    with in_workspace(tenant.workspace):
        assert Memory.objects.get(content=TEXTS[1]).forgotten_at == NOW - timedelta(days=1)


def test_teller_that_was_overtaken_takes_no_step(tenant: Tenant, path: Path) -> None:
    telling.begin(tenant.workspace, NOW, path=path)
    Telling.objects.update(told=3)
    step = telling.timed(telling.read_demo(path), NOW)[2]
    embedded = iter(telling.embed_story(tenant.workspace, [step[0]]))
    teller = Teller(tenant.workspace, lambda: NOW)
    assert teller.take()
    with pytest.raises(OvertakenError):
        telling._tell_next(teller, 2, step, embedded)
    assert told(tenant) == []
    assert Telling.objects.get().told == 3


def test_story_has_one_teller_until_that_one_is_silent(tenant: Tenant, path: Path) -> None:
    telling.begin(tenant.workspace, NOW, path=path)
    first = Teller(tenant.workspace, lambda: NOW - SILENCE / 2)
    assert first.take()
    go_on(tenant, path)
    assert told(tenant) == []
    later = NOW + SILENCE
    telling.go_on(tenant.workspace, clock=lambda: later, path=path)
    assert told(tenant) == TEXTS
    with pytest.raises(OvertakenError):
        first.beat()


def test_steps_that_cannot_be_taken_are_left_out(tenant: Tenant, path: Path) -> None:
    lines = path.read_text().splitlines()
    lines[3] = json.dumps({"do": "forget", "days_ago": 5, "of": ["nobody"], "by": "mira"})
    path.write_text("\n".join(lines) + "\n")
    telling.begin(tenant.workspace, NOW, path=path)
    go_on(tenant, path)
    assert told(tenant) == [*TEXTS[:3], TEXTS[4]]
    assert Telling.objects.get().finished_at == NOW


def test_demo_is_there_at_once_and_its_story_follows(
    db: None, settings: Any, tmp_path: Path
) -> None:
    settings.ENGRAM_HOME = tmp_path
    file = demo.ensure_demo(NOW)
    made = json.loads(file.read_text())
    assert set(made) == {
        "url", "username", "password", "api_key", "agent_key", "reviewer_key", "workspace",
    }  # fmt: skip
    workspace = Workspace.objects.get(slug="demo")
    signed_in = Client().post(
        "/admin/login/", {name: made[name] for name in ("username", "password")}
    )
    assert signed_in.status_code == 302
    row = Telling.objects.get()
    assert (row.workspace, row.told, row.finished_at) == (workspace, 0, None)
    demo.ensure_demo(NOW)
    assert Telling.objects.count() == 1


def test_every_worker_and_the_sweep_know_the_task(settings: Any) -> None:
    entry = settings.CELERY_BEAT_SCHEDULE[telling.TASK]
    assert (entry["task"], entry["schedule"]) == (tasks.tell_stories.name, 10.0)


def test_console_says_that_the_story_is_being_told(db: None, path: Path) -> None:
    workspace = Workspace.objects.create(slug="demo", name="Harbour team")
    user = User.objects.create_user("newcomer", is_staff=True)
    Membership.objects.create(workspace=workspace, user=user, role="reader")
    client = Client()
    client.force_login(user)
    html = client.get("/").content.decode()
    assert ("data-story" in html, "Commit the first memory" in html) == (False, True)
    telling.begin(workspace, NOW, path=path)
    html = client.get("/").content.decode()
    assert ("data-story" in html, "Commit the first memory" in html) == (True, False)
    Telling.objects.update(told=2)
    html = client.get("/console/gate/").content.decode()
    assert re.search(r"data-story-told>2</span> of 6 steps", html)
    assert client.get("/console/numbers/").json()["story"] == {"told": 2, "steps": 6}
    Telling.objects.update(finished_at=NOW)
    assert "data-story" not in client.get("/console/gate/").content.decode()
    assert client.get("/console/numbers/").json()["story"] is None


def test_other_workspaces_are_not_asked_about_a_story(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    with CaptureQueriesContext(connection) as queries:
        client.get("/console/gate/")
    assert not [query for query in queries if "console_telling" in query["sql"]]
