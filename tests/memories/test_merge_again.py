"""A judged merge waits again when its judgement is undone; a split by it is undone exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from conflicts.models import Conflict
from engram.kernel.actors import Actor
from engram.kernel.models import Event, Role
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge, MergeSuggestion, Observation, Revision
from memories.services.gate import audit
from memories.services.gate.audit import sample, take_back
from tests.conftest import Tenant
from tests.console.cards import ask
from tests.memories.test_split import FINER, PLAIN, commit, merged_observation, shown
from tests.memories.test_split import split as split_off

THIRD = "The deploy runs on Thursday at 14:00 UTC via Jenkins."
PIA = Actor(kind="user", id="1", label="pia", role=Role.REVIEWER)
COUNTED = ("recall_count", "injected_count", "hit_count", "used_count")


def merged(tenant: Tenant, *, rich: bool = True) -> str:
    """Let the gate merge a statement into a memory; return the memory."""
    more = {"tags": ["b"], "metadata": {"y": 2}, "pinned": True, "confidence": 0.9} if rich else {}
    memory = commit(tenant, PLAIN, tags=["a"], metadata={"x": 1}, confidence=0.4)["memory"]["id"]
    assert commit(tenant, FINER, source="runbook", **more)["outcome"] == "merged"
    return str(memory)


def merge_of(tenant: Tenant, content: str = FINER) -> Merge:
    with in_workspace(tenant.workspace):
        return Merge.objects.get(observation__content=content)


def judge(tenant: Tenant, merge: Merge, *, right: bool) -> None:
    body = {"correct": right, "split": not right}
    assert tenant.reviewer.post(f"gate/audit/{merge.pk}", body).status_code == 200


def undo(tenant: Tenant, merge: Merge) -> None:
    take_back(tenant.workspace, merge.pk, actor=PIA, now=timezone.now())


def test_a_judgement_is_undone_by_the_api(tenant: Tenant, neighbour: Tenant) -> None:
    memory = merged(tenant)
    merge = merge_of(tenant)
    before = world(tenant, memory)
    path = f"gate/audit/{merge.pk}/undo"
    refused = tenant.reviewer.post(path)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/nothing-to-undo")
    judge(tenant, merge, right=False)
    assert tenant.agent.post(path).status_code == 403
    assert neighbour.reviewer.post(path).status_code == 404
    answer = tenant.reviewer.post(path)
    assert (answer.status_code, answer.json()["id"]) == (200, str(merge.pk))
    assert answer.json()["correct"] is None
    assert world(tenant, memory) == before


def world(tenant: Tenant, memory: str) -> dict[str, Any]:
    """Return all that a merge makes of a workspace, without what history adds."""
    with in_workspace(tenant.workspace):
        found, merges = Memory.objects.get(pk=memory), Merge.objects.order_by("pk")
        return {
            "shown": shown(tenant.reader.get(f"memories/{memory}").json()),
            "counts": [getattr(found, name) for name in COUNTED],
            "live": sorted(str(pk) for pk in Memory.objects.recallable().values_list("pk")),
            "merges": list(merges.values("pk", "before", "after", "split_at")),
            "observed": list(Observation.objects.order_by("pk").values_list("pk", "memory")),
            "suggestions": list(MergeSuggestion.objects.values_list("pk", "status")),
            "waiting": [row.pk for row in sample()],
        }


def other_of(tenant: Tenant, memory: str) -> Memory:
    with in_workspace(tenant.workspace):
        return Memory.objects.exclude(pk=memory).get()


def test_a_split_by_a_judgement_is_undone_exactly(tenant: Tenant) -> None:
    memory = merged(tenant)
    merge, before = merge_of(tenant), world(tenant, memory)
    judge(tenant, merge, right=False)
    assert world(tenant, memory)["shown"]["content"] == PLAIN
    other = other_of(tenant, memory)
    undo(tenant, merge)
    assert world(tenant, memory) == before
    found = tenant.reader.post("memories/recall", {"query": "When does the deploy run?"}).json()
    assert [row["memory"]["content"] for row in found["results"]] == [FINER]
    hidden = other_of(tenant, memory)
    assert (str(hidden.superseded_by_id), hidden.pk) == (memory, other.pk)
    assert hidden.superseded_at == merge.created_at
    assert commit(tenant, FINER)["outcome"] == "duplicate"


def test_history_tells_of_the_undo_and_who_it_was(tenant: Tenant) -> None:
    memory = merged(tenant)
    merge = merge_of(tenant)
    judge(tenant, merge, right=False)
    undo(tenant, merge)
    told = tenant.reader.get(f"memories/{memory}/history").json()["results"]
    assert [(one["type"], one["actor"]) for one in told[:2]] == [
        ("merge.audit_undone", "pia"), ("memory.merged", "pia"),
    ]  # fmt: skip
    assert told[0]["data"] == {"merge": str(merge.pk), "correct": False}
    assert told[1]["content"] == PLAIN  # the wording before
    of_other = tenant.reader.get(f"memories/{other_of(tenant, memory).pk}/history").json()
    assert of_other["results"][0]["type"] == "memory.superseded"
    figures = tenant.reader.get("gate/metrics").json()
    assert (figures["splits"], figures["false_merge_rate"]["n"]) == (0, 0)
    judge(tenant, merge_of(tenant), right=False)
    figures = tenant.reader.get("gate/metrics").json()
    assert (figures["splits"], figures["false_merge_rate"]["n"]) == (1, 1)


def test_changes_by_hand_and_later_merges_are_as_they_were(tenant: Tenant) -> None:
    memory = merged(tenant)
    tenant.agent.patch(f"memories/{memory}", {"tags": ["a"], "metadata": {"x": 1}})
    assert commit(tenant, THIRD, tags=["c"], confidence=0.5)["outcome"] == "merged"
    tenant.agent.patch(f"memories/{memory}", {"importance": 0.7})
    before = world(tenant, memory)
    judge(tenant, merge_of(tenant), right=False)
    undo(tenant, merge_of(tenant))
    after = world(tenant, memory)
    assert after["shown"] == before["shown"]
    assert after["shown"]["tags"] == ["a", "c"]
    assert after["live"] == before["live"]
    judge(tenant, merge_of(tenant, THIRD), right=False)
    assert world(tenant, memory)["shown"]["content"] == FINER


def test_records_of_later_merges_are_as_they_were(tenant: Tenant) -> None:
    memory = merged(tenant)
    assert commit(tenant, THIRD, tags=["c"], confidence=0.5)["outcome"] == "merged"
    before = world(tenant, memory)
    judge(tenant, merge_of(tenant), right=False)
    assert world(tenant, memory)["merges"] != before["merges"]
    undo(tenant, merge_of(tenant))
    assert world(tenant, memory) == before


def test_a_merge_that_a_person_made_is_restored_with_its_counters(tenant: Tenant) -> None:
    older = commit(tenant, PLAIN, provenance="user_stated")["memory"]["id"]
    newer = commit(tenant, FINER)["memory"]["id"]
    with in_workspace(tenant.workspace):
        for pk, count in ((older, 3), (newer, 4)):
            Memory.objects.filter(pk=pk).update(recall_count=count)
        suggestion = MergeSuggestion.objects.get().pk
    tenant.reviewer.post(f"merge-suggestions/{suggestion}/accept", {})
    with in_workspace(tenant.workspace):
        merge, hidden = Merge.objects.get(), Memory.objects.get(pk=newer)
    before = world(tenant, older)
    judge(tenant, merge, right=False)
    assert world(tenant, older)["counts"][0] == 3
    undo(tenant, merge)
    assert world(tenant, older) == before
    assert before["counts"][0] == 7
    assert other_of(tenant, older).superseded_at == hidden.superseded_at


def test_a_judgement_without_a_split_only_waits_again(tenant: Tenant) -> None:
    memory = merged(tenant)
    merge, before = merge_of(tenant), world(tenant, memory)
    judge(tenant, merge, right=True)
    assert world(tenant, memory)["waiting"] == []
    undo(tenant, merge)
    assert world(tenant, memory) == before
    with pytest.raises(StaleError, match="no judgement to undo"):
        undo(tenant, merge)


def test_a_split_that_no_judgement_made_stays(tenant: Tenant) -> None:
    memory = merged(tenant, rich=False)
    split_off(tenant, memory, merged_observation(tenant, memory, FINER))
    merge = merge_of(tenant)
    tenant.reviewer.post(f"gate/audit/{merge.pk}", {"correct": False})
    undo(tenant, merge)
    after = merge_of(tenant)
    assert (after.is_correct, after.split_at is not None) == (None, True)
    assert other_of(tenant, memory).superseded_at is None


def test_it_is_taken_apart_and_forgotten_as_any_merge(tenant: Tenant) -> None:
    memory = merged(tenant)
    merge = merge_of(tenant)
    judge(tenant, merge, right=False)
    apart = world(tenant, memory)
    undo(tenant, merge)
    judge(tenant, merge, right=False)
    again = world(tenant, memory)
    for name in ("shown", "live", "observed", "counts"):
        assert again[name] == apart[name]
    undo(tenant, merge)
    tenant.admin.post("memories/forget", {"ids": [memory], "confirm": True})
    assert other_of(tenant, memory).forgotten_at is not None


Change = Callable[[Tenant, str, str], Any]
CHANGES: dict[str, Change] = {
    "survivor revised": lambda t, one, _: t.admin.patch(f"memories/{one}", {"tags": ["z"]}),
    "other revised": lambda t, _, two: t.admin.patch(f"memories/{two}", {"importance": 0.1}),
    "other forgotten": lambda t, _, two: t.admin.post(
        "memories/forget", {"ids": [two], "confirm": True}
    ),
    "survivor forgotten": lambda t, one, _: t.admin.post(
        "memories/forget", {"ids": [one], "confirm": True}
    ),
    "other committed again": lambda t, *_: commit(t, FINER),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_since_stays_apart_with_its_judgement(tenant: Tenant, change: str) -> None:
    memory = merged(tenant, rich=False)
    merge = merge_of(tenant)
    judge(tenant, merge, right=False)
    CHANGES[change](tenant, memory, str(other_of(tenant, memory).pk))
    before = merge_of(tenant)
    with pytest.raises(StaleError, match="changed, hidden or committed again since"):
        undo(tenant, merge)
    after = merge_of(tenant)
    assert (after.is_correct, after.split_at) == (False, before.split_at)
    with in_workspace(tenant.workspace):
        assert Memory.objects.exclude(superseded_at=None).count() == 0


def fail_to_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the record of a judgement, which is written after the memories, fail."""

    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(audit, "record", fail)


