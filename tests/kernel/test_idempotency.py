"""A write that is sent twice under one Idempotency-Key is done once and answered alike."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connections, transaction
from django.test import Client
from django.utils import timezone

from engram.kernel import tasks
from engram.kernel.idempotency import (
    KEPT_FOR,
    IdempotentWrite,
    StoredAnswer,
    drop_old_answers,
    forget_answers,
    once,
)
from engram.kernel.models import AnsweredThing, ApiKey, Event, IdempotentAnswer, Workspace
from engram.kernel.tenancy import in_one_transaction, in_workspace
from memories.models import Memory, Observation
from tests.conftest import Caller, Tenant, build_tenant

BODY = {"content": "The ferry to Skye leaves at nine.", "scope": "travel"}
TWINS = 5


def send(caller: Caller, key: str, body: Any = None, path: str = "memories") -> Any:
    return caller.post(path, BODY if body is None else body, **{"Idempotency-Key": key})


def sent_counts(tenant: Tenant) -> tuple[int, int, int]:
    """Return how many memories, observations and kept answers there are."""
    with in_workspace(tenant.workspace):
        return (
            Memory.objects.count(),
            Observation.objects.count(),
            IdempotentAnswer.objects.count(),
        )


def grow_old(tenant: Tenant, age: timedelta) -> None:
    with in_workspace(tenant.workspace):
        IdempotentAnswer.objects.update(created_at=timezone.now() - age)


def test_the_same_write_again_returns_the_first_answer(tenant: Tenant) -> None:
    first = send(tenant.agent, "run-1")
    again = send(tenant.agent, "run-1")
    assert first.status_code == 201
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again["Content-Type"] == first["Content-Type"]
    assert ("Idempotency-Replayed" in first, again["Idempotency-Replayed"]) == (False, "true")
    assert sent_counts(tenant) == (1, 1, 1)


def test_without_the_header_nothing_is_kept(tenant: Tenant) -> None:
    tenant.agent.post("memories", BODY)
    assert tenant.agent.post("memories", BODY).json()["outcome"] == "duplicate"
    assert sent_counts(tenant) == (1, 2, 0)


def test_white_space_and_the_order_of_names_make_no_other_body(tenant: Tenant) -> None:
    def raw(body: bytes) -> Any:
        return tenant.agent.client.post(
            "/api/v1/memories",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {tenant.agent.token}", "Idempotency-Key": "k"},
        )

    first = raw(b'{"content": "Tides turn.", "scope": "sea"}')
    again = raw(b'{\n "scope":"sea","content":"Tides\\u0020turn."}')
    assert again.content == first.content
    assert sent_counts(tenant) == (1, 1, 1)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("memories", {**BODY, "scope": "ferries"}),
        ("memories", {**BODY, "importance": 0.6}),
        ("memories/batch", {"memories": [BODY]}),
        ("memories/forget", {"query": "ferry", "confirm": True}),
    ],
)
def test_the_same_key_for_another_write_is_409(
    tenant: Tenant, path: str, body: dict[str, Any]
) -> None:
    send(tenant.agent, "run-1")
    refused = send(tenant.agent, "run-1", body, path)
    assert refused.status_code == 409
    assert refused["Content-Type"] == "application/problem+json"
    assert sent_counts(tenant) == (1, 1, 1)


def test_a_key_serves_its_caller_and_workspace_only(tenant: Tenant, neighbour: Tenant) -> None:
    ours = send(tenant.agent, "shared").json()
    theirs = send(neighbour.agent, "shared", {"content": "Zenith's ferry leaves at ten."}).json()
    colleague = send(tenant.reviewer, "shared").json()
    assert theirs["memory"]["content"] == "Zenith's ferry leaves at ten."
    assert colleague["outcome"] == "duplicate"
    assert colleague["memory"]["id"] == ours["memory"]["id"]
    assert sent_counts(neighbour) == (1, 1, 1)


def test_signed_in_people_have_keys_of_their_own(tenant: Tenant, member: Any) -> None:
    first = send(tenant.reviewer, "k")
    person: Client = member("reviewer")
    headers = {"Idempotency-Key": "k"}
    kind = "application/json"
    own = person.post("/api/v1/memories", BODY, content_type=kind, headers=headers)
    again = person.post("/api/v1/memories", BODY, content_type=kind, headers=headers)
    assert (first.json()["outcome"], own.json()["outcome"]) == ("created", "duplicate")
    assert again.content == own.content


def test_after_24_hours_a_key_is_free_again(tenant: Tenant) -> None:
    send(tenant.agent, "run-1")
    grow_old(tenant, KEPT_FOR - timedelta(minutes=1))
    assert send(tenant.agent, "run-1").json()["outcome"] == "created"
    grow_old(tenant, KEPT_FOR + timedelta(minutes=1))
    assert send(tenant.agent, "run-1").json()["outcome"] == "duplicate"
    assert sent_counts(tenant) == (1, 2, 1)


def test_old_answers_are_swept_and_young_ones_kept(tenant: Tenant, neighbour: Tenant) -> None:
    send(tenant.agent, "old")
    send(neighbour.agent, "old")
    grow_old(tenant, KEPT_FOR + timedelta(minutes=1))
    send(tenant.agent, "young")
    tasks.drop_old_answers()
    assert sent_counts(tenant)[2] == 1
    assert sent_counts(neighbour)[2] == 1
    assert drop_old_answers(tenant.workspace, now=timezone.now() + 2 * KEPT_FOR) == 1
    with in_workspace(tenant.workspace):
        assert AnsweredThing.objects.count() == 0


def test_a_refused_write_is_not_kept_and_may_be_mended(tenant: Tenant) -> None:
    refused = send(tenant.agent, "run-1", {"content": "My key is AKIAIOSFODNN7EXAMPLE."})
    assert refused.status_code == 422
    assert send(tenant.agent, "run-1", {"content": ""}).status_code == 422
    assert send(tenant.agent, "run-1").status_code == 201
    assert sent_counts(tenant) == (1, 1, 1)


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "naïve", "tab\tbed"])
def test_keys_that_are_none_are_422(tenant: Tenant, key: str) -> None:
    refused = send(tenant.agent, key)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "Idempotency-Key"
    assert sent_counts(tenant) == (0, 0, 0)


def test_the_longest_key_is_taken(tenant: Tenant) -> None:
    assert send(tenant.agent, "~" * 255).status_code == 201
    assert send(tenant.agent, "~" * 255).json()["outcome"] == "created"


def test_queries_take_no_notice_of_the_header(tenant: Tenant) -> None:
    send(tenant.agent, "run-1")
    body = {"query": "ferry"}
    found = send(tenant.reader, "run-1", body, "memories/recall").json()["results"]
    assert [r["memory"]["content"] for r in found] == [BODY["content"]]
    tenant.agent.post("memories", {"content": "The ferry carries eighty cars."})
    assert len(send(tenant.reader, "run-1", body, "memories/recall").json()["results"]) == 2


def test_batches_reports_and_verdicts_are_done_once(tenant: Tenant) -> None:
    batch = {"memories": [{"content": "Ann feeds the cat."}, {"content": "Bo feeds the cat."}]}
    first = send(tenant.agent, "batch", batch, "memories/batch")
    assert send(tenant.agent, "batch", batch, "memories/batch").content == first.content
    ids = [result["memory"]["id"] for result in first.json()["results"]]
    report = send(tenant.agent, "card", {"memory_ids": ids}, "conflicts")
    assert send(tenant.agent, "card", {"memory_ids": ids}, "conflicts").content == report.content
    path = f"conflicts/{report.json()['id']}/resolve"
    verdict = send(tenant.reviewer, "verdict", {"verdict": "both_valid"}, path)
    again = send(tenant.reviewer, "verdict", {"verdict": "both_valid"}, path)
    assert (verdict.status_code, again.status_code) == (200, 200)
    assert again.content == verdict.content
    assert tenant.reviewer.post(path, {"verdict": "both_valid"}).status_code == 409


def test_a_new_key_is_made_once_and_its_secret_never_kept(tenant: Tenant) -> None:
    body = {"name": "robot", "role": "agent"}
    made = send(tenant.admin, "new", body, "keys")
    again = send(tenant.admin, "new", body, "keys")
    assert (made.status_code, again.status_code) == (201, 409)
    with in_workspace(tenant.workspace):
        assert ApiKey.objects.filter(name="robot").count() == 1
        assert IdempotentAnswer.objects.get().body is None


def test_what_was_forgotten_does_not_come_back_through_a_kept_answer(tenant: Tenant) -> None:
    first = send(tenant.agent, "run-1").json()
    other = send(tenant.agent, "run-2", {"content": "Kettles boil."})
    with in_workspace(tenant.workspace):
        assert forget_answers([UUID(first["memory"]["id"])]) == 1
        kept = IdempotentAnswer.objects.exclude(body=None)
        assert [answer.key for answer in kept] == ["run-2"]
    again = send(tenant.agent, "run-1")
    assert again.status_code == 409
    assert "Skye" not in again.content.decode()
    assert send(tenant.agent, "run-2", {"content": "Kettles boil."}).content == other.content
    assert sent_counts(tenant) == (2, 2, 2)


def test_forgetting_in_one_workspace_leaves_the_answers_of_another(
    tenant: Tenant, neighbour: Tenant
) -> None:
    theirs = send(neighbour.agent, "run-1").json()
    with in_workspace(tenant.workspace):
        assert forget_answers([UUID(theirs["memory"]["id"])]) == 0
    assert send(neighbour.agent, "run-1").json() == theirs


def test_blocks_of_one_transaction_last_together_or_not_at_all(db: None) -> None:
    workspace = Workspace.objects.create(slug="joint", name="Joint")
    opened: list[str] = []

    def work(*, is_bad: bool) -> None:
        with in_one_transaction(lambda: opened.append("open")):
            assert opened == []
            with in_workspace(workspace):
                ApiKey.objects.create(name="first", digest="1", prefix="egr_")
            with pytest.raises(IntegrityError), in_workspace(workspace):
                ApiKey.objects.create(name="twin", digest="1", prefix="egr_")
            with in_workspace(workspace):
                ApiKey.objects.create(name="second", digest="2", prefix="egr_")
            if is_bad:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work(is_bad=True)
    assert opened == ["open"]
    with in_workspace(workspace):
        assert ApiKey.objects.count() == 0
    opened.clear()
    work(is_bad=False)
    with in_workspace(workspace):
        assert sorted(ApiKey.objects.values_list("name", flat=True)) == ["first", "second"]


def test_a_transaction_within_another_belongs_to_the_outer_one(db: None) -> None:
    workspace = Workspace.objects.create(slug="joint", name="Joint")
    opened: list[str] = []

    def work() -> None:
        with in_one_transaction(lambda: opened.append("outer")):
            with in_one_transaction(), in_workspace(workspace):
                assert opened == ["outer"]
                ApiKey.objects.create(name="first", digest="1", prefix="egr_")
            with in_workspace(workspace):
                assert ApiKey.objects.count() == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert opened == ["outer"]
    with in_workspace(workspace):
        assert ApiKey.objects.count() == 0


def test_work_that_is_not_joint_keeps_its_own_transactions_and_the_first_answer(
    tenant: Tenant,
) -> None:
    ask = IdempotentWrite(
        tenant.workspace, "key:1", "long", "/api/v1/janitor/runs", "d", timezone.now()
    )

    def write(name: str) -> None:
        with in_workspace(tenant.workspace):
            ApiKey.objects.create(name=name, digest=name, prefix="egr_")

    def half() -> StoredAnswer:
        write("first")
        raise ZeroDivisionError

    def slower() -> StoredAnswer:
        write("second")
        assert once(ask, lambda: StoredAnswer(201, "faster"), is_joint=False) is None
        return StoredAnswer(201, "slower")

    with pytest.raises(ZeroDivisionError):
        once(ask, half, is_joint=False)
    assert once(ask, slower, is_joint=False) == StoredAnswer(201, "faster")
    assert once(ask, half, is_joint=False) == StoredAnswer(201, "faster")
    with in_workspace(tenant.workspace):
        named = ApiKey.objects.filter(name__in=["first", "second"])
        assert sorted(named.values_list("name", flat=True)) == ["first", "second"]


def test_a_janitor_run_under_a_key_is_answered_once(tenant: Tenant) -> None:
    first = send(tenant.admin, "weekly", {}, "janitor/runs")
    again = send(tenant.admin, "weekly", {}, "janitor/runs")
    assert (first.status_code, again.content) == (201, first.content)
    assert again["Idempotency-Replayed"] == "true"
    assert len(tenant.reader.get("janitor/runs").json()["results"]) == 1


def at_once(call: Callable[[int], Any]) -> list[Any]:
    """Call from several threads, each with a connection of its own, starting together."""
    barrier = Barrier(TWINS)

    def run(number: int) -> Any:
        barrier.wait()
        try:
            return call(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(TWINS) as pool:
        return list(pool.map(run, range(TWINS)))


def test_twins_at_once_are_one_write_and_one_answer(transactional_db: None) -> None:
    tenant = build_tenant("busy")
    answers = at_once(lambda n: send(tenant.agent, "twin"))
    assert {(answer.status_code, answer.content) for answer in answers} == {
        (201, answers[0].content)
    }
    assert sent_counts(tenant) == (1, 1, 1)
    with in_workspace(tenant.workspace):
        assert Event.objects.filter(type="memory.committed").count() == 1


def test_different_writes_at_once_under_one_key_have_one_winner(transactional_db: None) -> None:
    tenant = build_tenant("busy")
    answers = at_once(lambda n: send(tenant.agent, "k", {"content": f"Gate {n} is shut."}))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * (TWINS - 1)
    assert sent_counts(tenant) == (1, 1, 1)


def test_an_answer_is_not_kept_when_the_work_does_not_last(transactional_db: None) -> None:
    tenant = build_tenant("busy")
    with transaction.atomic():
        assert send(tenant.agent, "lost").status_code == 201
        transaction.set_rollback(True)  # the process dies before the commit
    assert sent_counts(tenant) == (0, 0, 0)
    assert send(tenant.agent, "lost").json()["outcome"] == "created"
