"""The gate's figures, and the audit they rest on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.core.metrics import wilson
from memories.models import Merge, RecallDay
from tests.conftest import Tenant

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."


def merge_some(tenant: Tenant, n: int) -> None:
    for number in range(n):
        for content in (PLAIN, FINER):
            tenant.agent.post("memories", {"content": content, "scope": f"s{number}"})


def metrics(tenant: Tenant, **period: Any) -> Any:
    return tenant.reader.get("gate/metrics", period).json()


def audited(tenant: Tenant) -> list[Any]:
    rows: list[Any] = tenant.reader.get("gate/audit").json()["results"]
    return rows


def test_an_empty_workspace_has_figures_that_know_nothing(
    tenant: Tenant, neighbour: Tenant
) -> None:
    merge_some(neighbour, 1)
    found = metrics(tenant, weeks=2)
    assert (found["commits"], found["merged"], found["suggestions_open"]) == (0, 0, 0)
    nothing = {"share": None, "low": 0.0, "high": 1.0, "n": 0}
    assert [found[k] for k in ("trigger_rate", "noise_share", "false_merge_rate")] == [nothing] * 3
    assert [week["commits"] for week in found["weeks"]] == [0] * len(found["weeks"])


def test_commits_are_counted_by_outcome(tenant: Tenant) -> None:
    merge_some(tenant, 2)
    tenant.agent.post("memories", {"content": PLAIN, "scope": "z", "provenance": "user_stated"})
    tenant.agent.post("memories", {"content": FINER, "scope": "z"})
    tenant.agent.post("memories", {"content": FINER, "scope": "z"})
    tenant.agent.post("memories", {"content": "The deploy never runs on Thursday.", "scope": "z"})
    found = metrics(tenant)
    counted = [found[k] for k in ("commits", "merged", "suggested", "duplicates", "kept_apart")]
    assert counted == [8, 2, 1, 1, 1]
    assert found["trigger_rate"]["share"] == 4 / 8
    assert found["redundant_a_week"] == pytest.approx(1 / 12)
    (week,) = [week for week in found["weeks"] if week["commits"]]
    assert (week["commits"], week["triggered"], week["redundant"]) == (8, 4, 1)


def test_noise_is_a_share_of_what_recalls_returned(tenant: Tenant) -> None:
    today = timezone.now().date()
    with in_workspace(tenant.workspace):
        for days, (returned, noise) in enumerate([(10, 1), (30, 9)]):
            RecallDay.objects.create(
                day=today - timedelta(days=days), recalls=5, returned=returned, noise=noise
            )
        RecallDay.objects.create(day=today - timedelta(days=400), recalls=5, returned=50, noise=50)
    share = metrics(tenant)["noise_share"]
    assert (share["share"], share["n"]) == (0.25, 40)
    expected = wilson(10, 40)
    assert (share["low"], share["high"]) == (expected.low, expected.high)


def test_noise_of_many_days_is_resampled_by_day(tenant: Tenant) -> None:
    today = timezone.now().date()
    with in_workspace(tenant.workspace):
        for days in range(8):
            RecallDay.objects.create(
                day=today - timedelta(days=days), recalls=1, returned=10, noise=10 * (days < 4)
            )
    share = metrics(tenant)["noise_share"]
    assert (share["share"], share["n"]) == (0.5, 80)
    assert share["low"] < wilson(40, 80).low  # days are fewer than memories
    assert metrics(tenant)["noise_share"] == share


def test_false_merges_are_those_judged_wrong_or_split(tenant: Tenant) -> None:
    merge_some(tenant, 3)
    rows = audited(tenant)
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    assert {(row["before"], row["after"], row["statement"]) for row in rows} == {
        (PLAIN, FINER, FINER)
    }
    assert metrics(tenant)["false_merge_rate"]["n"] == 0
    tenant.reviewer.post(f"gate/audit/{rows[0]['id']}", {"correct": True})
    wrong = tenant.reviewer.post(f"gate/audit/{rows[1]['id']}", {"correct": False})
    assert (wrong.json()["correct"], wrong.json()["split_at"]) == (False, None)
    tenant.agent.post(
        f"memories/{rows[2]['memory_id']}/split", {"observation_id": rows[2]["observation_id"]}
    )
    assert audited(tenant) == []
    expected = wilson(2, 3)
    assert metrics(tenant)["false_merge_rate"] == {
        "share": expected.mean, "low": expected.low, "high": expected.high, "n": 3,
    }  # fmt: skip


def test_a_wrong_merge_is_split_when_asked(tenant: Tenant) -> None:
    merge_some(tenant, 1)
    (row,) = audited(tenant)
    path = f"gate/audit/{row['id']}"
    assert tenant.reviewer.post(path, {"correct": True, "split": True}).status_code == 422
    judged = tenant.reviewer.post(path, {"correct": False, "split": True}).json()
    assert judged["split_at"] is not None
    contents = [m["content"] for m in tenant.reader.get("memories").json()["results"]]
    assert sorted(contents) == sorted([PLAIN, FINER])
    again = tenant.reviewer.post(path, {"correct": False, "split": True})
    assert again.status_code == 200
    assert tenant.reviewer.post(path, {"correct": True}).status_code == 409


def test_a_split_by_a_judgement_locks_memories_before_the_merge(tenant: Tenant) -> None:
    """As every split does: two at once wait for each other, and neither deadlocks."""
    merge_some(tenant, 1)
    (row,) = audited(tenant)
    body, key = {"correct": False, "split": True}, {"Idempotency-Key": "once"}
    with CaptureQueriesContext(connection) as asked:
        tenant.reviewer.post(f"gate/audit/{row['id']}", body, **key)
    locks = [query["sql"] for query in asked if "FOR NO KEY UPDATE" in query["sql"]]
    tables = [sql.split('FROM "')[1].split('"')[0] for sql in locks]
    assert tables.index("memories_memory") < tables.index("memories_merge")


def test_a_judgement_may_be_changed_and_history_tells(tenant: Tenant) -> None:
    merge_some(tenant, 1)
    (row,) = audited(tenant)
    for correct in (False, False, True):
        tenant.reviewer.post(f"gate/audit/{row['id']}", {"correct": correct})
    told = tenant.reader.get("events", {"type": "merge.audited"}).json()["results"]
    assert [event["data"]["correct"] for event in told] == [True, False]
    with in_workspace(tenant.workspace):
        assert Merge.objects.get().is_correct is True


def test_the_audit_shows_nothing_of_forgotten_memories(tenant: Tenant) -> None:
    merge_some(tenant, 1)
    (row,) = audited(tenant)
    tenant.agent.post("memories/forget", {"ids": [row["memory_id"]], "confirm": True})
    assert audited(tenant) == []
    judged = tenant.reviewer.post(f"gate/audit/{row['id']}", {"correct": True})
    assert "Thursday" not in judged.content.decode()
    assert "14:00" not in judged.content.decode()


@pytest.mark.parametrize(
    "period",
    [{"weeks": 0}, {"weeks": 261}, {"weeks": "x"}, {"since": "1800-01-01"}, {"since": "2999-01-01"},
     {"weeks": 2, "since": "2026-01-01T00:00:00Z"}],
)  # fmt: skip
def test_impossible_periods_are_refused(tenant: Tenant, period: dict[str, Any]) -> None:
    assert tenant.reader.get("gate/metrics", period).status_code == 422
