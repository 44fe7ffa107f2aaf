"""Memories that recalls return together: counted once, decaying, bounded, erased."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.core import co_recall
from memories.models import CoRecall, Memory
from memories.services.recall import log
from tests.conftest import NOW, Tenant, build_tenant
from tests.memories.test_associations_recall import ask, fill, led_to

FALCON = "When does Falcon fly?"


def note(tenant: Tenant, ids: list[str], days: float = 0) -> None:
    """Record and count one recall that returned these memories, some days ago."""
    with in_workspace(tenant.workspace):
        pks = [
            next(iter(Memory.objects.filter(pk=one).values_list("pk", flat=True))) for one in ids
        ]
        at = NOW - timedelta(days=days)
        log.note_recall(pks, relevant=pks, noise_count=0, session_key="", now=at)
    log.count_recalls(tenant.workspace)


def pairs(tenant: Tenant) -> dict[frozenset[str], float]:
    with in_workspace(tenant.workspace):
        rows = CoRecall.objects.values_list("first_id", "second_id", "weight")
        return {frozenset([str(a), str(b)]): weight for a, b, weight in rows}


def test_the_leading_results_of_a_recall_are_pairs(tenant: Tenant) -> None:
    ids = fill(tenant, "Tulips bloom.", "Rain falls.", "Bread rises.", "Ice melts.")
    note(tenant, ids)
    leading = ids[: co_recall.LEADING]
    expected = {frozenset([a, b]) for a in leading for b in leading if a < b}
    assert pairs(tenant) == dict.fromkeys(expected, co_recall.STEP)
    log.count_recalls(tenant.workspace)  # a record counts once
    assert set(pairs(tenant).values()) == {co_recall.STEP}


def test_a_recall_without_a_cut_teaches_only_of_what_passes_the_usual_one(tenant: Tenant) -> None:
    fill(tenant, "Falcon flies at dawn.", "Falcon flies at dusk.", "Tulips bloom.", "Ice melts.")
    ids = {
        min_score: [
            one["memory"]["id"]
            for one in ask(tenant, FALCON, k=4, min_score=min_score, record=True)["results"]
        ]
        for min_score in ("auto", None)
    }
    log.count_recalls(tenant.workspace)
    assert (len(ids["auto"]), len(ids[None])) == (2, 4)
    assert pairs(tenant) == {frozenset(ids["auto"]): 2 * co_recall.STEP}


def test_a_pin_that_does_not_fit_the_query_is_no_pair(tenant: Tenant) -> None:
    fill(tenant, "Falcon flies at dawn.")
    fill(tenant, "Tulips bloom.", is_pinned=True)
    answer = ask(tenant, FALCON, k=4, min_score="auto", record=True)
    log.count_recalls(tenant.workspace)
    assert len(answer["results"]) == 2
    assert pairs(tenant) == {}


def test_a_pair_decays_until_it_is_reinforced(tenant: Tenant) -> None:
    ids = fill(tenant, "Tulips bloom.", "Rain falls.")
    note(tenant, ids, days=30)
    note(tenant, ids)
    assert pairs(tenant) == {frozenset(ids): pytest.approx(1.5 * co_recall.STEP)}
    with in_workspace(tenant.workspace):
        pair = CoRecall.objects.get()
        assert (pair.since, pair.reinforced_at) == (NOW - timedelta(days=30), NOW)


def test_a_memory_keeps_its_strongest_pairs(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "PAIRS_KEPT", 2)
    ids = fill(tenant, "Tulips bloom.", "Rain falls.", "Bread rises.", "Ice melts.")
    for other, days in zip(ids[1:], ((9, 8, 7), (6,), (5, 4)), strict=True):
        for age in days:
            note(tenant, [ids[0], other], days=age)
    assert set(pairs(tenant)) == {frozenset([ids[0], ids[1]]), frozenset([ids[0], ids[3]])}


def test_pairs_are_walked_once_they_are_strong(tenant: Tenant) -> None:
    start, other = fill(tenant, "Falcon flies at dawn.", "Tulips bloom.")
    with in_workspace(tenant.workspace):
        first, second = sorted([start, other])
        row = CoRecall.objects.create(
            first_id=first, second_id=second, weight=co_recall.LEAST_WALKED / 2,
            since=timezone.now(), reinforced_at=timezone.now(),
        )  # fmt: skip
    assert other not in led_to(ask(tenant, "When does Falcon fly?", graph=True))
    with in_workspace(tenant.workspace):
        CoRecall.objects.filter(first=row.first_id).update(weight=1.0)
    assert led_to(ask(tenant, "When does Falcon fly?", graph=True))[other] == [start, other]


def test_pairs_of_another_workspace_are_not_seen_and_erased_memories_leave_none(
    tenant: Tenant,
) -> None:
    other = build_tenant("other-pairs")
    ids = fill(tenant, "Tulips bloom.", "Rain falls.")
    note(tenant, ids)
    assert pairs(other) == {}
    assert tenant.admin.delete(f"memories/{ids[0]}").status_code == 204
    assert pairs(tenant) == {}
