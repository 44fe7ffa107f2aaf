"""What is relevant is returned, and nothing when nothing is: recall, sessions, prompts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from engram.kernel.tenancy import in_workspace
from memories.core.relevance import (
    CALIBRATIONS,
    CONTEXT_LEAST,
    LEAST,
    Evidence,
    Match,
    evidence_of,
    select,
    select_for_context,
)
from memories.models import Memory, RecallRecord, Session
from tests.conftest import Tenant
from tests.memories.session_world import begin, injected_ids, records, remember

FACTS = [
    "The invoice service listens on port 8443.",
    "Backups of the database run at two in the morning.",
    "Refunds need the approval of the shift lead.",
    "The office dog is called Biscuit.",
]
UNANSWERABLE = ["What is the capital of France?", "how do I bake bread", "Who won the cup final?"]


@pytest.fixture(autouse=True)
def no_ranker(settings: Any) -> None:
    """Begin without a learned ranker."""
    settings.ENGRAM_SESSION_RANKER = ""


def fill(tenant: Tenant, **fields: Any) -> list[str]:
    return [commit(tenant, content, **fields) for content in FACTS]


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    memory_id: str = answer.json()["memory"]["id"]
    return memory_id


def ask(tenant: Tenant, query: str, **asked: Any) -> dict[str, Any]:
    answer = tenant.reader.post("memories/recall", {"query": query, **asked})
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def texts(body: dict[str, Any]) -> list[str]:
    return [result["memory"]["content"] for result in body["results"]]


@pytest.mark.parametrize("evidence", Evidence)
def test_relevance_rises_with_the_match_and_falls_with_the_number_of_memories(
    evidence: Evidence,
) -> None:
    calibration = CALIBRATIONS[evidence]
    rising = [calibration.relevance(n / 10, memories=100, terms=5) for n in range(11)]
    assert rising == sorted(rising)
    assert 0 < rising[0] < 0.06
    assert 0.5 < rising[-1] < 1
    assert calibration.relevance(0.4, memories=10_000, terms=5) < rising[4]
    few, three = (calibration.relevance(0.4, memories=100, terms=n) for n in (0, 3))
    assert few == three


@pytest.mark.parametrize("evidence", [Evidence.RERANKED, Evidence.FIRST, Evidence.WORDS])
def test_a_good_match_reaches_the_default_in_a_workspace_of_any_size(evidence: Evidence) -> None:
    for memories in (1_000, 100_000, 10_000_000):
        assert CALIBRATIONS[evidence].relevance(0.7, memories=memories, terms=3) >= LEAST


def test_relevance_is_a_number_for_every_input() -> None:
    for match in (0.0, 1.0):
        for memories in (0, 1, 10**9):
            for terms in (0, 10_000):
                value = CALIBRATIONS[Evidence.RERANKED].relevance(
                    match, memories=memories, terms=terms
                )
                assert 0 < value < 1


@pytest.mark.parametrize(
    ("text_weight", "is_reranked", "evidence"),
    [
        (0.6, True, Evidence.RERANKED),
        (0.6, False, Evidence.FIRST),
        (1.0, False, Evidence.WORDS),
        (0.0, False, Evidence.VECTOR),
    ],
)
def test_the_calibration_is_that_of_what_was_compared(
    text_weight: float, is_reranked: bool, evidence: Evidence
) -> None:
    assert evidence_of(text_weight=text_weight, is_reranked=is_reranked) is evidence


def test_select_returns_nothing_or_what_is_close_to_the_best() -> None:
    found = [Match(0.03, 0.9), Match(0.5, 0.6), Match(0.2, 0.53), Match(0.01, 0.54)]
    assert select(found) == [True, True, False, True]
    assert select(found, least=0.51) == [False] * 4
    assert select(found[:1], least=0) == [True]
    assert select([]) == []


def test_a_context_needs_one_that_is_relevant_and_takes_those_that_are_less_so() -> None:
    least = CONTEXT_LEAST
    assert select_for_context([least, least / 4, least / 6, None]) == [True, True, False, True]
    assert select_for_context([least * 0.9, least / 4, None]) == [False, False, True]
    assert select_for_context([0.001, 0.2], least=0) == [True, True]
    assert select_for_context([]) == []


def test_recall_returns_what_is_relevant_and_its_probability(
    tenant: Tenant, neighbour: Tenant
) -> None:
    fill(tenant)
    fill(neighbour)
    for query, best in (
        ("Which port does the invoice service use?", 0),
        ("When is the database saved?", 1),
        ("what is our dog's name", 3),
    ):
        body = ask(tenant, query)
        assert texts(body) == [FACTS[best]]
        assert LEAST < body["results"][0]["relevance"] < 1
        assert "reason" not in body


@pytest.mark.parametrize("query", UNANSWERABLE)
@pytest.mark.parametrize("rerank", [True, False])
def test_a_question_without_an_answer_gets_none_and_the_reason(
    tenant: Tenant, query: str, rerank: bool
) -> None:
    fill(tenant)
    body = ask(tenant, query, rerank=rerank)
    assert body["results"] == []
    assert body["reason"].startswith("nothing relevant")
    with in_workspace(tenant.workspace):
        assert not RecallRecord.objects.exists()
    everything = ask(tenant, query, rerank=rerank, min_score=None)
    assert len(everything["results"]) > 0
    assert max(r["relevance"] for r in everything["results"]) < LEAST
    assert "reason" not in everything


def test_the_best_is_returned_whatever_k(tenant: Tenant) -> None:
    fill(tenant)
    query = "Which port does the invoice service use?"
    assert texts(ask(tenant, query, k=1)) == texts(ask(tenant, query, k=50))


def test_the_workspace_chooses_how_sure_recall_must_be(tenant: Tenant) -> None:
    fill(tenant)
    query = "When is the database saved?"
    [sure] = [r["relevance"] for r in ask(tenant, query)["results"]]
    tenant.admin.patch("workspace/settings", {"min_relevance": min(1.0, sure + 0.01)})
    assert ask(tenant, query)["reason"].startswith("nothing relevant")
    tenant.admin.patch("workspace/settings", {"min_relevance": 0})
    assert texts(ask(tenant, UNANSWERABLE[0])) != []


def test_pins_are_returned_with_the_reason_why_nothing_else_is(tenant: Tenant) -> None:
    fill(tenant)
    commit(tenant, "Ask Ingrid first.", pinned=True)
    body = ask(tenant, UNANSWERABLE[0])
    assert texts(body) == ["Ask Ingrid first."]
    assert body["reason"].startswith("nothing relevant")
    answered = ask(tenant, "Which port does the invoice service use?")
    assert texts(answered) == ["Ask Ingrid first.", FACTS[0]]
    assert "reason" not in answered


@pytest.mark.parametrize("min_score", ["often", "", True, [], {}, 1.5, -1])
def test_another_min_score_is_refused(tenant: Tenant, min_score: Any) -> None:
    answer = tenant.reader.post("memories/recall", {"query": "dog", "min_score": min_score})
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["min_score"]


def test_why_not_names_relevance(tenant: Tenant) -> None:
    ids = fill(tenant)

    def why(memory_id: str, query: str, **asked: Any) -> dict[str, Any]:
        body: dict[str, Any] = tenant.reader.get(
            f"memories/{memory_id}/why-not", {"query": query, **asked}
        ).json()
        return body

    unknown = why(ids[0], UNANSWERABLE[0])
    assert [reason["code"] for reason in unknown["reasons"]] == ["relevance"]
    assert "Nothing is returned" in unknown["reasons"][0]["message"]
    assert unknown["relevance"] < LEAST
    known = why(ids[3], "Which port does the invoice service use?")
    assert [reason["code"] for reason in known["reasons"]] == ["relevance"]
    assert "far less than the best" in known["reasons"][0]["message"]
    assert why(ids[0], "Which port does the invoice service use?")["returned"] is True
    uncut = why(ids[3], "Which port does the invoice service use?", min_score="0")
    assert "relevance" not in {reason["code"] for reason in uncut["reasons"]}


def test_a_session_gets_what_is_relevant_to_its_context(tenant: Tenant) -> None:
    ids = [remember(tenant, text, importance=0.9 - n / 10) for n, text in enumerate(FACTS)]
    for n in range(30):
        remember(tenant, f"Shelf {n} holds the ledgers of the year {1900 + n}.", importance=1.0)
    started = begin(tenant, context="Walking Biscuit, the dog of the office")
    assert injected_ids(started) == [ids[3]]
    assert started.session.reason == ""
    rows = {row.memory_id: row for row in records(tenant, started)}
    assert rows.keys() > set(ids)
    assert (rows[ids[3]].relevance or 0) > CONTEXT_LEAST
    assert max(rows[i].relevance or 0 for i in ids[:3]) < CONTEXT_LEAST / 5
    assert len(injected_ids(begin(tenant, "s2"))) == 10  # without a context


def test_a_session_about_something_else_gets_constraints_and_pins_and_the_reason(
    tenant: Tenant,
) -> None:
    for text in FACTS:
        remember(tenant, text)
    rule = remember(tenant, "Never send letters on a Sunday.", kind="constraint")
    pin = remember(tenant, "Ask Ingrid first.", pinned=True)
    body = {"session_key": "s1", "context": "Baking bread with rye flour at home"}
    answer = tenant.agent.post("sessions", body).json()
    assert {UUID(memory["id"]) for memory in answer["memories"]} == {rule, pin}
    assert answer["reason"].startswith("nothing relevant")
    again = tenant.agent.post("sessions", body).json()
    assert again["reason"] == answer["reason"]
    tenant.admin.patch("workspace/settings", {"session_min_relevance": 0})
    full = tenant.agent.post("sessions", body | {"session_key": "s2"}).json()
    assert (len(full["memories"]), full["reason"]) == (6, "")


def test_what_is_not_embedded_yet_is_not_left_out_of_a_session(tenant: Tenant) -> None:
    ids = [remember(tenant, text) for text in FACTS[:2]]
    with in_workspace(tenant.workspace):
        Memory.objects.get(pk=ids[0]).vectors.all().delete()
    started = begin(tenant, context="Baking bread with rye flour at home")
    assert injected_ids(started) == [ids[0]]
    with in_workspace(tenant.workspace):
        assert Session.objects.get().reason == ""


def test_a_prompt_matches_by_one_word_only_what_may_be_relevant(tenant: Tenant) -> None:
    remember(tenant, "The office dog is called Biscuit.")
    for n in range(40):
        remember(tenant, f"Shelf {n} holds the ledgers of the year {1900 + n}.")
    tenant.agent.post("sessions", {"session_key": "s1"})

    def matched(prompt: str) -> list[str]:
        answer = tenant.agent.post("sessions/s1/prompts", {"prompt": prompt}).json()
        return [memory["content"] for memory in answer["memories"]]

    long = (
        "Please rewrite the migration so that partitions of the audit trail are dropped monthly, "
        "then biscuit recipes, then verify retention against the compliance sheet"
    )
    assert matched(long) == ["The office dog is called Biscuit."]
    tenant.admin.patch("workspace/settings", {"min_relevance": 0.3})
    assert matched(f"{long}.") == []
    assert matched("Where is Biscuit?") == ["The office dog is called Biscuit."]
