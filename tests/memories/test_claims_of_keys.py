"""What a key may claim: no agent overrules a person, leads sessions or forgets a person's word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Review
from tests.conftest import Caller, Tenant, build_tenant, issue_agent

BUDGET = "The budget is 5000 euros."
OTHER = "The budget is 9 euros."
LONG_AGO = "2020-01-01T00:00:00Z"
FLAGS = list(product([False, True], repeat=2))  # may_relay, may_pin
Answer = Any


def commit(caller: Caller, content: str, **fields: Any) -> Answer:
    return caller.post("memories", {"content": content, **fields})


def stored(caller: Caller, content: str, **fields: Any) -> str:
    answer = commit(caller, content, **fields)
    assert answer.status_code == 201, answer.json()
    memory_id: str = answer.json()["memory"]["id"]
    return memory_id


def shown(tenant: Tenant, memory_id: str) -> dict[str, Any]:
    """Return what a memory says and what hides it, without what reading changes."""
    body: dict[str, Any] = tenant.admin.get(f"memories/{memory_id}").json()
    return {k: v for k, v in body.items() if not k.endswith("_count") and k != "last_recalled_at"}


@dataclass(frozen=True)
class Operation:
    """Something that would change a memory or bypass what its writer decided."""

    name: str
    do: Callable[[Caller, str], Answer]


def _split(caller: Caller, memory_id: str) -> Answer:
    history = caller.get(f"memories/{memory_id}/history").json()["results"]
    merged = next(e["data"]["merged"] for e in history if e["type"] == "memory.merged")
    return caller.post(f"memories/{memory_id}/split", {"observation_id": merged})


OPERATIONS = [
    Operation("supersede", lambda c, m: commit(c, OTHER, supersedes=m)),
    Operation("relay", lambda c, m: commit(c, OTHER, supersedes=m, provenance="user_stated")),
    Operation("backdate", lambda c, m: commit(c, OTHER, supersedes=m, observed_at=LONG_AGO)),
    Operation("again", lambda c, m: commit(c, "Budgets are hard.", supersedes=m, derived_from=[m])),
    Operation("revise", lambda c, m: c.patch(f"memories/{m}", {"content": OTHER})),
    Operation("unpin", lambda c, m: c.patch(f"memories/{m}", {"pinned": False})),
    Operation("pin", lambda c, m: c.patch(f"memories/{m}", {"pinned": True})),
    Operation("lead", lambda c, m: c.patch(f"memories/{m}", {"kind": "constraint"})),
    Operation("doubt", lambda c, m: c.patch(f"memories/{m}", {"confidence": 0.0})),
    Operation("expire", lambda c, m: c.patch(f"memories/{m}", {"ttl_seconds": 1})),
    Operation("tag", lambda c, m: c.patch(f"memories/{m}", {"metadata": {"by": "agent"}})),
    Operation("forget", lambda c, m: c.post("memories/forget", {"ids": [m], "confirm": True})),
    Operation(
        "forget by query",
        lambda c, m: c.post(
            "memories/forget", {"query": BUDGET, "min_relevance": 0.9, "confirm": True}
        ),
    ),
    Operation("split", _split),
]  # fmt: skip
# Whose word the memory is: what made it a person's.
WRITERS = ["reviewer", "admin", "verdict"]


def persons_memory(tenant: Tenant, writer: str) -> str:
    """Return a memory that a reviewer's or admin's key wrote, or kept in a verdict; merged into."""
    if writer == "verdict":
        ids = [stored(tenant.agent, BUDGET), stored(tenant.agent, "The budget is 700 euros.")]
        card = tenant.agent.post("conflicts", {"memory_ids": ids}).json()
        body = {"verdict": "keep", "keep": [ids[0]]}
        assert tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body).status_code == 200
        memory_id = ids[0]
    else:
        memory_id = stored(tenant.caller(writer), BUDGET)
    again = commit(tenant.reviewer, "The budget is 5,000 euros.")
    assert again.json()["outcome"] in {"merged", "duplicate"}
    return memory_id


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(("relay", "may_pin"), FLAGS)
def test_no_agent_changes_what_a_person_wrote_or_decided(
    tenant: Tenant, writer: str, relay: bool, may_pin: bool
) -> None:
    memory_id = persons_memory(tenant, writer)
    agent = issue_agent(tenant.workspace, may_relay=relay, may_pin=may_pin)
    before = shown(tenant, memory_id)
    for operation in OPERATIONS:
        answer = operation.do(agent, memory_id)
        assert answer.status_code in {202, 403}, (operation.name, answer.json())
        if answer.status_code == 202:
            assert answer.json()["status"] == "pending", operation.name
            review = tenant.reviewer.get(f"reviews/{answer.json()['review']}").json()
            assert (review["status"], review["memory"]["id"]) == ("pending", memory_id)
        assert shown(tenant, memory_id) == before, operation.name


@pytest.mark.parametrize(("relay", "may_pin"), FLAGS)
def test_a_reviewers_key_needs_nobody(tenant: Tenant, relay: bool, may_pin: bool) -> None:
    memory_id = persons_memory(tenant, "admin")
    change = {"pinned": may_pin, "tags": ["relayed"] if relay else []}
    assert tenant.reviewer.patch(f"memories/{memory_id}", change).status_code == 200
    answer = commit(tenant.reviewer, OTHER, supersedes=memory_id, provenance="user_stated")
    assert answer.status_code == 201


CLAIMS: dict[str, dict[str, Any]] = {
    "stated": {"provenance": "user_stated"},
    "summary": {"provenance": "episode_summary"},
    "pin": {"pinned": True},
    "constraint": {"kind": "constraint"},
    "both": {"provenance": "user_stated", "kind": "constraint"},
    "derived": {"provenance": "assistant_derived"},
}


def allows(claim: str, ceiling: str, relay: bool, may_pin: bool) -> bool:
    """Say again, in other words, what a key may claim."""
    order = ["assistant_derived", "episode_summary", "user_stated"]
    fields = CLAIMS[claim]
    said = fields.get("provenance", "assistant_derived")
    is_believed = order.index(said) <= order.index(ceiling) or (relay and said == "user_stated")
    leads = "pinned" in fields or fields.get("kind") == "constraint"
    return is_believed and (may_pin or not leads)


@pytest.mark.parametrize("ceiling", ["assistant_derived", "episode_summary", "user_stated"])
@pytest.mark.parametrize(("relay", "may_pin"), FLAGS)
def test_what_goes_beyond_a_key_waits_and_is_done_as_asked(
    tenant: Tenant, ceiling: str, relay: bool, may_pin: bool
) -> None:
    agent = issue_agent(
        tenant.workspace, provenance_ceiling=ceiling, may_relay=relay, may_pin=may_pin
    )
    for number, (claim, fields) in enumerate(CLAIMS.items()):
        content = f"Room {number} of wing {'abcdefgh'[number]} faces the {claim} garden."
        asked = {"scope": claim, "tags": [claim], "session_key": "run-1", "agent": "penny"}
        answer = commit(agent, content, **fields, **asked)
        if allows(claim, ceiling, relay, may_pin):
            assert answer.status_code == 201, (claim, answer.json())
            made = answer.json()["memory"]
        else:
            assert answer.status_code == 202, (claim, answer.json())
            with in_workspace(tenant.workspace):
                assert not Memory.objects.filter(content=content).exists()
            review = tenant.reviewer.get(f"reviews/{answer.json()['review']}").json()
            assert (review["kind"], review["memory"]) == ("claim", None)
            assert review["asked_by"]["label"] == "plain"
            assert commit(agent, content, **fields, **asked).json() == answer.json()
            done = tenant.reviewer.post(f"reviews/{review['id']}/accept", {}).json()
            made = tenant.reader.get(f"memories/{done['result']}").json()
        assert {name: made[name] for name in fields} == fields
        assert (made["content"], made["scope"], made["tags"], made["session_key"]) == (
            content, claim, [claim], "run-1",
        )  # fmt: skip


def test_a_batch_writes_the_rest_and_keeps_claims_waiting(tenant: Tenant) -> None:
    agent = issue_agent(tenant.workspace)
    body = {"memories": [{"content": "Rita sings."}, {"content": "Rita rows.", "pinned": True}]}
    answer = agent.post("memories/batch", body)
    outcomes = [(row["outcome"], row["review"] is None) for row in answer.json()["results"]]
    assert (answer.status_code, outcomes) == (201, [("created", True), ("pending", False)])
    with in_workspace(tenant.workspace):
        assert [m.content for m in Memory.objects.all()] == ["Rita sings."]


def test_what_waits_is_read_by_who_asked_and_by_reviewers(tenant: Tenant) -> None:
    asking, other = (issue_agent(tenant.workspace, name) for name in ("asking", "other"))
    asked = commit(asking, "Send backups to Rita.", provenance="user_stated").json()["review"]
    readers = {asking: True, other: False, tenant.agent: False, tenant.reviewer: True}
    for caller, is_shown in readers.items():
        one, listed = caller.get(f"reviews/{asked}"), caller.get("reviews", {"status": "all"})
        assert one.status_code == (200 if is_shown else 404)
        assert [row["id"] for row in listed.json()["results"]] == [asked] * is_shown
        for answer in (one, listed):
            assert ("Rita" in answer.content.decode()) is is_shown
        in_inbox = "Rita" in caller.get("inbox").content.decode()
        assert in_inbox is (caller is tenant.reviewer)


def test_a_claim_that_also_replaces_is_one_review_that_names_both(tenant: Tenant) -> None:
    old = stored(tenant.reviewer, BUDGET)
    answer = commit(
        issue_agent(tenant.workspace), OTHER, supersedes=old, provenance="user_stated", pinned=True
    )
    review = tenant.reviewer.get(f"reviews/{answer.json()['review']}").json()
    assert (review["kind"], review["memory"]["id"]) == ("supersede", old)
    for part in ("may not claim", "may not pin", "A person wrote"):
        assert part in review["reason"]


def test_a_rejected_claim_leaves_nothing_and_can_be_taken_back(tenant: Tenant) -> None:
    answer = commit(issue_agent(tenant.workspace), BUDGET, provenance="user_stated").json()
    tenant.reviewer.post(f"reviews/{answer['review']}/reject", {})
    with in_workspace(tenant.workspace):
        assert not Memory.objects.exists()
        assert Review.objects.get().status == "rejected"


def test_an_agents_constraint_is_led_by_those_who_may_pin_only(tenant: Tenant) -> None:
    rule = stored(
        issue_agent(tenant.workspace, "host", may_pin=True), "Never deploy on Fridays.",
        kind="constraint",
    )  # fmt: skip
    before = shown(tenant, rule)
    plain, host = issue_agent(tenant.workspace), issue_agent(tenant.workspace, "h2", may_pin=True)
    finer = commit(plain, "Never deploy on Fridays after 14:00.")
    assert finer.json()["outcome"] in {"suggested", "created", "kept_apart"}
    for answer in (
        plain.patch(f"memories/{rule}", {"content": "Deploy on Fridays."}),
        plain.patch(f"memories/{rule}", {"kind": "semantic"}),
        plain.post("memories/forget", {"ids": [rule], "confirm": True}),
        commit(plain, "Deploy whenever you like.", supersedes=rule),
    ):
        assert answer.status_code == 202, answer.json()
    changing = {"disputed", "conflicts"}
    after = shown(tenant, rule)
    assert {k: v for k, v in after.items() if k not in changing} == {
        k: v for k, v in before.items() if k not in changing
    }
    assert host.patch(f"memories/{rule}", {"scope": "ops"}).status_code == 200


def test_a_relayed_word_replaces_and_forgets_what_a_user_said(tenant: Tenant) -> None:
    host = issue_agent(tenant.workspace, "host", may_relay=True)
    said = stored(host, BUDGET, provenance="user_stated")
    plain = issue_agent(tenant.workspace)
    assert commit(plain, OTHER, supersedes=said).status_code == 202
    assert plain.post("memories/forget", {"ids": [said], "confirm": True}).status_code == 202
    new = stored(host, OTHER, supersedes=said, provenance="user_stated")
    gone = host.post("memories/forget", {"ids": [new], "confirm": True})
    assert (gone.status_code, gone.json()["ids"]) == (200, [new])


def test_forgetting_asks_about_a_persons_memories_and_forgets_the_others(tenant: Tenant) -> None:
    agent = issue_agent(tenant.workspace)
    own, theirs = stored(agent, "Rita rows."), stored(tenant.reviewer, "The harbour has a crane.")
    asked = {"ids": [own, theirs]}
    would = agent.post("memories/forget", asked).json()
    assert ([m["id"] for m in would["would_forget"]], would["would_wait"]) == (
        [own, theirs],
        [theirs],
    )
    done = agent.post("memories/forget", asked | {"confirm": True})
    (waiting,) = done.json()["pending"]
    assert (done.status_code, done.json()["ids"], waiting["id"]) == (200, [own], theirs)
    again = agent.post("memories/forget", asked | {"confirm": True})
    assert (again.status_code, again.json()["review"]) == (202, waiting["review"])
    assert tenant.agent.get("memories", {"trust": "pending"}).json()["results"][0]["id"] == theirs

    accepted = tenant.reviewer.post(f"reviews/{waiting['review']}/accept", {})
    assert accepted.json()["status"] == "accepted"
    assert shown(tenant, theirs)["state"] == "forgotten"
    assert agent.post("memories/restore", {"ids": [theirs]}).status_code == 202  # a person agreed


def test_forgetting_asks_the_database_as_often_for_many_as_for_one(tenant: Tenant) -> None:
    agent = issue_agent(tenant.workspace)

    def count_queries(number: int) -> int:
        ids = [
            stored(tenant.reviewer, f"Hall {number}.{n} holds {n + 7} chairs.")
            for n in range(number)
        ]
        with CaptureQueriesContext(
            connection,
        ) as made:
            answer = agent.post("memories/forget", {"ids": ids, "confirm": True})
        assert len(answer.json()["pending"]) == number
        return len(made)

    count_queries(2)  # what a process asks once
    assert count_queries(1) == count_queries(6)


def test_a_pending_claim_lapses_when_its_statement_is_forgotten(tenant: Tenant) -> None:
    agent = issue_agent(tenant.workspace)
    known = stored(agent, "Rita sings in a choir.", scope="people")
    asked = commit(agent, "Rita sings in a choir.", scope="music", pinned=True).json()["review"]
    agent.post("memories/forget", {"ids": [known], "confirm": True})
    assert tenant.reviewer.get(f"reviews/{asked}").json()["status"] == "lapsed"
    again = commit(agent, "Rita sings in a choir.", scope="music", pinned=True)
    assert again.json()["outcome"] == "suppressed"


def test_a_key_writes_under_its_own_name(tenant: Tenant) -> None:
    bound = issue_agent(tenant.workspace, agent="penny")
    made = commit(bound, "Rita rows.").json()["memory"]
    assert made["agent"] == "penny"
    refused = commit(bound, "Rita sings.", agent="mallory")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "agent")
    body = {"memories": [{"content": "Rita sings."}, {"content": "Rita skis.", "agent": "mallory"}]}
    refused = bound.post("memories/batch", body)
    assert refused.json()["errors"][0]["field"] == "memories.1.agent"
    assert bound.post("sessions", {"session_key": "s", "agent": "mallory"}).status_code == 422
    bound.post("sessions", {"session_key": "s"})
    assert tenant.reader.get("sessions/s").json()["agent"] == "penny"


def test_a_claimed_name_brings_no_trust(tenant: Tenant) -> None:
    theirs = stored(issue_agent(tenant.workspace, agent="penny", may_relay=True), BUDGET,
                    provenance="user_stated")  # fmt: skip
    forger = issue_agent(tenant.workspace, "forger")
    assert commit(forger, OTHER, agent="penny", supersedes=theirs).status_code == 202


def test_a_signed_in_person_needs_no_flag(tenant: Tenant, member: Any) -> None:
    body = {"content": BUDGET, "provenance": "user_stated", "kind": "constraint", "pinned": True}
    answer = member("agent").post("/api/v1/memories", body, content_type="application/json")
    assert (answer.status_code, answer.json()["memory"]["provenance"]) == (201, "user_stated")


def test_splitting_brings_back_no_claim_that_the_key_may_not_make(tenant: Tenant) -> None:
    first = stored(tenant.agent, "The deploy runs on Thursday.")
    loud = commit(tenant.agent, "The deploy runs on Thursday at 14:00 UTC.", pinned=True)
    assert (loud.json()["outcome"], loud.json()["memory"]["id"]) == ("merged", first)
    plain = issue_agent(tenant.workspace)
    assert _split(plain, first).status_code == 403
    assert _split(tenant.agent, first).status_code == 200


def test_claims_of_another_workspace_do_not_exist(tenant: Tenant, neighbour: Tenant) -> None:
    asked = commit(issue_agent(neighbour.workspace), BUDGET, pinned=True).json()["review"]
    assert tenant.reviewer.get(f"reviews/{asked}").status_code == 404
    assert tenant.reviewer.post(f"reviews/{asked}/accept", {}).status_code == 404
    assert tenant.reviewer.get("reviews").json()["results"] == []


def test_two_same_claims_at_once_are_one_review(transactional_db: None) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    tenant = build_tenant("busy")
    agent, barrier = issue_agent(tenant.workspace), Barrier(3)

    def claim(_: int) -> str:
        barrier.wait()
        try:
            review: str = commit(agent, BUDGET, pinned=True).json()["review"]
            return review
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(claim, range(3)))) == 1


def test_so_many_requests_of_a_key_wait_at_a_time(tenant: Tenant) -> None:
    tenant.workspace.settings = {"pending_reviews_per_key": 3}
    tenant.workspace.save()
    agent = issue_agent(tenant.workspace)
    known = stored(tenant.reviewer, BUDGET)
    asked = [commit(agent, f"Rita owns {n + 2} boats.", pinned=True) for n in range(2)]
    asked.append(commit(agent, OTHER, supersedes=known))
    assert {answer.status_code for answer in asked} == {202}
    batch = {"memories": [{"content": "Rita sings."}, {"content": "Rita rows.", "pinned": True}]}
    for refused in (
        commit(agent, "Rita skis.", pinned=True),
        commit(agent, "The budget is 8 euros.", supersedes=known),
        agent.patch(f"memories/{known}", {"content": OTHER}),
        agent.post("memories/batch", batch),
    ):
        body = refused.json()
        assert (refused.status_code, body["type"].split("/")[-1]) == (
            409,
            "too-many-pending-reviews",
        )
        assert "people must decide" in body["detail"]
    with in_workspace(tenant.workspace):
        assert Review.objects.count() == 3
        assert not Memory.objects.filter(content="Rita sings.").exists()
    # The same again is the same review; forgetting, other keys and what needs nobody go on.
    assert commit(agent, "Rita owns 2 boats.", pinned=True).json() == asked[0].json()
    assert agent.post("memories/forget", {"ids": [known], "confirm": True}).status_code == 202
    assert commit(issue_agent(tenant.workspace, "b"), "Rita skis.", pinned=True).status_code == 202
    assert commit(agent, "Rita dives.").status_code == 201
    tenant.reviewer.post(f"reviews/{asked[0].json()['review']}/reject", {})
    assert commit(agent, "Rita skis.", pinned=True).status_code == 202


@pytest.mark.parametrize(
    ("known", "ceiling"),
    [
        ({"provenance": "user_stated"}, "assistant_derived"),
        ({"provenance": "user_stated"}, "episode_summary"),
        ({"provenance": "user_stated", "pinned": True, "kind": "constraint"}, "assistant_derived"),
    ],
)
def test_repeating_what_is_trusted_already_asks_nobody(
    tenant: Tenant, known: dict[str, Any], ceiling: str
) -> None:
    memory_id = stored(tenant.reviewer, BUDGET, **known)
    before = shown(tenant, memory_id)
    answer = commit(issue_agent(tenant.workspace, provenance_ceiling=ceiling), BUDGET, **known)
    assert (answer.status_code, answer.json()["outcome"]) == (200, "duplicate")
    changing = {"observations", "updated_at"}
    after = shown(tenant, memory_id)
    assert {k: v for k, v in after.items() if k not in changing} == {
        k: v for k, v in before.items() if k not in changing
    }
    with in_workspace(tenant.workspace):
        observation = Memory.objects.get().observations.first()
        assert observation is not None
        assert (observation.outcome, observation.provenance) == ("duplicate", ceiling)
        assert not observation.fields["pinned"]
        assert not Review.objects.exists()


def test_repeating_a_memory_as_more_than_it_is_still_asks(tenant: Tenant) -> None:
    stored(tenant.agent, BUDGET, provenance="assistant_derived")
    plain = issue_agent(tenant.workspace)
    for fields in ({"provenance": "user_stated"}, {"pinned": True}, {"kind": "constraint"}):
        assert commit(plain, BUDGET, **fields).status_code == 202
