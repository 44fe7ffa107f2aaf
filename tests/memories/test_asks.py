"""Unanswered asks: fetched by the key that was asked, answered once, expired, never repeated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Conflict
from engram.kernel.tenancy import in_workspace
from memories.models import Ask, Memory
from memories.services.asks.record import AskedPair, record_asks
from memories.services.commit import nearby
from tests.conftest import Caller, Tenant, issue_agent
from tests.memories.test_nearby import JANUARY, NEW, OLD

CHAIRS = ("the platform guild", "the design council", "Oskar")


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def be_asked(tenant: Tenant, caller: Caller | None = None) -> tuple[str, str]:
    """Commit a pair that is asked about; return the new memory and the old one."""
    old = commit(tenant.agent, OLD, agent="forge", observed_at=JANUARY)
    new = commit(caller or tenant.agent, NEW)
    assert [near["id"] for near in new["nearby"]] == [old["memory"]["id"]]
    return new["memory"]["id"], old["memory"]["id"]


def asks(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    answer = caller.get("memories/asks", query)
    assert answer.status_code == 200, answer.json()
    rows: list[dict[str, Any]] = answer.json()["results"]
    return rows


def relate(caller: Caller, memory: str, other: str, relation: str = "different") -> int:
    body = {"other": other, "relation": relation}
    return int(caller.post(f"memories/{memory}/relations", body).status_code)


def test_an_unanswered_ask_can_be_fetched_with_both_memories_and_the_reason(
    tenant: Tenant,
) -> None:
    new, old = be_asked(tenant)
    [ask] = asks(tenant.agent)
    assert (ask["memory"]["id"], ask["other"]["id"]) == (new, old)
    assert (ask["memory"]["content"], ask["other"]["content"]) == (NEW, OLD)
    assert (ask["other"]["agent"], ask["other"]["observed_at"]) == ("forge", JANUARY)
    assert "“Halden”" in ask["why"]
    assert ask["expires_at"] > ask["created_at"]


def test_asks_belong_to_the_key_that_was_asked(tenant: Tenant, neighbour: Tenant) -> None:
    be_asked(tenant, issue_agent(tenant.workspace))
    be_asked(neighbour, neighbour.admin)
    for caller in (tenant.agent, tenant.reviewer, tenant.admin, neighbour.agent):
        assert asks(caller) == []
    assert len(asks(neighbour.admin)) == 1


def test_an_answer_closes_the_ask_whoever_gives_it_and_whichever_way_round(tenant: Tenant) -> None:
    new, old = be_asked(tenant)
    assert relate(tenant.agent, new, new) == 422
    assert len(asks(tenant.agent)) == 1
    assert relate(issue_agent(tenant.workspace), old, new) == 201
    assert asks(tenant.agent) == []


def test_a_report_closes_the_ask(tenant: Tenant) -> None:
    new, old = be_asked(tenant)
    reported = issue_agent(tenant.workspace).post("conflicts", {"memory_ids": [new, old]})
    assert reported.status_code == 201
    assert asks(tenant.agent) == []


def open_card(tenant: Tenant, *ids: str) -> str:
    """Open a card as a person does: it is no answer to the ask."""
    answer = tenant.reviewer.post("conflicts", {"memory_ids": list(ids)})
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["id"])


def decide(tenant: Tenant, card: str) -> None:
    answer = tenant.reviewer.post(
        f"conflicts/{card}/resolve", {"verdict": "both_valid", "version": 1}
    )
    assert answer.status_code == 200, answer.json()


def test_a_pair_is_not_listed_while_a_card_asks_people_about_it(tenant: Tenant) -> None:
    new, old = be_asked(tenant)
    third = commit(tenant.agent, OLD.replace("platform", "payments"), scope="shop")["memory"]["id"]
    listed = {frozenset((ask["memory"]["id"], ask["other"]["id"])) for ask in asks(tenant.agent)}
    assert frozenset((new, old)) in listed
    assert len(listed) > 1
    open_card(tenant, new, old)
    left = {frozenset((ask["memory"]["id"], ask["other"]["id"])) for ask in asks(tenant.agent)}
    assert left == listed - {frozenset((new, old))}
    assert all(third in pair for pair in left)


def test_a_pair_that_people_decided_is_not_listed(tenant: Tenant) -> None:
    new, old = be_asked(tenant)
    decide(tenant, open_card(tenant, new, old))
    assert asks(tenant.agent) == []


def test_a_pair_whose_card_was_closed_without_a_verdict_is_listed(tenant: Tenant) -> None:
    new, old = be_asked(tenant)
    card = open_card(tenant, new, old)
    with in_workspace(tenant.workspace):
        Conflict.objects.filter(pk=card).update(status="resolved", is_lapsed=True)
    assert len(asks(tenant.agent)) == 1


def test_what_got_a_card_since_its_commit_is_not_asked(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The detective may be quicker than the comparing that follows a commit."""
    old = commit(tenant.agent, OLD, observed_at=JANUARY)["memory"]["id"]

    def record_late(pairs: Sequence[AskedPair], **rest: Any) -> Any:
        open_card(tenant, str(pairs[0].memory.id), old)
        return record_asks(pairs, **rest)

    monkeypatch.setattr(nearby, "record_asks", record_late)
    assert commit(tenant.agent, NEW)["nearby"] == []
    assert asks(tenant.agent) == []