def test_an_undo_that_fails_half_way_changes_nothing(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = merged(tenant)
    merge = merge_of(tenant)
    judge(tenant, merge, right=False)
    before, events = world(tenant, memory), event_count(tenant)
    with monkeypatch.context() as patch:
        fail_to_record(patch)
        with pytest.raises(ZeroDivisionError):
            undo(tenant, merge)
    assert (world(tenant, memory), event_count(tenant)) == (before, events)
    assert merge_of(tenant).is_correct is False
    undo(tenant, merge)
    assert merge_of(tenant).is_correct is None


def test_a_judgement_that_fails_half_way_splits_nothing(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = merged(tenant)
    merge = merge_of(tenant)
    before, events = world(tenant, memory), event_count(tenant)
    fail_to_record(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        audit.audit(
            tenant.workspace, merge.pk,
            is_correct=False, is_split=True, actor=PIA, now=timezone.now(),
        )  # fmt: skip
    assert (world(tenant, memory), event_count(tenant)) == (before, events)
    assert merge_of(tenant).is_correct is None


def event_count(tenant: Tenant) -> int:
    with in_workspace(tenant.workspace):
        return Event.objects.count()


def test_an_undo_under_a_key_is_done_once(tenant: Tenant) -> None:
    memory = merged(tenant)
    merge, before = merge_of(tenant), world(tenant, memory)
    judge(tenant, merge, right=False)
    path, key = f"gate/audit/{merge.pk}/undo", {"Idempotency-Key": "once"}
    first = tenant.reviewer.post(path, **key)
    again = tenant.reviewer.post(path, **key)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert world(tenant, memory) == before


def test_an_open_conflict_of_the_two_is_answered_first(tenant: Tenant) -> None:
    memory = merged(tenant, rich=False)
    merge = merge_of(tenant)
    judge(tenant, merge, right=False)
    other = other_of(tenant, memory)
    with in_workspace(tenant.workspace):
        both = [Memory.objects.get(pk=memory), other]
    card = ask(tenant.workspace, both, yes=other)
    with pytest.raises(StaleError, match=f"Conflict {card.pk} asks"):
        undo(tenant, merge)
    with in_workspace(tenant.workspace):
        Conflict.objects.filter(pk=card.pk).update(status="dismissed")
    undo(tenant, merge)
    assert other_of(tenant, memory).superseded_at is not None


def test_a_split_of_an_earlier_release_is_not_undone(tenant: Tenant) -> None:
    memory = merged(tenant, rich=False)
    merge = merge_of(tenant)
    judge(tenant, merge, right=False)
    with in_workspace(tenant.workspace):
        kept = Revision.objects.get(memory=memory, reason="split")
        del kept.fields["metadata"]
        kept.save()
    with pytest.raises(StaleError, match="earlier release"):
        undo(tenant, merge)


def test_another_workspaces_judgement_is_not_found(tenant: Tenant, neighbour: Tenant) -> None:
    memory = merged(neighbour, rich=False)
    merge = merge_of(neighbour)
    judge(neighbour, merge, right=False)
    before = world(neighbour, memory)
    for pk in (merge.pk, UUID(int=7)):
        with pytest.raises(MissingError):
            take_back(tenant.workspace, pk, actor=PIA, now=timezone.now())
    assert world(neighbour, memory) == before
