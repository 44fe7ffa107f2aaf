"""A model that judges in two orders: the mean, what it is unsure of, and when there is only one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from engram.kernel import spend
from engram.kernel.actors import SYSTEM
from engram.kernel.llm import Usage
from engram.kernel.services import change_settings
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session
from memories.services.lifecycle.forget import forget, restore
from predictor.core.labels import UNSURE
from predictor.models import Comparison, Judgement, Label
from predictor.services.judging import ask_judge
from tests.conftest import NOW, Tenant
from tests.homes import PATIENCE_SECONDS
from tests.model_server import Answer, ModelServer, Request, completion
from tests.predictor.judged_sessions import (
    PERSON,
    STORY,
    begin,
    commit,
    commit_story,
    contents,
    end,
    judge_all,
    judgement_of,
)
from tests.predictor.test_judge import LATER, notes_of, verdict

Bias = Callable[[int, str, int], float]
TRUE = dict(STORY.memories)
COST = (100 * 0.15 + 20 * 0.6) / 1e6  # of one answer of the stand-in


def judge_with(bias: Bias, **more: Any) -> Callable[[Request], Answer]:
    """Answer with true / 2 + .25, and what `bias` adds by a note's number, text and list length."""

    def respond(request: Request) -> Answer:
        notes = notes_of(request)
        told = [
            {"note": n, "relevance": TRUE.get(says, 0.0) / 2 + 0.25 + bias(n, says, len(notes))}
            for n, says in notes.items()
        ]
        return completion(json.dumps(verdict(request, relevance=told) | more))

    return respond


def at_first_places(number: int, _: str, size: int) -> float:
    return 0.1 if number <= size // 4 else 0.0


def evenly(number: int, _: str, size: int) -> float:
    return 0.2 * (size - number) / max(1, size - 1)


