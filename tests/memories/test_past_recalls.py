"""Past recalls: what was asked, what came back and why, for as long as it may be kept."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.models import ApiKey, Workspace
from engram.kernel.services import change_settings
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, PastRecall, PastResult, RecallRecord, Session
from memories.services.recall import log
from memories.services.recall.log import sweep
from memories.services.retention.apply import apply_retention, due_workspaces
from memories.services.sessions.end import end_session
from tests.conftest import NOW, Tenant
from tests.memories.aged import SUBJECTS
from tests.memories.session_world import AGENT, begin

ASKED = "At which floors does the lift of building seven stop?"
CANARY = "zyzzyvaquux"
DAY = timedelta(days=1)


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.content
    return str(answer.json()["memory"]["id"])


def recall(tenant: Tenant, query: str = ASKED, **fields: Any) -> list[dict[str, Any]]:
    body = {"query": query, "min_score": None, "explain": True, **fields}
    answer = tenant.reader.post("memories/recall", body)
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def recalls_of(tenant: Tenant, memory: str, **query: Any) -> list[dict[str, Any]]:
    answer = tenant.reader.get(f"memories/{memory}/recalls", query)
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def kept(tenant: Tenant) -> tuple[int, int]:
    """Return the numbers of past recalls and of their results."""
    with in_workspace(tenant.workspace):
        return PastRecall.objects.count(), PastResult.objects.count()


def uncounted(tenant: Tenant) -> int:
    """Return the number of records whose queries wait for the sweep."""
    with in_workspace(tenant.workspace):
        return RecallRecord.objects.filter(kept__isnull=False).count()


def test_a_recall_is_told_with_the_figures_of_its_answer(tenant: Tenant) -> None:
    lift = commit(tenant, SUBJECTS[0], scope="house")
    commit(tenant, SUBJECTS[3], scope="house/cellar")
    found = recall(tenant, k=7, scope="house", session_key="s1", graph=False)
    assert recalls_of(tenant, lift) == []
    sweep()
    [told] = recalls_of(tenant, lift)
    [own] = [one for one in found if one["memory"]["id"] == lift]
    assert (told["query"], told["k"], told["origin"]) == (ASKED, 7, "recall")
    assert told["asked"] == {"scope": "house", "graph": False, "min_score": None}
    assert (told["session_key"], told["by"]) == ("s1", f"{tenant.workspace.slug} reader")
    assert (told["rank"], told["returned"]) == (own["rank"], len(found))
    assert told["score"] == pytest.approx(own["score"], abs=1e-4)
    assert told["relevance"] == pytest.approx(own["relevance"], abs=1e-4)
    left_out = {"neighbours", "nearest_question", "repeats"}
    assert set(told["factors"]) == {*own["explain"]} - left_out | {"repeats"}
    for name in set(told["factors"]) - {"repeats"}:
        assert told["factors"][name] == pytest.approx(own["explain"][name], abs=1e-4), name


def test_a_context_is_told_and_counts_as_no_recall(tenant: Tenant) -> None:
    lift = commit(tenant, SUBJECTS[0], project="house")
    answer = tenant.reader.post("context", {"task": ASKED, "project": "house"})
    assert [one["memory"]["id"] for one in answer.json()["memories"]] == [lift]
    sweep()
    [told] = recalls_of(tenant, lift)
    assert (told["origin"], told["query"], told["rank"]) == ("context", ASKED, 1)
    assert told["asked"] == {"project": "house"}
    with in_workspace(tenant.workspace):
        assert Memory.objects.get(pk=lift).recall_count == 0


def test_what_is_not_recorded_is_not_kept(tenant: Tenant) -> None:
    lift = commit(tenant, SUBJECTS[0])
    recall(tenant, record=False)
    tenant.reader.get(f"memories/{lift}/why-not", {"query": ASKED})
    begin(tenant, "s1", context=ASKED)
    recall(tenant, query="!!! ???")  # it returns nothing
    sweep()
    assert (kept(tenant), uncounted(tenant)) == ((0, 0), 0)


def test_a_workspace_may_keep_no_queries(tenant: Tenant) -> None:
    lift = commit(tenant, SUBJECTS[0])
    change_settings(tenant.workspace, {"recalls_kept": False}, actor=SYSTEM, now=NOW)
    recall(tenant)
    tenant.reader.post("context", {"task": ASKED})
    assert uncounted(tenant) == 0
    sweep()
    assert kept(tenant) == (0, 0)
    with in_workspace(tenant.workspace):
        assert Memory.objects.get(pk=lift).recall_count == 1


def test_nobody_else_sees_them(tenant: Tenant, neighbour: Tenant) -> None:
    lift = commit(tenant, SUBJECTS[0])
    commit(neighbour, SUBJECTS[0])
    recall(tenant)
    recall(neighbour, query=f"{ASKED} {CANARY}")
    sweep()
    assert [one["query"] for one in recalls_of(tenant, lift)] == [ASKED]
    assert neighbour.admin.get(f"memories/{lift}/recalls").status_code == 404
    with in_workspace(neighbour.workspace), connection.cursor() as cursor:
        cursor.execute("SELECT workspace_id FROM memories_pastrecall")
        assert cursor.fetchall() == [(neighbour.workspace.pk,)]
        cursor.execute("SELECT workspace_id FROM memories_pastresult")
        assert cursor.fetchall() == [(neighbour.workspace.pk,)]


def test_credentials_are_not_kept(tenant: Tenant) -> None:
    lift = commit(tenant, SUBJECTS[0])
    recall(tenant, query=f"{ASKED} password=hunter2hunter2Zq")
    with in_workspace(tenant.workspace):
        assert "hunter2hunter2Zq" not in str(RecallRecord.objects.get().kept)
    sweep()
    [told] = recalls_of(tenant, lift)
    assert told["query"].startswith(f"{ASKED} ")
    assert "hunter2hunter2Zq" not in told["query"]


def test_a_query_that_states_a_forgotten_memory_is_withheld(tenant: Tenant) -> None:
    lift, tea = commit(tenant, SUBJECTS[0]), commit(tenant, SUBJECTS[4])
    recall(tenant)
    recall(tenant, query=SUBJECTS[4].upper())
    sweep()
    tenant.admin.post("memories/forget", {"ids": [tea], "confirm": True})
    told = {one["query"] for one in recalls_of(tenant, lift)}
    assert told <= {ASKED, None}
    assert tenant.reader.get(f"memories/{tea}/recalls").status_code == 404
    own = tenant.agent.get(f"memories/{tea}/recalls").json()["results"]
    assert None in {one["query"] for one in own}
    tenant.admin.post("memories/restore", {"ids": [tea]})
    assert SUBJECTS[4].upper() in {one["query"] for one in recalls_of(tenant, tea)}


@pytest.mark.parametrize("is_counted", [True, False])
def test_erasing_takes_the_recalls_that_returned_or_quote_it(
    tenant: Tenant, is_counted: bool
) -> None:
    lift = commit(tenant, SUBJECTS[0], scope="house")
    vault = commit(tenant, f"The word of the vault is {CANARY}.", scope="vault")
    recall(tenant, scope="house")
    recall(tenant, query=f"Is it so? THE WORD of the vault is {CANARY}.", scope="house")
    recall(tenant, query=f"vault {CANARY}", scope="vault")
    tenant.reader.post("context", {"task": f"Open the vault with {CANARY}"})
    if is_counted:
        sweep()
    assert tenant.admin.delete(f"memories/{vault}").status_code == 204
    sweep()
    assert [one["query"] for one in recalls_of(tenant, lift)] == [ASKED]
    assert kept(tenant) == (1, 1)
    with in_workspace(tenant.workspace):
        assert Memory.objects.get(pk=lift).recall_count == 2  # counters stay


def begin_as_reader(tenant: Tenant, key: str, now: datetime) -> None:
    """Let a session be one that the reader's key started."""
    begin(tenant, key, context="the deploy", now=now)
    with in_workspace(tenant.workspace):
        caller = f"key:{ApiKey.objects.get(name__endswith='reader').pk}"
        Session.objects.filter(session_key=key).update(caller=caller)


