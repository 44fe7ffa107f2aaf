"""Merge suggestions: asked once, answered by reviewers, taken apart again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace
from memories.core import comparing
from memories.models import Memory, Merge, MergeSuggestion, Observation, SuggestionStatus
from memories.services.gate import answer_suggestion
from memories.services.gate.suggestions import suggest
from tests.conftest import Tenant, build_tenant

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."


def commit(tenant: Tenant, content: str, **fields: Any) -> Any:
    return tenant.agent.post("memories", {"content": content, **fields}).json()


def ask(tenant: Tenant, **fields: Any) -> tuple[str, str, str]:
    """Let the gate suggest a pair; return the older one, the newer one and the suggestion."""
    older = commit(tenant, PLAIN, provenance="user_stated", **fields)["memory"]["id"]
    answer = commit(tenant, FINER, **fields)
    assert answer["outcome"] == "suggested"
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    return older, answer["memory"]["id"], row["id"]


def answer(tenant: Tenant, suggestion: str, verb: str, **body: Any) -> Any:
    return tenant.reviewer.post(f"merge-suggestions/{suggestion}/{verb}", body)


def listed(tenant: Tenant, **filters: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tenant.reader.get("merge-suggestions", filters).json()["results"]
    return rows


def test_a_refinement_of_a_lower_class_is_suggested_with_both_shown(
    tenant: Tenant, neighbour: Tenant
) -> None:
    ask(neighbour)
    older, newer, _ = ask(tenant)
    (row,) = listed(tenant)
    assert (row["status"], row["relation"], row["detected_by"]) == ("open", "refines", "gate")
    assert [(m["id"], m["content"]) for m in row["memories"]] == [(older, PLAIN), (newer, FINER)]
    assert row["reasons"][0] == "adds 14:00 UTC"
    assert listed(tenant, memory_id=older) == [row]
    assert listed(tenant, status="rejected") == []


def test_one_suggestion_says_what_a_merge_drops_and_the_list_compares_nothing(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, foreign = ask(neighbour)
    older, newer, suggestion = ask(tenant)
    assert tenant.reader.get(f"merge-suggestions/{foreign}").status_code == 404
    shown = tenant.reader.get(f"merge-suggestions/{suggestion}").json()
    merges = shown.pop("merges")
    assert [(m["keep"], m["drops"]) for m in merges] == [(older, [FINER]), (newer, [])]
    compared = Mock()
    monkeypatch.setattr(answer_suggestion, "compare", compared)
    monkeypatch.setattr(answer_suggestion, "find_missing_claims", compared)
    assert listed(tenant) == [shown]
    assert not compared.called


def test_long_texts_are_not_compared_and_merge_by_class_and_age(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "MAX_COMPARED_CHARS", len(PLAIN) + len(FINER) - 1)
    older, newer, suggestion = ask(tenant, agent="a")
    monkeypatch.setattr(answer_suggestion, "compare", Mock(side_effect=AssertionError))
    monkeypatch.setattr(answer_suggestion, "find_missing_claims", Mock(side_effect=AssertionError))
    merges = tenant.reader.get(f"merge-suggestions/{suggestion}").json()["merges"]
    assert [(m["keep"], m["is_default"], m["drops"]) for m in merges] == [
        (older, True, [FINER]),  # a person's own words
        (newer, False, [PLAIN]),
    ]
    assert answer(tenant, suggestion, "accept").status_code == 200
    with in_workspace(tenant.workspace):
        assert Memory.objects.get(pk=older).content == PLAIN
        assert Merge.objects.get().relation == "refines"


def test_accepting_keeps_the_older_one_with_the_higher_classes_wording(tenant: Tenant) -> None:
    older, newer, suggestion = ask(tenant)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=older).update(recall_count=2, used_count=1)
        Memory.objects.filter(pk=newer).update(recall_count=3, hit_count=4)
    accepted = answer(tenant, suggestion, "accept")
    assert (accepted.status_code, accepted.json()["status"]) == (200, "accepted")
    survivor = tenant.reader.get(f"memories/{older}").json()
    assert (survivor["content"], survivor["provenance"]) == (PLAIN, "user_stated")
    assert [survivor[f"{name}_count"] for name in ("recall", "injected", "hit", "used")] == [
        5, 0, 4, 1,
    ]  # fmt: skip
    absorbed = tenant.reader.get(f"memories/{newer}").json()
    assert (absorbed["state"], absorbed["superseded_by"]) == ("superseded", older)
    assert listed(tenant) == []


def test_the_reviewer_may_choose_the_wording(tenant: Tenant) -> None:
    older, newer, suggestion = ask(tenant)
    stranger = commit(tenant, "Lunch is at noon.")["memory"]["id"]
    assert answer(tenant, suggestion, "accept", keep=stranger).status_code == 422
    assert answer(tenant, suggestion, "accept", keep=newer).status_code == 200
    assert tenant.reader.get(f"memories/{older}").json()["content"] == FINER
    found = tenant.reader.post("memories/recall", {"query": FINER, "record": False}).json()
    assert found["results"][0]["memory"]["id"] == older
    assert found["results"][0]["cosine"] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("keeps_newer", [True, False])
def test_an_accepted_merge_is_split_exactly(tenant: Tenant, keeps_newer: bool) -> None:
    older, newer, suggestion = ask(tenant, tags=["x"])
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=older).update(recall_count=2)
        Memory.objects.filter(pk=newer).update(recall_count=3)
    changing = {"updated_at", "revision", "disputed", "conflicts"}
    before = {i: tenant.reader.get(f"memories/{i}").json() for i in (older, newer)}
    answer(tenant, suggestion, "accept", keep=newer if keeps_newer else older)
    with in_workspace(tenant.workspace):
        observation = str(Observation.objects.get(outcome="absorbed").pk)
    body = {"observation_id": observation}
    assert tenant.agent.post(f"memories/{older}/split", body).status_code == 403
    done = tenant.reviewer.post(f"memories/{older}/split", body)
    assert (done.status_code, done.json()["kept"]) == (200, [])
    for memory_id, was in before.items():
        now = tenant.reader.get(f"memories/{memory_id}").json()
        assert {k: v for k, v in now.items() if k not in changing} == {
            k: v for k, v in was.items() if k not in changing
        }
    with in_workspace(tenant.workspace):
        pair = [Memory.objects.get(pk=i) for i in (older, newer)]
        again = suggest(
            *pair, relation="same", detected_by="agent", actor=SYSTEM, now=timezone.now()
        )
    assert again is None


def test_answers_are_idempotent_and_the_opposite_is_refused(tenant: Tenant) -> None:
    _, _, suggestion = ask(tenant)
    first = answer(tenant, suggestion, "accept")
    assert answer(tenant, suggestion, "accept").json() == first.json()
    assert answer(tenant, suggestion, "reject").status_code == 409
    with in_workspace(tenant.workspace):
        assert Merge.objects.count() == 1


def test_a_rejected_pair_is_not_suggested_until_a_member_is_reworded(tenant: Tenant) -> None:
    older, newer, suggestion = ask(tenant)
    assert answer(tenant, suggestion, "reject").json()["status"] == "rejected"

    def again() -> MergeSuggestion | None:
        with in_workspace(tenant.workspace):
            pair = [Memory.objects.get(pk=i) for i in (newer, older)]
            return suggest(
                *pair, relation="same", detected_by="agent", actor=SYSTEM, now=timezone.now()
            )

    assert again() is None
    tenant.reviewer.patch(f"memories/{newer}", {"tags": ["new"]})
    assert again() is None
    tenant.reviewer.patch(f"memories/{newer}", {"content": "Deploys run on Thursdays at 15:00."})
    assert again() is not None
    assert [row["detected_by"] for row in listed(tenant)] == ["agent"]


def test_a_pair_is_suggested_once_whichever_way_round(tenant: Tenant) -> None:
    older, newer, suggestion = ask(tenant)
    with in_workspace(tenant.workspace):
        pair = [Memory.objects.get(pk=i) for i in (newer, older)]
        for one, two in (pair, pair[::-1]):
            found = suggest(
                one, two, relation="same", detected_by="agent", actor=SYSTEM, now=timezone.now()
            )
            assert str(found and found.pk) == suggestion
    assert len(listed(tenant, status="all")) == 1


def test_only_two_memories_of_one_place_are_suggested(tenant: Tenant) -> None:
    one = commit(tenant, PLAIN)["memory"]["id"]
    two = commit(tenant, PLAIN, scope="x")["memory"]["id"]
    with in_workspace(tenant.workspace):
        a, b = Memory.objects.get(pk=one), Memory.objects.get(pk=two)
        for other in (a, b):
            with pytest.raises(InvalidError):
                suggest(
                    a, other, relation="same", detected_by="agent", actor=SYSTEM,
                    now=timezone.now(),
                )  # fmt: skip


@pytest.mark.parametrize("change", ["forget", "reword"])
def test_a_suggestion_lapses_with_its_members(tenant: Tenant, change: str) -> None:
    _, newer, suggestion = ask(tenant)
    if change == "forget":
        tenant.agent.post("memories/forget", {"ids": [newer], "confirm": True})
    else:
        tenant.reviewer.patch(f"memories/{newer}", {"content": "Deploys run on Fridays."})
    assert listed(tenant) == []
    (lapsed,) = listed(tenant, status="lapsed")
    assert (lapsed["id"], lapsed["status"]) == (suggestion, "lapsed")
    for verb in ("accept", "reject"):
        assert answer(tenant, suggestion, verb).status_code == 409
    if change == "forget":
        assert lapsed["memories"][1]["content"] is None
        assert lapsed["reasons"] == []
        assert "14:00" not in tenant.reader.get("merge-suggestions?status=all").content.decode()
        tenant.agent.post("memories/restore", {"ids": [newer]})
        assert [row["id"] for row in listed(tenant)] == [suggestion]


@pytest.mark.parametrize(
    ("policy", "outcome", "suggestions"), [("suggest", "suggested", 1), ("off", "created", 0)]
)
def test_policies_that_merge_nothing(
    tenant: Tenant, policy: str, outcome: str, suggestions: int
) -> None:
    tenant.admin.patch("workspace/settings", {"gate_policy": policy})
    commit(tenant, PLAIN)
    assert commit(tenant, FINER)["outcome"] == outcome
    assert len(listed(tenant)) == suggestions
    with in_workspace(tenant.workspace):
        assert (Merge.objects.count(), Memory.objects.count()) == (0, 2)


def test_a_conflict_with_any_neighbour_keeps_apart_what_is_the_same_as_another(
    tenant: Tenant,
) -> None:
    tenant.admin.patch("workspace/settings", {"gate_policy": "off"})
    same = commit(tenant, "The API rate limit is 1000 requests per second.")["memory"]["id"]
    commit(tenant, "The API rate limit is 5000 requests per second.")
    tenant.admin.patch("workspace/settings", {"gate_policy": "merge"})
    draft = commit(tenant, "The rate limit of the API is 1000 requests per second.")
    assert draft["outcome"] == "kept_apart"
    (row,) = listed(tenant)
    assert {m["id"] for m in row["memories"]} == {same, draft["memory"]["id"]}


def test_every_neighbour_that_may_say_the_same_is_suggested(tenant: Tenant) -> None:
    tenant.admin.patch("workspace/settings", {"gate_policy": "off"})
    said = ("Our deploys go out on Thursday mornings.", "The deploys go out on Thursday mornings.")
    stored = {commit(tenant, content)["memory"]["id"] for content in said}
    tenant.admin.patch("workspace/settings", {"gate_policy": "suggest"})
    draft = commit(tenant, "Deploys go out on Thursday mornings.")
    assert draft["outcome"] == "suggested"
    pairs = [{m["id"] for m in row["memories"]} for row in listed(tenant)]
    assert sorted(map(sorted, pairs)) == sorted(sorted([i, draft["memory"]["id"]]) for i in stored)


def test_suggestions_of_a_batch_stand_in_the_order_of_its_drafts(tenant: Tenant) -> None:
    places = [f"team/{n}" for n in range(6)]
    drafts = [
        {"content": content, "scope": place, "provenance": provenance}
        for place in places
        for content, provenance in ((PLAIN, "user_stated"), (FINER, "assistant_derived"))
    ]
    answers = tenant.agent.post("memories/batch", {"memories": drafts}).json()["results"]
    assert [one["outcome"] for one in answers] == ["created", "suggested"] * len(places)
    newest_first = [row["memories"][1]["id"] for row in listed(tenant)]
    assert newest_first == [one["memory"]["id"] for one in reversed(answers[1::2])]
    events = tenant.reader.get("events", {"type": "merge.suggested"}).json()["results"]
    noted = [event["data"]["other"] for event in events]
    assert noted == newest_first


def test_an_agent_does_not_reword_what_a_person_wrote(tenant: Tenant) -> None:
    memory = commit(tenant, PLAIN)["memory"]["id"]
    with in_workspace(tenant.workspace):
        from engram.kernel.models import Event

        Event.objects.filter(object_id=memory).update(actor_kind="user")
    assert commit(tenant, FINER)["outcome"] == "suggested"
    assert tenant.reader.get(f"memories/{memory}").json()["content"] == PLAIN


def test_the_list_asks_as_often_for_many_as_for_one(tenant: Tenant) -> None:
    ask(tenant, scope="s0")
    with CaptureQueriesContext(
        connection,
    ) as one:
        listed(tenant)
    for number in range(1, 4):
        commit(tenant, PLAIN, provenance="user_stated", scope=f"s{number}")
        commit(tenant, FINER, scope=f"s{number}")
    with CaptureQueriesContext(connection) as many:
        assert len(listed(tenant)) == 4
    assert len(many) == len(one)


def test_accepting_while_somebody_forgets_has_one_winner(transactional_db: None) -> None:
    tenant = build_tenant("busy")
    older, newer, suggestion = ask(tenant)
    barrier = Barrier(2)

    def run(verb: str) -> Any:
        barrier.wait()
        try:
            if verb == "accept":
                return answer(tenant, suggestion, "accept").status_code
            body = {"ids": [newer], "confirm": True}
            return tenant.agent.post("memories/forget", body).json()["forgotten"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        status, forgotten = pool.map(run, ["accept", "forget"])
    assert status in {200, 409}
    # What a person has decided about first, an agent forgets by a review only.
    assert forgotten == 1 or (status, forgotten) == (200, 0)
    survivor = tenant.reader.get(f"memories/{older}").json()
    with in_workspace(tenant.workspace):
        stored = MergeSuggestion.objects.get()
        assert Merge.objects.count() == (status == 200)
    expected = SuggestionStatus.ACCEPTED if status == 200 else SuggestionStatus.OPEN
    assert (stored.status, survivor["state"]) == (expected, "active")
    assert listed(tenant) == []