@pytest.fixture
def model(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr("engram.kernel.llm.FIRST_PAUSE_SECONDS", 0.01)
    with ModelServer() as server:
        settings.ENGRAM_LLM = settings.ENGRAM_LLM | {
            "base_url": server.base_url,
            "timeout_seconds": PATIENCE_SECONDS,
            "total_seconds": PATIENCE_SECONDS,
        }
        server.answer_chat(judge_with(evenly))
        yield server


@pytest.fixture
def ended(tenant: Tenant) -> Session:
    commit_story(tenant)
    begin(tenant)
    return end(tenant)


def relevance(tenant: Tenant) -> dict[str, float | None]:
    with in_workspace(tenant.workspace):
        rows = Label.objects.select_related("memory")
        return {row.memory.content: row.relevance for row in rows}


def page_of(member: Callable[[str], Client], judgement: Judgement) -> str:
    answer = member("reader").get(f"/admin/predictor/judgement/{judgement.pk}/change/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_what_a_place_adds_cancels_out(tenant: Tenant, ended: Session, model: ModelServer) -> None:
    assert judge_all(tenant) == [ended.id]
    first, second = (list(notes_of(request).values()) for request in model.requests)
    judgement = judgement_of(tenant)
    assert first == second[::-1] == contents(tenant, judgement.memory_ids)
    found = relevance(tenant)
    assert found == {says: pytest.approx(true / 2 + 0.35) for says, true in TRUE.items()}


def test_the_model_that_the_workspace_chose_is_asked_and_priced(
    tenant: Tenant, ended: Session, model: ModelServer, settings: Any
) -> None:
    prices = settings.ENGRAM_LLM["prices"] | {"large": (3.0, 3.0)}
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"models": ("large",), "prices": prices}
    change_settings(tenant.workspace, {"language_model": "large"}, actor=SYSTEM, now=NOW)
    judge_all(tenant)
    judgement = judgement_of(tenant)
    assert {request.body["model"] for request in model.requests} == {"large"}
    assert judgement.model == "large"
    assert judgement.cost_usd == pytest.approx((200 + 40) * 3 / 1e6)


def test_what_the_first_places_add_is_halved(
    tenant: Tenant, ended: Session, model: ModelServer
) -> None:
    model.answer_chat(judge_with(at_first_places))
    judge_all(tenant)
    added = {
        says: (value or 0) - TRUE[says] / 2 - 0.25 for says, value in relevance(tenant).items()
    }
    size = len(TRUE)
    order = contents(tenant, judgement_of(tenant).memory_ids)
    ends = {*order[: size // 4], *order[size - size // 4 :]}
    assert added == {says: pytest.approx(0.05 if says in ends else 0.0) for says in order}


def test_both_calls_are_stored_and_charged(
    tenant: Tenant, ended: Session, model: ModelServer
) -> None:
    judge_all(tenant)
    judgement = judgement_of(tenant)
    assert (judgement.kind, judgement.error, judgement.void_reason) == ("model", "", "")
    assert (judgement.input_tokens, judgement.output_tokens) == (200, 40)
    assert judgement.cost_usd == pytest.approx(2 * COST)
    assert spend.spent_usd(tenant.workspace, now=LATER) == pytest.approx(2 * COST)
    orders = judgement.raw["orders"]
    assert (orders["read"], orders["left_out"], len(orders["calls"])) == (2, "", 2)
    for call in orders["calls"]:
        assert (call["input_tokens"], call["output_tokens"], call["calls"]) == (100, 20, 1)
        assert call["cost_usd"] == pytest.approx(COST)
    means = [(a + b) / 2 for a, b in zip(*(c["relevance"] for c in orders["calls"]), strict=True)]
    assert judgement.raw["relevance"] == pytest.approx(means)
    audited = tenant.admin.get("predictor/audit/s1").json()["judgement"]
    assert audited["orders"] == {"read": 2, "left_out": ""}


def test_a_memory_rated_far_apart_is_unknown_and_never_0(
    tenant: Tenant, ended: Session, model: ModelServer, member: Callable[[str], Client]
) -> None:
    doubted = STORY.memories[0][0]

    def torn(number: int, says: str, size: int) -> float:
        if says != doubted:
            return 0.0
        return (0.9 if number <= size / 2 else 0.0) - TRUE[says] / 2 - 0.25

    model.answer_chat(judge_with(torn, missing_topics=[doubted]))
    judge_all(tenant)
    found = relevance(tenant)
    assert [says for says, value in found.items() if value is None] == [doubted]
    with in_workspace(tenant.workspace):
        label = Label.objects.select_related("memory").get(memory__content=doubted)
        judged = Comparison.objects.get().relevance
    assert (label.raw, label.final, label.chance, label.is_sampled) == (None, None, None, False)
    assert label.reasons == [UNSURE]  # its own words, named as missing, do not stand for a rating
    assert str(label.memory_id) not in judged
    assert len(judged) == len(TRUE) - 1
    judgement = judgement_of(tenant)
    assert label.memory_id in judgement.memory_ids  # it was read
    audit = tenant.admin.get("predictor/audit/s1").json()
    [told] = [one for one in audit["memories"] if one["content"] == doubted]
    assert (told["relevance"], told["final"], told["reasons"]) == (None, None, [UNSURE])
    assert "judge unsure" in page_of(member, judgement)


def test_what_happens_to_an_unsure_memory_later_leaves_the_doubt(
    tenant: Tenant, ended: Session, model: ModelServer
) -> None:
    model.answer_chat(judge_with(lambda number, _, size: 0.25 if number <= size / 2 else -0.25))
    judge_all(tenant)
    with in_workspace(tenant.workspace):
        doubted = list(Label.objects.filter(relevance=None).values_list("memory_id", flat=True))
        given = Memory.objects.filter(pk__in=doubted).first()
    assert given is not None
    forget(tenant.workspace, [given.pk], actor=PERSON, now=LATER)
    restore(tenant.workspace, [given.pk], actor=PERSON, now=LATER)
    with in_workspace(tenant.workspace):
        label = Label.objects.get(memory=given)
    assert (label.final, label.reasons) == (None, [UNSURE])


def test_a_judge_that_is_unsure_of_all_says_nothing(
    tenant: Tenant, ended: Session, model: ModelServer
) -> None:
    answers = [
        [{"note": n, "relevance": value} for n in range(1, len(TRUE) + 1)] for value in (0, 1)
    ]
    model.answer_chat(
        *(lambda request, told=told: completion(json.dumps(verdict(request, relevance=told)))
          for told in answers)
    )  # fmt: skip
    assert judge_all(tenant) == [ended.id]
    judgement = judgement_of(tenant)
    assert (judgement.status, judgement.void_reason) == ("done", "low confidence")
    assert set(relevance(tenant).values()) == {None}
    with in_workspace(tenant.workspace):
        assert Comparison.objects.get().margin is None


@pytest.mark.parametrize(
    "failed",
    [Answer({"error": "down"}, 503), Answer({"error": "key"}, 401), completion("no json")],
    ids=["down", "rejected", "malformed"],
)
def test_the_first_order_stands_alone_when_the_second_fails(
    tenant: Tenant,
    ended: Session,
    model: ModelServer,
    member: Callable[[str], Client],
    failed: Answer,
) -> None:
    model.answer_chat(judge_with(evenly), failed)
    assert judge_all(tenant) == [ended.id]
    judgement = judgement_of(tenant)
    assert (judgement.status, judgement.kind, judgement.attempts) == ("done", "model", 1)
    orders = judgement.raw["orders"]
    assert (orders["read"], len(orders["calls"])) == (1, 2)
    assert orders["left_out"].startswith("gpt-4o-mini")
    first, second = orders["calls"]
    assert judgement.raw["relevance"] == first["relevance"]
    assert second["relevance"] is None
    assert judgement.cost_usd == pytest.approx(first["cost_usd"] + second["cost_usd"])
    assert spend.spent_usd(tenant.workspace, now=LATER) == pytest.approx(judgement.cost_usd)
    with in_workspace(tenant.workspace):
        assert Judgement.objects.filter(status="due").count() == 0
        assert Label.objects.exclude(relevance=None).count() == len(TRUE)
    audited = tenant.admin.get("predictor/audit/s1").json()["judgement"]
    assert audited["orders"] == {"read": 1, "left_out": orders["left_out"]}
    assert f"</span>: {orders['left_out']}" in page_of(member, judgement)


def test_a_pause_asked_for_by_the_second_call_holds_for_the_next_session(
    tenant: Tenant, ended: Session, model: ModelServer
) -> None:
    busy = Answer({"error": "busy"}, 429, {"Retry-After": "900"})
    model.answer_chat(judge_with(evenly), busy, judge_with(evenly))
    start = NOW + timedelta(minutes=31)
    assert judge_all(tenant, start) == [ended.id]
    begin(tenant, "s2", now=start)
    end(tenant, "s2", now=start)
    assert judge_all(tenant, start + timedelta(seconds=899)) == []
    assert len(model.requests) == 2
    judge_all(tenant, start + timedelta(seconds=930))
    assert judgement_of(tenant, "s2").raw["orders"]["read"] == 2


def test_a_second_order_leaves_half_of_the_cap_to_first_ones(
    tenant: Tenant, ended: Session, model: ModelServer
) -> None:
    cap = 0.01
    tenant.admin.patch("workspace/settings", {"narrative_daily_usd": cap})
    reserved = spend.reserve(tenant.workspace, cap / 2, now=LATER)
    assert reserved is not None
    judge_all(tenant)
    orders = judgement_of(tenant).raw["orders"]
    assert (orders["read"], orders["left_out"]) == (1, ask_judge.ONE_FOR_BUDGET)
    assert (len(orders["calls"]), len(model.requests)) == (1, 1)
    spend.settle(tenant.workspace, reserved, usage=Usage(), cost_usd=0.0)
    begin(tenant, "s2", now=LATER)
    end(tenant, "s2", now=LATER)
    judge_all(tenant, LATER)
    assert judgement_of(tenant, "s2").raw["orders"]["read"] == 2


def test_who_wants_one_order_pays_for_one(
    tenant: Tenant, ended: Session, model: ModelServer
) -> None:
    tenant.admin.patch("workspace/settings", {"judge_two_orders": False})
    judge_all(tenant)
    judgement = judgement_of(tenant)
    assert (judgement.raw["orders"]["read"], judgement.raw["orders"]["left_out"]) == (1, "")
    assert (len(model.requests), judgement.input_tokens) == (1, 100)


def test_one_memory_has_one_order(tenant: Tenant, model: ModelServer) -> None:
    commit(tenant, STORY.memories[0][0])
    begin(tenant)
    end(tenant)
    judge_all(tenant)
    assert (len(model.requests), judgement_of(tenant).raw["orders"]["read"]) == (1, 1)


def test_the_judge_without_a_model_has_no_orders(tenant: Tenant, ended: Session) -> None:
    judge_all(tenant)
    assert "orders" not in judgement_of(tenant).raw
    assert tenant.admin.get("predictor/audit/s1").json()["judgement"]["orders"] is None


def test_a_worker_that_dies_after_both_answers_leaves_the_session_due(
    tenant: Tenant, ended: Session, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was asked is paid; the session is judged once, by who takes it over."""

    def die(*_: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(ask_judge, "average", die)
        with pytest.raises(SystemExit):
            judge_all(tenant)
    assert (judgement_of(tenant).status, judgement_of(tenant).raw) == ("due", {})
    assert spend.spent_usd(tenant.workspace, now=LATER) == pytest.approx(2 * COST)
    later = LATER + timedelta(minutes=5)
    assert judge_all(tenant, later) == [ended.id]
    assert judge_all(tenant, later + timedelta(minutes=5)) == []
    with in_workspace(tenant.workspace):
        assert (Comparison.objects.count(), Label.objects.count()) == (1, len(TRUE))
    assert len(model.requests) == 4
    assert spend.spent_usd(tenant.workspace, now=LATER) == pytest.approx(4 * COST)


def test_the_first_failure_is_put_off_as_before(
    tenant: Tenant, ended: Session, model: ModelServer
) -> None:
    model.answer_chat(completion("no json"))
    assert judge_all(tenant, NOW + timedelta(minutes=31)) == []
    assert len(model.requests) == 2  # with its repair, and without a second order
    judgement = judgement_of(tenant)
    assert (judgement.status, judgement.attempts) == ("due", 1)
    assert judgement.error == "gpt-4o-mini answered no fitting JSON"


@pytest.mark.parametrize("orders", [None, 2, [], {}, {"read": "2", "left_out": ""}, {"read": 1}])
def test_orders_of_another_form_are_not_shown(
    tenant: Tenant, ended: Session, member: Callable[[str], Client], orders: Any
) -> None:
    """An archive of another product may hold them."""
    judge_all(tenant)
    with in_workspace(tenant.workspace):
        Judgement.objects.update(raw={"orders": orders})
    assert tenant.admin.get("predictor/audit/s1").json()["judgement"]["orders"] is None
    assert "Orders" not in page_of(member, judgement_of(tenant))
