"""Rolling back one writer leaves what others said (and only that)."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge, Observation
from memories.services.lifecycle.rollback_plan import ALSO_STATED, REWORDED
from tests.conftest import Caller, Tenant

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."
LOUD = {"pinned": True, "kind": "constraint", "importance": 1.0}


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def roll_back(tenant: Tenant, since: str, **body: Any) -> dict[str, Any]:
    sent = {"since": since, "agent": "mallory", **body}
    answer = tenant.admin.post("memories/rollback", sent)
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def shown(tenant: Tenant, memory_id: str, *names: str) -> list[Any]:
    memory = tenant.agent.get(f"memories/{memory_id}").json()
    return [memory[name] for name in names]


def test_what_another_stated_again_stays_as_theirs(tenant: Tenant, neighbour: Tenant) -> None:
    theirs = commit(neighbour.agent, PLAIN, agent="mallory")["memory"]["id"]
    since = timezone.now().isoformat()
    bad = commit(tenant.agent, PLAIN, agent="mallory", **LOUD)["memory"]["id"]
    alone = commit(tenant.agent, "Pears ripen in August.", agent="mallory")["memory"]["id"]
    assert commit(tenant.reviewer, PLAIN, agent="alice")["outcome"] == "duplicate"
    would = roll_back(tenant, since)
    assert [row["id"] for row in would["would_forget"]] == [alone]
    assert (would["total"], would["kept"]) == (1, [{"id": bad, "reason": ALSO_STATED}])
    done = roll_back(tenant, since, confirm=True)
    assert (done["forgotten"], done["kept"]) == (1, would["kept"])
    names = ("state", "agent", "content", "pinned", "kind", "importance")
    assert shown(tenant, bad, *names) == ["active", "alice", PLAIN, False, "semantic", 0.5]
    assert commit(tenant.reviewer, PLAIN)["outcome"] == "duplicate"
    assert roll_back(tenant, since)["kept"] == []
    assert shown(neighbour, theirs, "agent", "pinned") == ["mallory", False]


def test_what_another_refined_stays_in_their_words(tenant: Tenant) -> None:
    since = timezone.now().isoformat()
    bad = commit(tenant.agent, PLAIN, agent="mallory", tags=["bad"], **LOUD)["memory"]["id"]
    assert commit(tenant.agent, FINER, agent="alice", tags=["ok"])["outcome"] == "merged"
    roll_back(tenant, since, confirm=True)
    assert shown(tenant, bad, "state", "agent", "content", "pinned", "tags") == [
        "active", "alice", FINER, False, ["ok"],
    ]  # fmt: skip
    with in_workspace(tenant.workspace):
        assert not Merge.objects.filter(split_at=None).exists()


def test_what_another_said_plainer_is_told_plainer(tenant: Tenant) -> None:
    since = timezone.now().isoformat()
    bad = commit(tenant.agent, FINER, agent="mallory")["memory"]["id"]
    assert commit(tenant.agent, PLAIN, agent="alice")["outcome"] == "merged"
    assert roll_back(tenant, since)["would_reword"] == 1
    assert roll_back(tenant, since, confirm=True)["reworded"] == 1
    assert shown(tenant, bad, "state", "agent", "content") == ["active", "alice", PLAIN]
    assert tenant.reader.get("memories", {"q": "UTC"}).json()["results"] == []


def test_a_merge_into_anothers_memory_is_taken_out(tenant: Tenant) -> None:
    mine = commit(tenant.agent, FINER, agent="alice")["memory"]["id"]
    since = timezone.now().isoformat()
    assert commit(tenant.agent, PLAIN, agent="mallory", **LOUD)["outcome"] == "merged"
    assert shown(tenant, mine, "pinned", "kind", "importance") == [True, "constraint", 1.0]
    assert roll_back(tenant, since)["would_take_out"] == 1
    done = roll_back(tenant, since, confirm=True)
    assert (done["forgotten"], done["taken_out"], done["reworded"]) == (0, 1, 0)
    assert shown(tenant, mine, "pinned", "kind", "importance", "content") == [
        False, "semantic", 0.5, FINER,
    ]  # fmt: skip
    with in_workspace(tenant.workspace):
        merged = Observation.objects.get(outcome="merged")
    again = tenant.reviewer.post(f"memories/{mine}/split", {"observation_id": str(merged.pk)})
    assert again.status_code == 409


def test_what_was_merged_after_it_stays_merged(tenant: Tenant) -> None:
    mine = commit(tenant.agent, PLAIN, agent="alice")["memory"]["id"]
    since = timezone.now().isoformat()
    commit(tenant.agent, FINER, agent="mallory", **LOUD)
    again = commit(tenant.agent, "The deploy runs on Thursdays.", agent="bob", tags=["bob"])
    assert again["outcome"] == "merged"
    tenant.reviewer.patch(f"memories/{mine}", {"source": "the handbook"})
    assert roll_back(tenant, since, confirm=True)["reworded"] == 1
    assert shown(tenant, mine, "content", "pinned", "tags", "source") == [
        PLAIN, False, ["bob"], "the handbook",
    ]  # fmt: skip


def test_what_a_person_reworded_is_kept_and_named(tenant: Tenant, member: Any) -> None:
    since = timezone.now().isoformat()
    bad = commit(tenant.agent, "The gate opens at nine.", agent="mallory")["memory"]["id"]
    moved = commit(tenant.agent, "Pears ripen in August.", agent="mallory")["memory"]["id"]
    person = member("reviewer")
    for memory_id, change in ((bad, {"content": "The gate opens at ten."}), (moved, LOUD)):
        answer = person.patch(
            f"/api/v1/memories/{memory_id}", change, content_type="application/json"
        )
        assert answer.status_code == 200
    done = roll_back(tenant, since, confirm=True)
    assert (done["forgotten"], done["kept"]) == (1, [{"id": bad, "reason": REWORDED}])
    assert shown(tenant, bad, "state", "content") == ["active", "The gate opens at ten."]


def test_an_accepted_merge_of_anothers_memory_comes_apart(tenant: Tenant) -> None:
    since = timezone.now().isoformat()
    bad = commit(tenant.agent, PLAIN, agent="mallory", provenance="user_stated")["memory"]["id"]
    good = commit(tenant.agent, FINER, agent="alice")["memory"]["id"]
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    tenant.reviewer.post(f"merge-suggestions/{row['id']}/accept", {"keep": good})
    done = roll_back(tenant, since, confirm=True)
    assert (done["forgotten"], done["brought_back"]) == (1, 1)
    assert shown(tenant, bad, "state") == ["forgotten"]
    assert shown(tenant, good, "state", "agent", "content") == ["active", "alice", FINER]
    with in_workspace(tenant.workspace):
        assert Memory.objects.recallable().count() == 1
