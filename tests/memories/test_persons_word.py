"""What a person said is changed by no agent: neither by merging, nor by splitting, nor after."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from engram.kernel.actors import Actor
from engram.kernel.models import Role
from engram.kernel.tenancy import in_workspace
from memories.models import Merge, Observation
from memories.services.commit.commit import Committed
from memories.services.commit.commit import commit as write
from memories.services.commit.draft import Draft
from memories.services.gate import examine
from memories.services.gate.report import GateReport
from tests.conftest import Tenant, issue_agent

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."
SAID = "Our deploys go out on Thursday mornings."
SAID_TOO = "Deploys go out on Thursday mornings."
PERSON = Actor(kind="user", id="1", label="ann", role=Role.ADMIN)
LOUD = {
    "pinned": True, "kind": "constraint", "confidence": 1.0, "importance": 1.0,
    "metadata": {"by": "agent"}, "tags": ["loud"], "source": "rumour",
}  # fmt: skip
LOUD_OF_AGENTS = {"importance": 0.9, "metadata": {"by": "agent"}, "tags": ["loud"]}


def say(tenant: Tenant, content: str, **fields: Any) -> Committed:
    """Commit as a person."""
    draft = Draft(content=content, **fields)
    return write(tenant.workspace, draft, actor=PERSON, now=timezone.now())


def commit(tenant: Tenant, content: str, **fields: Any) -> Any:
    return tenant.agent.post("memories", {"content": content, **fields}).json()


def supersede(tenant: Tenant, memory_id: Any) -> int:
    """Let an agent replace a memory; 202 when a person is asked first."""
    sent = {"content": "The deploy is off.", "provenance": "user_stated"}
    answer = tenant.agent.post("memories", {**sent, "supersedes": str(memory_id)})
    status: int = answer.status_code
    return status


@pytest.mark.parametrize("provenance", ["assistant_derived", "user_stated"])
def test_an_agents_paraphrase_changes_nothing_of_a_persons_memory(
    tenant: Tenant, provenance: str
) -> None:
    until = timezone.now() + timedelta(hours=1)
    stored = say(tenant, SAID, confidence=0.3, importance=0.2, expires_at=until).memory
    assert stored is not None
    before = tenant.reader.get(f"memories/{stored.id}").json()
    answer = commit(tenant, SAID_TOO, provenance=provenance, **LOUD)
    assert (answer["outcome"], answer["memory"]["id"]) == ("merged", str(stored.id))
    assert answer["memory"] == before
    with in_workspace(tenant.workspace):
        kept = Observation.objects.get(outcome="merged")
        assert (kept.content, kept.fields["pinned"]) == (SAID_TOO, True)


def test_an_agents_guess_changes_nothing_of_what_a_user_stated(tenant: Tenant) -> None:
    stored = commit(tenant, SAID, provenance="user_stated")["memory"]
    answer = commit(tenant, SAID_TOO, **LOUD)
    assert (answer["outcome"], answer["memory"]) == ("merged", stored)
    asked = {"content": SAID_TOO, **LOUD}
    answer = tenant.reviewer.post(
        "memories", {**asked, "content": "The deploys go out on Thursday mornings."}
    )
    assert (answer.json()["outcome"], answer.json()["memory"]["pinned"]) == ("merged", True)


def test_what_only_witnessed_stays_out_of_the_memory_when_an_earlier_merge_is_split(
    tenant: Tenant,
) -> None:
    stored = say(tenant, SAID).memory
    assert stored is not None
    before = tenant.reader.get(f"memories/{stored.id}").json()
    first = tenant.reviewer.post("memories", {"content": SAID_TOO, "pinned": True}).json()
    assert (first["outcome"], first["memory"]["pinned"]) == ("merged", True)
    again = commit(tenant, "The deploys go out on Thursday mornings.", **LOUD)
    assert again["outcome"] == "merged"
    with in_workspace(tenant.workspace):
        one, two = Merge.objects.order_by("created_at").values_list("observation_id", flat=True)
    changing = {"updated_at", "revision"}
    for observation in (one, two):
        body = {"observation_id": str(observation)}
        done = tenant.reviewer.post(f"memories/{stored.id}/split", body).json()
        survivor = {k: v for k, v in done["survivor"].items() if k not in changing}
        assert survivor == {k: v for k, v in before.items() if k not in changing}
    assert done["memory"]["tags"] == ["loud"]


def merged_observation(tenant: Tenant) -> str:
    with in_workspace(tenant.workspace):
        return str(Observation.objects.get(outcome="merged").pk)


def test_an_agent_does_not_split_off_what_a_person_said(tenant: Tenant) -> None:
    memory = commit(tenant, PLAIN)["memory"]["id"]
    done = say(tenant, FINER)
    assert (done.outcome, str(done.memory and done.memory.id)) == ("merged", memory)
    assert supersede(tenant, memory) == 202
    body = {"observation_id": merged_observation(tenant)}
    assert tenant.agent.post(f"memories/{memory}/split", body).status_code == 403
    assert tenant.reader.get(f"memories/{memory}").json()["content"] == FINER


def test_what_a_person_said_stays_theirs_whoever_splits_it_off(tenant: Tenant) -> None:
    memory = commit(tenant, PLAIN)["memory"]["id"]
    say(tenant, FINER)
    body = {"observation_id": merged_observation(tenant)}
    off = tenant.reviewer.post(f"memories/{memory}/split", body).json()["memory"]
    assert off["content"] == FINER
    assert (
        tenant.agent.patch(f"memories/{off['id']}", {"content": "No deploys."}).status_code == 202
    )
    assert supersede(tenant, off["id"]) == 202


def test_an_agent_does_not_split_what_a_reviewer_judged(tenant: Tenant) -> None:
    memory = commit(tenant, PLAIN)["memory"]["id"]
    commit(tenant, FINER)
    (row,) = tenant.reviewer.get("gate/audit").json()["results"]
    tenant.reviewer.post(f"gate/audit/{row['id']}", {"correct": True})
    body = {"observation_id": row["observation_id"]}
    assert tenant.agent.post(f"memories/{memory}/split", body).status_code == 403
    assert tenant.reviewer.post(f"memories/{memory}/split", body).status_code == 200


def test_accepting_a_merge_launders_no_persons_word(tenant: Tenant) -> None:
    older = commit(tenant, PLAIN, provenance="user_stated")["memory"]["id"]
    newer = say(tenant, FINER).memory
    assert newer is not None
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    path = f"merge-suggestions/{row['id']}/accept"
    assert tenant.reviewer.post(path, {"keep": str(newer.id)}).status_code == 200
    assert tenant.reader.get(f"memories/{older}").json()["content"] == FINER
    assert supersede(tenant, older) == 202
    with in_workspace(tenant.workspace):
        absorbed = Observation.objects.get(outcome="absorbed")
    body = {"observation_id": str(absorbed.pk)}
    assert tenant.reviewer.post(f"memories/{older}/split", body).status_code == 200
    # A reviewer's key has split them: that is a decision about both.
    assert (supersede(tenant, newer.id), supersede(tenant, older)) == (202, 202)


@pytest.mark.parametrize(
    ("phrase", "outcome"),
    [("The deploy runs on a Thursday.", "merged"), (FINER, "suggested")],
)
def test_a_verdict_between_the_gates_look_and_its_merge_is_heeded(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, phrase: str, outcome: str
) -> None:
    plain = issue_agent(tenant.workspace)
    stored = plain.post("memories", {"content": PLAIN}).json()["memory"]
    other = plain.post("memories", {"content": "The deploy runs on Monday.", "scope": "ops"})
    ids = [stored["id"], other.json()["memory"]["id"]]
    card = tenant.reviewer.post("conflicts", {"memory_ids": ids, "note": ""}).json()["id"]
    real_examine = examine.examine

    def examined(*args: Any, **options: Any) -> GateReport:
        report = real_examine(*args, **options)
        kept = {"verdict": "keep", "keep": [stored["id"]]}
        tenant.reviewer.post(f"conflicts/{card}/resolve", kept)
        assert report.best is not None
        assert (report.outcome, report.best.decision.folds) == ("merged", True)
        return report

    before = tenant.reader.get(f"memories/{stored['id']}").json()
    monkeypatch.setattr(examine, "examine", examined)
    answer = plain.post("memories", {"content": phrase, **LOUD_OF_AGENTS}).json()
    assert answer["outcome"] == outcome
    assert "a person wrote the stored memory or decided about it" in answer["gate"]["reasons"]
    verdict = {"conflicts": [], "disputed": False, "supersedes": ids[1]}
    assert tenant.reader.get(f"memories/{stored['id']}").json() == before | verdict


def test_what_both_valid_keeps_is_a_persons_word_until_it_is_undone(tenant: Tenant) -> None:
    plain = issue_agent(tenant.workspace)
    one = plain.post("memories", {"content": PLAIN}).json()["memory"]["id"]
    other = plain.post("memories", {"content": "The deploy runs on Monday.", "scope": "ops"})
    ids = [one, other.json()["memory"]["id"]]
    card = tenant.reviewer.post("conflicts", {"memory_ids": ids, "note": ""}).json()["id"]
    decided = tenant.reviewer.post(f"conflicts/{card}/resolve", {"verdict": "both_valid"})
    assert decided.status_code == 200, decided.json()
    for memory_id in ids:
        assert plain.patch(f"memories/{memory_id}", {"importance": 0.9}).status_code == 202
        body = {"ids": [memory_id], "confirm": True}
        assert plain.post("memories/forget", body).status_code == 202
    assert tenant.reviewer.post(f"conflicts/{card}/undo", {}).status_code == 200
    assert plain.patch(f"memories/{one}", {"importance": 0.8}).status_code == 200
