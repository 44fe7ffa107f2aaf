"""Hundreds of memories that disagree are one short card, read in time linear in their number."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.core import ambiguities, clash_groups, detective, pair_finder
from conflicts.core.facts import Fact
from conflicts.core.parts import MAX_MEMBERS
from conflicts.models import Conflict, DetectionLease
from conflicts.services.detection import detect
from conflicts.services.detection.detect import detect_due
from engram.kernel import lease
from engram.kernel.actors import SYSTEM
from engram.kernel.lease import lease_of
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.commit.commit import commit_all
from memories.services.commit.draft import Draft
from memories.services.lifecycle import forget
from tests.conftest import Tenant
from tests.homes import eventually

START = datetime(2026, 1, 1, tzinfo=UTC)
VALUES = MAX_MEMBERS + 8


def write(tenant: Tenant, *values: int) -> list[str]:
    drafts = [
        Draft(
            content=f"The upload limit of the gateway is {value} MB.",
            observed_at=START + timedelta(hours=value),
        )
        for value in values
    ]
    done = commit_all(tenant.workspace, drafts, actor=SYSTEM, now=timezone.now(), is_gated=False)
    return [str(one.memory.id) for one in done if one.memory is not None]


def read_cards(tenant: Tenant) -> list[dict[str, Any]]:
    runs = detect_due(tenant.workspace, clock=timezone.now)
    assert all(run.status == "done" for run in runs)
    found: list[dict[str, Any]] = tenant.reader.get("conflicts", {"status": "open"}).json()[
        "results"
    ]
    return found


def ids_of(card: dict[str, Any]) -> set[str]:
    return {memory["id"] for memory in card["memories"]}


def test_a_card_lists_the_newest_and_counts_the_others(
    tenant: Tenant, member: Callable[[str], Client]
) -> None:
    ids = write(tenant, *range(10, 10 + VALUES))
    [card] = read_cards(tenant)
    assert len(ids_of(card)) == MAX_MEMBERS
    assert ids[-1] in ids_of(card)
    assert card["unlisted_count"] == VALUES - MAX_MEMBERS
    assert "8 more memories disagree" in card["reasoning"]
    page = member("reviewer").get(f"/console/conflicts/{card['id']}/").content.decode()
    assert "8 more memories disagree and are not listed here." in page
    assert "And 8 more:" in page


def test_a_new_value_is_counted_on_the_card_whose_version_stays(tenant: Tenant) -> None:
    write(tenant, *range(10, 10 + VALUES))
    [before] = read_cards(tenant)
    write(tenant, 90)
    [after] = read_cards(tenant)
    assert (after["id"], after["version"]) == (before["id"], before["version"])
    assert after["unlisted_count"] == before["unlisted_count"] + 1


@pytest.mark.parametrize("verdict", ["keep", "none_valid", "dismiss", "both_valid"])
def test_what_a_decided_card_only_counted_is_asked_about_next(tenant: Tenant, verdict: str) -> None:
    ids = write(tenant, *range(10, 10 + VALUES))
    [first] = read_cards(tenant)
    body = {"verdict": verdict} | ({"keep": [ids[-1]]} if verdict == "keep" else {})
    assert tenant.reviewer.post(f"conflicts/{first['id']}/resolve", body).status_code == 200
    cards = read_cards(tenant)
    if verdict in {"dismiss", "both_valid"}:
        assert cards == []
    else:
        assert set(ids) - ids_of(first) <= set().union(*map(ids_of, cards))


def test_a_forgotten_memory_is_not_asked_about_next(tenant: Tenant) -> None:
    ids = write(tenant, *range(10, 10 + VALUES))
    [first] = read_cards(tenant)
    counted = sorted(set(ids) - ids_of(first))
    forget.forget(tenant.workspace, [UUID(counted[0])], actor=SYSTEM, now=timezone.now())
    tenant.reviewer.post(f"conflicts/{first['id']}/resolve", {"verdict": "none_valid"})
    [second] = read_cards(tenant)
    assert ids_of(second) == set(counted[1:])


def test_forgotten_memories_count_again_only_once_they_are_restored(
    tenant: Tenant, member: Callable[[str], Client]
) -> None:
    ids = write(tenant, *range(10, 10 + VALUES))
    [card] = read_cards(tenant)
    counted = sorted(set(ids) - ids_of(card))
    forgotten = tenant.agent.post("memories/forget", {"ids": counted, "confirm": True})
    assert forgotten.status_code == 200
    [card] = read_cards(tenant)
    assert (card["unlisted_count"], "not listed" in card["reasoning"]) == (0, False)
    page = member("reviewer").get(f"/console/conflicts/{card['id']}/").content.decode()
    assert "not listed here" not in page
    assert "once this card is decided" not in page
    restored = tenant.admin.post("memories/restore", {"ids": counted[:1]})
    assert restored.status_code == 200, restored.content
    [card] = read_cards(tenant)
    assert card["unlisted_count"] == 1
    assert card["reasoning"].endswith("1 more memory disagrees and is not listed here.")


def test_an_erased_memory_is_counted_by_no_card(tenant: Tenant) -> None:
    ids = write(tenant, *range(10, 10 + VALUES))
    [before] = read_cards(tenant)
    gone, hidden, *_ = sorted(set(ids) - ids_of(before))
    forget.forget(tenant.workspace, [UUID(hidden)], actor=SYSTEM, now=timezone.now())
    assert tenant.admin.delete(f"memories/{gone}").status_code == 204
    [after] = read_cards(tenant)
    assert after["unlisted_count"] == VALUES - MAX_MEMBERS - 2
    names = ("version", "question")
    assert [after[name] for name in names] == [before[name] for name in names]
    with in_workspace(tenant.workspace):
        card = Conflict.objects.get()
        assert len(card.unlisted) == VALUES - MAX_MEMBERS - 1
        assert Memory.objects.filter(lineage__in=card.unlisted, pk=hidden).exists()


def test_twenty_cards_cost_the_queries_of_one(tenant: Tenant) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            assert tenant.reader.get("conflicts").status_code == 200
        return len(caught)

    write(tenant, *range(10, 10 + VALUES))
    read_cards(tenant)
    before = queries()
    with in_workspace(tenant.workspace):
        card = Conflict.objects.get()
        now = timezone.now()
        Conflict.objects.bulk_create(
            Conflict(
                kind=card.kind, question=card.question, rule=card.rule, detected_by=["rules"],
                unlisted=card.unlisted[number % 4 :], created_at=now, updated_at=now,
            )
            for number in range(19)
        )  # fmt: skip
    shown = tenant.reader.get("conflicts").json()["results"]
    counts = sorted({one["unlisted_count"] for one in shown})
    assert (len(shown), counts) == (20, [5, 6, 7, 8])
    assert queries() == before


def test_joining_compares_in_proportion_to_the_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    find = ambiguities.find_clash

    def count(*args: Any) -> Any:
        compared.append(1)
        return find(*args)

    for module in (pair_finder, clash_groups):
        monkeypatch.setattr(module, "find_clash", count)
    of_subject = clash_groups.are_of_one_subject
    monkeypatch.setattr(
        clash_groups, "are_of_one_subject", lambda notes: compared.append(1) or of_subject(notes)
    )

    def compare(size: int) -> int:
        compared.clear()
        facts = [
            Fact(
                str(i), str(i), f"The upload limit of the gateway is {i + 10} MB.", "team", "", "a",
                f"s{i}", START + timedelta(hours=i), "user_stated",
            )
            for i in range(size)
        ]  # fmt: skip
        rng = np.random.default_rng(0)
        vectors = rng.normal(size=(size, 16)) * 0.1 + 1
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        found = detective.detect(facts, vectors, now=START + timedelta(days=90))
        assert max(len(one.fact_ids) for one in found) == MAX_MEMBERS
        named = {i for one in found for i in (*one.fact_ids, *one.unlisted)}
        assert named == {fact.id for fact in facts}
        return len(compared)

    assert compare(160) < 2.5 * compare(80)


def test_a_runner_renews_its_lease_while_it_reads(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tenant, 10, 20)
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    renewals: list[Any] = []
    renew = lease.renew

    def count(*args: Any) -> bool:
        renewals.append(args)
        return renew(*args)

    monkeypatch.setattr(lease, "renew", count)
    long = detect.detect_in_turn

    def read(*args: Any, **named: Any) -> Any:
        before = len(renewals)
        assert eventually(lambda: len(renewals) > before)
        return long(*args, **named)

    monkeypatch.setattr(detect, "detect_in_turn", read)
    [run] = detect_due(tenant.workspace, clock=timezone.now)
    assert run.status == "done"
    with in_workspace(tenant.workspace):
        assert Conflict.objects.count() == 1
    assert lease_of(DetectionLease, tenant.workspace.pk).get().holder is None