@pytest.mark.parametrize("is_counted", [True, False])
def test_a_deleted_session_takes_its_queries(tenant: Tenant, is_counted: bool) -> None:
    lift = commit(tenant, SUBJECTS[0])
    begin_as_reader(tenant, "s1", NOW)
    recall(tenant, session_key="s1")
    others = {"query": "What stops at odd floors?", "min_score": None, "session_key": "s1"}
    tenant.agent.post("memories/recall", others)
    recall(tenant, query="Which lift?", session_key="s2")
    if is_counted:
        sweep()
    assert tenant.admin.delete("sessions/s1").status_code == 204
    sweep()
    left = {one["query"] for one in recalls_of(tenant, lift)}
    assert left == {"What stops at odd floors?", "Which lift?"}
    with in_workspace(tenant.workspace):
        assert Memory.objects.get(pk=lift).recall_count == 3


def test_queries_go_with_the_transcript_of_their_session(tenant: Tenant) -> None:
    lift = commit(tenant, SUBJECTS[0])
    begin(tenant, "s1", context="the deploy", now=NOW - 41 * DAY)
    end_session(tenant.workspace, "s1", "User: hello", actor=AGENT, now=NOW - 40 * DAY)
    with in_workspace(tenant.workspace):
        caller = f"key:{ApiKey.objects.get(name__endswith='reader').pk}"
        Session.objects.update(caller=caller)
    recall(tenant, session_key="s1")
    recall(tenant, query="Which lift?")
    sweep()
    assert len(recalls_of(tenant, lift)) == 2
    change_settings(tenant.workspace, {"retention_transcript_days": 30}, actor=SYSTEM, now=NOW)
    apply_again(tenant, NOW)
    assert [one["query"] for one in recalls_of(tenant, lift)] == ["Which lift?"]