def test_an_ask_expires(tenant: Tenant) -> None:
    be_asked(tenant)
    tenant.workspace.settings = {"ask_days": 3}
    tenant.workspace.save()
    assert len(asks(tenant.agent)) == 1
    with in_workspace(tenant.workspace):
        Ask.objects.update(created_at=timezone.now() - timedelta(days=3))
    assert asks(tenant.agent) == []


def test_a_pair_is_never_asked_about_twice(tenant: Tenant) -> None:
    """A statement that expired may be committed again: as another memory of the same pair."""
    new, old = be_asked(tenant)
    gone = timezone.now() - timedelta(hours=1)
    for text in (NEW, OLD, OLD):
        with in_workspace(tenant.workspace):
            Memory.objects.filter(content=text).update(expires_at=gone)
            Ask.objects.update(created_at=timezone.now() - timedelta(days=99), answered_at=None)
        again = commit(tenant.agent, text)
        assert again["memory"]["id"] not in {new, old}
        assert again["nearby"] == []
    with in_workspace(tenant.workspace):
        assert Ask.objects.count() == 1


def test_an_ask_is_hidden_while_one_of_the_two_is(tenant: Tenant) -> None:
    for hidden in be_asked(tenant):
        tenant.agent.post("memories/forget", {"ids": [hidden], "confirm": True})
        assert asks(tenant.agent) == []
        tenant.agent.post("memories/restore", {"ids": [hidden]})
        assert len(asks(tenant.agent)) == 1


def test_an_ask_shows_the_present_words(tenant: Tenant) -> None:
    new, _ = be_asked(tenant)
    words = "Reviews of the Oslo checkout are chaired by Ingrid."
    tenant.agent.patch(f"memories/{new}", {"content": words})
    [ask] = asks(tenant.agent)
    assert ask["memory"]["content"] == words
    assert "Halden" not in ask["why"]
    assert "“checkout”" in ask["why"]


def test_an_erased_memory_leaves_no_ask(tenant: Tenant) -> None:
    _, old = be_asked(tenant)
    assert tenant.admin.delete(f"memories/{old}").status_code == 204
    with in_workspace(tenant.workspace):
        assert Ask.objects.count() == 0


def test_under_a_key_of_idempotency_it_is_asked_once(tenant: Tenant) -> None:
    commit(tenant.agent, OLD, observed_at=JANUARY)
    headers = {"Idempotency-Key": "once"}
    sent = [tenant.agent.post("memories", {"content": NEW}, **headers).json() for _ in range(2)]
    assert sent[0] == sent[1]
    assert len(sent[0]["nearby"]) == len(asks(tenant.agent)) == 1


def test_what_a_batch_asks_is_listed_newest_first_in_pages(tenant: Tenant) -> None:
    for who in CHAIRS:
        text = f"Design reviews for the Halden checkout redesign are chaired by {who}."
        commit(tenant.agent, text, scope=who, observed_at=JANUARY)
    agent = issue_agent(tenant.workspace)
    answer = agent.post("memories/batch", {"memories": [{"content": NEW}]})
    [result] = answer.json()["results"]
    assert len(result["nearby"]) == 3
    page = agent.get("memories/asks", {"limit": 2}).json()
    rest = agent.get(page["next"]).json()
    listed = [ask["other"]["id"] for ask in [*page["results"], *rest["results"]]]
    assert (len(page["results"]), rest["next"]) == (2, None)
    assert sorted(listed) == sorted(near["id"] for near in result["nearby"])
    assert agent.get("memories/asks", {"limit": 0}).status_code == 422
    assert agent.get("memories/asks", {"cursor": "x"}).status_code == 422
    assert agent.get("memories/asks", {"agent": "me"}).status_code == 422


def test_the_list_asks_as_often_for_many_as_for_one(tenant: Tenant) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as seen:
            asks(tenant.agent)
        return len(seen)

    be_asked(tenant)
    one = count()
    for who in CHAIRS:
        text = f"Design reviews for the Halden checkout redesign are chaired by {who}."
        commit(tenant.agent, text, scope=who)
    assert len(asks(tenant.agent)) > 3
    assert count() == one
