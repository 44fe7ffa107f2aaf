"""POST /memories/recall: what comes back, in which order, and why."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.core.text import terms
from memories.models import Memory, RecallRecord
from memories.serializers import MemorySerializer
from memories.services.index import postings
from memories.services.index.pending import embed_pending
from memories.services.lifecycle import forget
from memories.services.recall import recall as recalling
from memories.services.recall.log import count_recalls
from tests.conftest import Tenant
from tests.statements import statements

FACTS = [
    ("The invoice service listens on port 8443.", "infra/billing"),
    ("Backups of the database run at two in the morning.", "infra/database"),
    ("Refunds need the approval of the shift lead.", "support"),
    ("The office dog is called Biscuit.", "team"),
]


def fill(tenant: Tenant) -> list[str]:
    ids = []
    for content, scope in FACTS:
        answer = tenant.agent.post("memories", {"content": content, "scope": scope})
        ids.append(answer.json()["memory"]["id"])
    return ids


def recall(tenant: Tenant, query: str, **asked: Any) -> dict[str, Any]:
    """Recall without a cut, unless one is asked for."""
    answer = tenant.reader.post("memories/recall", {"query": query, "min_score": None, **asked})
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def contents(body: dict[str, Any]) -> list[str]:
    return [result["memory"]["content"] for result in body["results"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Which port does the invoice service use?", 0),
        ("When is the database saved?", 1),
        ("who signs off money back to customers", 2),
        ("Biscuit", 3),
    ],
)
def test_the_best_answer_comes_first(tenant: Tenant, query: str, expected: int) -> None:
    fill(tenant)
    body = recall(tenant, query)
    assert contents(body)[0] == FACTS[expected][0]
    assert [r["rank"] for r in body["results"]] == list(range(1, len(body["results"]) + 1))
    scores = [r["score"] for r in body["results"]]
    assert scores == sorted(scores, reverse=True)
    assert body["associations"] == []
    assert body["took_ms"] > 0


def recomputed(why: dict[str, Any]) -> float:
    """Multiply a score out, as `memories.core.fusion` and `memories.core.diversity` say it."""
    first = why["text_weight"] * why["text"] + (1 - why["text_weight"]) * why["vector"]
    said = (1 - why["late_weight"]) * first + why["late_weight"] * (why["late"] or 0)
    own = max(said, why["question_weight"] * (why["question"] or 0) ** 1.5)
    turn = (own + (1 - own) * why["context"]) * why["agent"]
    fused = (1 - why["session_weight"]) * turn + why["session_weight"] * why["session"]
    assert (own, turn, fused) == pytest.approx((why["own"], why["turn"], why["fused"]), abs=1e-12)
    term = max(0.2, (0.5 + 0.5 * why["confidence"]) * why["confidence_factor"])
    trust = why["provenance_weight"] * why["weight_factor"] * term
    score: float = fused * trust * why["freshness"] * why["diversity"]
    return score


@pytest.mark.parametrize("asked", [{}, {"rerank": False}, {"weights": {"assistant_derived": 0.4}}])
def test_a_person_can_recompute_the_score(tenant: Tenant, asked: dict[str, Any]) -> None:
    ids = fill(tenant)
    tenant.agent.post(
        "memories/batch",
        {
            "memories": [
                {"content": "Which port does the metrics service use?", "session_key": "s1"},
                {"content": "It is 9100.", "session_key": "s1", "confidence": 0.4},
                {"content": "Thanks, noted.", "session_key": "s1"},
            ]
        },
    )
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=ids[0]).update(weight_factor=0.81, confidence_factor=0.64)
    found = recall(tenant, "Which port does the invoice service use?", explain=True, **asked)
    assert len(found["results"]) == 7
    for result in found["results"]:
        why = result["explain"]
        assert recomputed(why) == pytest.approx(result["score"], abs=1e-9)
        assert max(0.0, result["cosine"]) == pytest.approx(why["vector"])
    demoted = next(r for r in found["results"] if r["memory"]["id"] == ids[0])["explain"]
    assert (demoted["weight_factor"], demoted["confidence_factor"]) == (0.81, 0.64)


def test_the_second_stage_reads_words_that_mean_the_same(tenant: Tenant) -> None:
    fill(tenant)
    [on] = recall(tenant, "what is the dog's name", k=1, explain=True)["results"]
    [off] = recall(tenant, "what is the dog's name", k=1, explain=True, rerank=False)["results"]
    assert on["memory"]["id"] == off["memory"]["id"]
    assert (on["explain"]["rerank"], on["explain"]["late_weight"]) == ("on", 0.65)
    assert 0.3 < on["explain"]["late"] <= 1
    assert (off["explain"]["rerank"], off["explain"]["late"]) == ("off", None)


def test_a_workspace_may_switch_the_second_stage_off(tenant: Tenant) -> None:
    fill(tenant)
    tenant.workspace.settings = {"rerank_enabled": False}
    tenant.workspace.save()
    [default] = recall(tenant, "the office dog", k=1, explain=True)["results"]
    [asked] = recall(tenant, "the office dog", k=1, explain=True, rerank=True)["results"]
    assert (default["explain"]["rerank"], asked["explain"]["rerank"]) == ("off", "on")


def test_a_near_copy_is_damped_where_the_workspace_wants_it(
    tenant: Tenant, neighbour: Tenant
) -> None:
    copies = ["The office dog is called Biscuit.", "Our office dog is called Biscuit."]
    for place in (tenant, neighbour):
        place.workspace.settings = {"gate_policy": "off"}
        place.workspace.save()
        for content in (*copies, "Dogs are welcome in the office on Fridays."):
            place.agent.post("memories", {"content": content})
    plain = recall(tenant, "the office dog", explain=True)["results"]
    assert {r["explain"]["diversity"] for r in plain} == {1.0}
    tenant.workspace.settings = {"gate_policy": "off", "diversity": 1.0}
    tenant.workspace.save()
    damped = recall(tenant, "the office dog", explain=True)["results"]
    assert {r["memory"]["id"] for r in damped} == {r["memory"]["id"] for r in plain}
    [copy] = [r for r in damped if r["explain"]["repeats"]]
    assert copy["rank"] == 3
    assert copy["memory"]["content"] in copies
    assert copy["explain"]["repeats"] == damped[0]["memory"]["id"]
    assert copy["explain"]["diversity"] < 0.6
    for result in damped:
        assert recomputed(result["explain"]) == pytest.approx(result["score"], abs=1e-9)


def test_weights_of_one_call_overrule_those_of_the_workspace(tenant: Tenant) -> None:
    for content, provenance in (
        ("The gate code of the north yard is 4711.", "user_stated"),
        ("The gate code of the south yard is 4712.", "assistant_derived"),
    ):
        tenant.agent.post(
            "memories", {"content": content, "provenance": provenance, "confidence": 1.0}
        )
    query = "gate code of the yard"
    usual = recall(tenant, query, explain=True)["results"]
    assert [r["explain"]["provenance_weight"] for r in usual] == [1.0, 0.9]
    turned = recall(tenant, query, explain=True, weights={"user_stated": 0.3})["results"]
    assert [r["explain"]["provenance_weight"] for r in turned] == [0.9, 0.3]
    plain = dict.fromkeys(["user_stated", "episode_summary", "assistant_derived"], 1.0)
    for result in recall(tenant, query, explain=True, weights=plain)["results"]:
        fused = result["explain"]["fused"] * result["explain"]["freshness"]
        assert result["score"] == pytest.approx(fused, abs=1e-12)


@pytest.mark.parametrize(
    "weights",
    [
        {"user_stated": 0},
        {"user_stated": 1.01},
        {"user_stated": None},
        {"user_stated": "1"},
        {"user_said": 0.5},
        {"assistant_derived": True},
        [],
        "high",
        0.5,
    ],
)
def test_weights_out_of_range_are_refused(tenant: Tenant, weights: Any) -> None:
    answer = tenant.reader.post("memories/recall", {"query": "x", "weights": weights})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].startswith("weights")


def test_k_limits_the_answer(tenant: Tenant) -> None:
    fill(tenant)
    assert len(recall(tenant, "the service", k=2)["results"]) == 2


def test_scope_confines_by_whole_segments(tenant: Tenant) -> None:
    fill(tenant)
    tenant.agent.post(
        "memories", {"content": "Infrared sensors need calibration.", "scope": "infra2"}
    )
    found = recall(tenant, "service database sensors", scope="infra")["results"]
    assert {r["memory"]["scope"] for r in found} == {"infra/billing", "infra/database"}


def test_constraints_of_enclosing_scopes_are_included(tenant: Tenant) -> None:
    fill(tenant)
    tenant.agent.post(
        "memories", {"content": "Never restart the invoice service by day.", "kind": "constraint"}
    )
    found = recall(tenant, "restart the invoice service", scope="infra/billing")
    assert contents(found) == [
        "Never restart the invoice service by day.",
        "The invoice service listens on port 8443.",
    ]


def test_pinned_memories_come_first_within_their_scope(tenant: Tenant) -> None:
    fill(tenant)
    tenant.agent.post(
        "memories", {"content": "Ask before touching anything.", "scope": "infra", "pinned": True}
    )
    found = recall(tenant, "Which port does the invoice service use?", scope="infra")
    assert contents(found)[0] == "Ask before touching anything."


def test_forgotten_memories_never_come_back(tenant: Tenant) -> None:
    ids = fill(tenant)
    tenant.agent.post("memories/forget", {"ids": [ids[3]], "confirm": True})
    assert FACTS[3][0] not in contents(recall(tenant, "the office dog Biscuit"))


def test_superseded_and_expired_memories_are_hidden(tenant: Tenant) -> None:
    ids = fill(tenant)
    tenant.agent.post(
        "memories", {"content": "The office dog is called Waffle.", "supersedes": ids[3]}
    )
    tenant.agent.post(
        "memories",
        {
            "content": "The office cat is called Crumb.",
            "observed_at": "2019-01-01T00:00:00Z",
            "expires_at": "2020-01-01T00:00:00Z",
        },
    )
    found = contents(recall(tenant, "what is the office pet called"))
    assert "The office dog is called Waffle." in found
    assert FACTS[3][0] not in found
    assert "The office cat is called Crumb." not in found


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"scope": "nowhere"}, "all filtered"),
        ({"kinds": ["decision"]}, "all filtered"),
        ({"min_score": 1.0}, "below min_score"),
    ],
)
def test_an_empty_answer_says_why(tenant: Tenant, asked: dict[str, Any], reason: str) -> None:
    fill(tenant)
    body = recall(tenant, "the invoice service", **asked)
    assert body["results"] == []
    assert body["reason"].startswith(reason)


def test_an_empty_workspace_says_so(tenant: Tenant, neighbour: Tenant) -> None:
    fill(neighbour)
    assert recall(tenant, "anything")["reason"].startswith("no memories")


def test_a_query_without_words_is_answered_by_meaning(tenant: Tenant) -> None:
    fill(tenant)
    found = recall(tenant, "what is it about?", explain=True)["results"]
    assert found != []
    assert {r["explain"]["text_weight"] for r in found} == {0.0}
    assert {r["explain"]["rerank"] for r in found} == {"off: the query holds no index term"}


@pytest.mark.parametrize("query", ["", "  ", "\u200b", "\ufe0f\u2060"])
def test_a_query_without_a_visible_character_is_blank(tenant: Tenant, query: str) -> None:
    answer = tenant.reader.post("memories/recall", {"query": query})
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["query"]


@pytest.mark.parametrize("query", ["???", " ... !", "—"])
def test_a_query_of_punctuation_asks_nothing(tenant: Tenant, query: str) -> None:
    fill(tenant)
    body = recall(tenant, query)
    assert body["results"] == []
    assert body["reason"].startswith("nothing asked")


@pytest.mark.parametrize("query", ["\U0001f680", "\U0001f525\U0001f389", "x" * 300])
def test_texts_of_unknown_words_are_not_taken_for_each_other(tenant: Tenant, query: str) -> None:
    """The model knows no emoji and no word of 300 letters: one vector stands for all of them."""
    for content in ("\U0001f355", "y" * 300, "The mill brings flour."):
        assert tenant.agent.post("memories", {"content": content}).status_code == 201
    answer = tenant.agent.post("memories/recall", {"query": query, "min_score": None}).json()
    assert answer["results"] == []
    assert answer["reason"] == recalling.NO_KNOWN_WORD
    assert not tenant.admin.get("analytics/errors").json()["results"]  # no outage
    forgotten = tenant.agent.post("memories/forget", {"query": query}).json()
    assert forgotten["reason"] == forget.NO_KNOWN_WORD
    session = tenant.agent.post("sessions", {"session_key": "s", "context": query})
    assert session.status_code == 201


def test_recalls_are_counted_once_and_only_when_recorded(tenant: Tenant) -> None:
    ids = fill(tenant)
    recall(tenant, "Biscuit", k=1)
    recall(tenant, "Biscuit", k=1, record=False)
    assert count_recalls(tenant.workspace) == 1
    assert count_recalls(tenant.workspace) == 0
    with in_workspace(tenant.workspace):
        counts = dict(Memory.objects.values_list("content", "recall_count"))
        assert counts[FACTS[3][0]] == 1
        assert sum(counts.values()) == 1
        assert RecallRecord.objects.count() == 0
        assert Memory.objects.get(pk=ids[3]).last_recalled_at is not None


def test_query_forget_previews_what_is_near_enough(tenant: Tenant) -> None:
    fill(tenant)
    near = tenant.agent.post("memories/forget", {"query": "The office dog is called Biscuit"})
    assert [m["content"] for m in near.json()["would_forget"]] == [FACTS[3][0]]
    weak = tenant.agent.post("memories/forget", {"query": "quarterly tax filing", "confirm": True})
    assert (weak.json()["forgotten"], weak.json()["ids"]) == (0, [])
    assert len(tenant.agent.get("memories").json()["results"]) == len(FACTS)


def test_the_number_of_queries_does_not_grow_with_the_answer(tenant: Tenant) -> None:
    fill(tenant)
    tenant.agent.post(
        "memories/batch",
        {"memories": [{"content": f"Shelf {n} holds jar number {n}."} for n in range(60)]},
    )
    counted = []
    for k in (1, 50):
        recall(tenant, "jar on a shelf", k=k)
        with CaptureQueriesContext(connection) as queries:
            assert len(recall(tenant, "jar on a shelf", k=k)["results"]) == k
        counted.append(len(queries))
    assert counted[0] == counted[1]


def test_long_memories_are_found_by_their_end(tenant: Tenant) -> None:
    filler = "The quarterly report lists revenue by region and product line. " * 60
    ending = "The heron nests on the roof of the boathouse each spring. " * 40
    tenant.agent.post("memories", {"content": filler + ending})
    tenant.agent.post("memories", {"content": "Breakfast is served until ten."})
    embed_pending(tenant.workspace)  # a caller waits for the first windows only
    found = recall(tenant, "where do the birds breed")
    assert contents(found)[0] == filler + ending
    assert found["results"][0]["cosine"] > 0.3


def test_age_lowers_a_score_but_never_hides(tenant: Tenant) -> None:
    for content, observed_at in (
        ("The printer is on floor two.", "2001-01-01T00:00:00Z"),
        ("The printer is on floor two, by the stairs.", timezone.now().isoformat()),
    ):
        tenant.agent.post(
            "memories",
            {
                "content": content,
                "observed_at": observed_at,
                "scope": content[:24] + observed_at[:4],
            },
        )
    found = recall(tenant, "where is the printer", explain=True)["results"]
    assert len(found) == 2
    old = next(r for r in found if r["memory"]["observed_at"].startswith("2001"))
    assert 0.85 <= old["explain"]["freshness"] < 0.86


@pytest.mark.parametrize("asked", [{"graph": "yes"}, {"graph": 1}, {"rerank": "yes"}])
def test_a_switch_that_is_no_boolean_is_refused_not_ignored(
    tenant: Tenant, asked: dict[str, Any]
) -> None:
    fill(tenant)
    answer = tenant.reader.post("memories/recall", {"query": "Biscuit", **asked})
    assert answer.status_code == 422
    nothing = dict.fromkeys(asked)
    assert tenant.reader.post("memories/recall", {"query": "Biscuit", **nothing}).status_code == 200


def test_of_a_term_that_stands_everywhere_the_densest_postings_are_read(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content in (
        "Gulls nest on gulls' rock.",
        "Gulls circle the old harbour at dusk.",
        "The lighthouse feeds gulls.",
    ):
        tenant.agent.post("memories", {"content": content})
    monkeypatch.setattr(postings, "POSTINGS_READ", 2)
    with in_workspace(tenant.workspace):
        vocabulary = postings.vocabulary_of(terms("gulls"))
        found = postings.by_words(Memory.objects.recallable(), vocabulary, 100)
        texts = set(Memory.objects.filter(pk__in=found).values_list("content", flat=True))
    assert texts == {"Gulls nest on gulls' rock.", "The lighthouse feeds gulls."}


def test_a_memory_is_shown_with_every_documented_field(tenant: Tenant) -> None:
    fill(tenant)
    shown = recall(tenant, "Biscuit")["results"][0]["memory"]
    assert list(shown) == list(MemorySerializer().fields)


def test_a_recall_sends_few_statements(tenant: Tenant) -> None:
    fill(tenant)
    recall(tenant, "Biscuit")
    with statements() as sent:
        recall(tenant, "Refunds")
    # The key; the workspace, set and (within a test) unset; the planner's settings and back; pins,
    # counts, vectors, words, features, session neighbours, token states; memories, log, drift,
    # links, conflicts.
    assert len([sql for sql in sent if "SAVEPOINT" not in sql]) == 17
    # Within a test the transaction of the recall is a savepoint; drift always has its own.
    assert len(sent) == 21


def test_memories_that_tie_are_taken_in_the_order_of_their_commits(
    tenant: Tenant, neighbour: Tenant
) -> None:
    """More tie than a pool holds: two workspaces of the same memories give the same answers."""
    jars = [f"Jar {n} stands on a shelf." for n in range(200, 400)]
    for where in (tenant, neighbour):
        batch = {"memories": [{"content": content} for content in jars]}
        assert where.agent.post("memories/batch", batch).status_code == 201
        with in_workspace(where.workspace):
            recallable = Memory.objects.recallable(timezone.now())
            best = postings.by_words(recallable, postings.vocabulary_of(["jar", "shelf"]), 60)
            stored = Memory.objects.in_bulk(best)
        assert [stored[i].content for i in best] == jars[:60]