def apply_again(tenant: Tenant, now: datetime) -> None:
    workspace = Workspace.objects.get(pk=tenant.workspace.pk)
    assert apply_retention(workspace, now=now, seconds=60)


def test_they_go_by_their_days(tenant: Tenant, neighbour: Tenant) -> None:
    for each in (tenant, neighbour):
        commit(each, SUBJECTS[0])
        recall(each)
        recall(each, query="Which lift?")
    sweep()
    now = timezone.now()
    for each in (tenant, neighbour):
        with in_workspace(each.workspace):
            old = PastRecall.objects.filter(query=ASKED)
            old.update(at=now - 32 * DAY)
    change_settings(neighbour.workspace, {"retention_query_days": None}, actor=SYSTEM, now=NOW)
    assert due_workspaces(now) == [tenant.workspace]
    assert due_workspaces(now - 4 * DAY) == []
    apply_again(tenant, now)
    assert due_workspaces(now) == []
    apply_again(neighbour, now)
    assert (kept(tenant), kept(neighbour)) == ((1, 1), (2, 2))


def test_only_the_newest_are_kept(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "RECALLS_KEPT", 2)
    lift = commit(tenant, SUBJECTS[0])
    commit(neighbour, SUBJECTS[0])
    recall(neighbour)
    for number in range(4):
        recall(tenant, query=f"Which lift stops at floor {number}?")
    sweep()
    told = [one["query"] for one in recalls_of(tenant, lift)]
    assert told == ["Which lift stops at floor 3?", "Which lift stops at floor 2?"]
    assert (kept(tenant), kept(neighbour)) == ((2, 2), (1, 1))


def test_a_list_asks_as_often_for_many_as_for_one(tenant: Tenant) -> None:
    lift = commit(tenant, SUBJECTS[0])
    recall(tenant, session_key="s1")
    sweep()
    with CaptureQueriesContext(connection) as few:
        assert len(recalls_of(tenant, lift)) == 1
    for number in range(30):
        recall(tenant, query=f"Which lift stops at floor {number}?", session_key=f"s{number}")
    sweep()
    with CaptureQueriesContext(connection) as many:
        assert len(recalls_of(tenant, lift)) == 31
    assert len(few) == len(many)


def test_pages_follow_one_another(tenant: Tenant) -> None:
    lift = commit(tenant, SUBJECTS[0])
    for number in range(5):
        recall(tenant, query=f"Which lift stops at floor {number}?")
    sweep()
    path, seen = f"memories/{lift}/recalls?limit=2", []
    while path:
        body = tenant.reader.get(path).json()
        seen += [one["query"] for one in body["results"]]
        path = (body["next"] or "").partition("/api/v1/")[2]
    assert seen == [f"Which lift stops at floor {number}?" for number in (4, 3, 2, 1, 0)]
    for wrong in ("limit=0", "limit=x", "cursor=%3F", "offset=1"):
        assert tenant.reader.get(f"memories/{lift}/recalls?{wrong}").status_code == 422, wrong


def test_a_memory_that_is_gone_before_the_count_leaves_the_others(tenant: Tenant) -> None:
    lift, tea = commit(tenant, SUBJECTS[0]), commit(tenant, SUBJECTS[4])
    assert len(recall(tenant, query="Who drinks tea in the lift?")) == 2
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=tea).delete()
    sweep()
    [told] = recalls_of(tenant, lift)
    assert told["returned"] == 2
    assert kept(tenant) == (1, 1)
