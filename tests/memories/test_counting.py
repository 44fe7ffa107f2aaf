"""The recall log: every recall counts once, whatever dies in between (census pitfalls 17, 40)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, RecallDay, RecallRecord
from memories.services.recall import log
from memories.services.recall.log import count_recalls, find_waiting, sweep
from memories.services.recall.recall import Query, recall
from tests.conftest import NOW, Tenant, build_tenant
from tests.homes import PATIENCE_SECONDS
from tests.kernel.test_routes import EXPECTED, furnish
from tests.memories.aged import SUBJECTS, remember
from tests.memories.test_concurrency import CALLERS, at_once

# A row that is locked (`FOR UPDATE`) is not written.
WRITES = re.compile(r"INSERT INTO|DELETE FROM|(?<!FOR )(?<!KEY )UPDATE ")
LATE = datetime(2026, 5, 4, 23, 59, 59, tzinfo=UTC)
NEXT_DAY = datetime(2026, 5, 5, 0, 0, 1, tzinfo=UTC)


def log_recall(tenant: Tenant, ids: list[Any], *, noise: int = 0, at: datetime = NOW) -> None:
    with in_workspace(tenant.workspace):
        RecallRecord.objects.create(memory_ids=ids, noise_count=noise, at=at)


def count_of(tenant: Tenant, memory: Memory) -> int:
    with in_workspace(tenant.workspace):
        return Memory.objects.get(pk=memory.pk).recall_count


def writes(queries: CaptureQueriesContext) -> list[str]:
    """Return the statements that wrote rows, but for the use counts of keys."""
    said = [query["sql"] for query in queries]
    return [sql for sql in said if WRITES.search(sql) and "kernel_apikey" not in sql]


def test_each_returned_memory_counts_once_per_recall(tenant: Tenant) -> None:
    twice, once = (remember(tenant.workspace, content) for content in SUBJECTS[:2])
    log_recall(tenant, [twice.pk, once.pk, twice.pk])
    log_recall(tenant, [twice.pk])
    assert count_recalls(tenant.workspace) == 2
    assert (count_of(tenant, twice), count_of(tenant, once)) == (2, 1)
    assert count_recalls(tenant.workspace) == 0
    assert (count_of(tenant, twice), count_of(tenant, once)) == (2, 1)


def test_days_tell_recalls_results_and_noise(tenant: Tenant) -> None:
    first, second = (remember(tenant.workspace, content) for content in SUBJECTS[:2])
    log_recall(tenant, [first.pk, second.pk], noise=1, at=LATE)
    log_recall(tenant, [first.pk], at=LATE)
    log_recall(tenant, [second.pk], noise=1, at=NEXT_DAY)
    count_recalls(tenant.workspace)
    log_recall(tenant, [second.pk], at=LATE)
    count_recalls(tenant.workspace)
    with in_workspace(tenant.workspace):
        days = RecallDay.objects.order_by("day").values_list("day", "recalls", "returned", "noise")
        assert list(days) == [(date(2026, 5, 4), 3, 4, 1), (date(2026, 5, 5), 1, 1, 1)]


def test_recall_notes_what_scored_below_the_noise_score(tenant: Tenant) -> None:
    remember(tenant.workspace, SUBJECTS[0])
    for score, noise in ((1.0, 1), (0.0, 0)):
        tenant.workspace.settings = {"noise_score": score}
        tenant.workspace.__dict__.pop("config", None)
        recall(tenant.workspace, Query("marble from the lift"), now=NOW)
        with in_workspace(tenant.workspace):
            newest = RecallRecord.objects.order_by("-pk").first()
            assert newest is not None
            assert (len(newest.memory_ids), newest.noise_count) == (1, noise)


def test_an_unrecorded_recall_writes_nothing(tenant: Tenant) -> None:
    remember(tenant.workspace, SUBJECTS[0])
    tenant.reader.post("memories/recall", {"query": SUBJECTS[0]})
    with CaptureQueriesContext(connection) as silent:
        answer = tenant.reader.post("memories/recall", {"query": SUBJECTS[0], "record": False})
    assert len(answer.json()["results"]) == 1
    assert writes(silent) == []
    with CaptureQueriesContext(connection) as logged:
        tenant.reader.post("memories/recall", {"query": SUBJECTS[0]})
    assert len(writes(logged)) == 1


def test_reading_never_writes(tenant: Tenant) -> None:
    ids = furnish(tenant)
    for route, methods in EXPECTED.items():
        if "get" not in methods:
            continue
        with CaptureQueriesContext(connection) as queries:
            tenant.admin.get(ids.fill(route))
        assert writes(queries) == [], route


def test_what_was_erased_meanwhile_is_not_in_the_way(tenant: Tenant) -> None:
    kept, gone = (remember(tenant.workspace, content) for content in SUBJECTS[:2])
    log_recall(tenant, [gone.pk, kept.pk])
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=gone.pk).delete()
    assert count_recalls(tenant.workspace) == 1
    assert count_of(tenant, kept) == 1


def test_sweep_asks_only_workspaces_with_recalls_and_counts_all(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "RECORDS_A_TURN", 2)
    ours, theirs = remember(tenant.workspace), remember(neighbour.workspace)
    assert find_waiting() == []
    for _ in range(5):
        log_recall(tenant, [ours.pk])
    assert find_waiting() == [tenant.workspace.pk]
    log_recall(neighbour, [theirs.pk])
    assert sweep() == 6
    assert (count_of(tenant, ours), count_of(neighbour, theirs)) == (5, 1)
    assert find_waiting() == []


def test_looking_for_work_leaves_the_served_workspace_as_it_was(tenant: Tenant) -> None:
    memory = remember(tenant.workspace)
    log_recall(tenant, [memory.pk])
    with in_workspace(tenant.workspace):
        assert find_waiting() == [tenant.workspace.pk]
        assert Memory.objects.count() == 1


def test_a_workspace_that_fails_does_not_keep_the_others_from_being_counted(
    tenant: Tenant, neighbour: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    full, theirs = remember(tenant.workspace), remember(neighbour.workspace)
    with in_workspace(tenant.workspace):
        Memory.objects.update(recall_count=2**31 - 1)
    log_recall(tenant, [full.pk])
    log_recall(neighbour, [theirs.pk])
    assert sweep() == 1
    assert count_of(neighbour, theirs) == 1
    assert str(tenant.workspace.pk) in caplog.text
    with in_workspace(tenant.workspace):
        assert RecallRecord.objects.count() == 1


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("busy")


def test_sweeps_at_once_count_each_recall_once(shared_tenant: Tenant) -> None:
    memories = [remember(shared_tenant.workspace, content) for content in SUBJECTS]
    for _ in range(40):
        log_recall(shared_tenant, [memory.pk for memory in memories])
    assert sum(at_once(lambda n: count_recalls(shared_tenant.workspace))) == 40
    assert [count_of(shared_tenant, memory) for memory in memories] == [40] * len(memories)
    with in_workspace(shared_tenant.workspace):
        day = RecallDay.objects.get()
        assert (day.recalls, day.returned) == (40, 40 * len(memories))


def test_recalls_during_sweeps_are_neither_lost_nor_doubled(shared_tenant: Tenant) -> None:
    memory = remember(shared_tenant.workspace)

    def work(number: int) -> int:
        for _ in range(10):
            recall(shared_tenant.workspace, Query(SUBJECTS[0]), now=NOW)
            if number % 2:
                count_recalls(shared_tenant.workspace)
        return 0

    at_once(work)
    count_recalls(shared_tenant.workspace)
    assert count_of(shared_tenant, memory) == CALLERS * 10


DYING_SWEEP = """
import sys, time, psycopg
url, workspace, statement = sys.argv[1:]
with psycopg.connect(url) as connection:
    connection.execute("SELECT set_config('engram.workspace', %s, true)", [workspace])
    rows = connection.execute(statement, {"workspace": workspace, "most": 5000}).fetchone()
    print(rows[0], flush=True)
    time.sleep(60)
"""


def database_url() -> str:
    said = connection.settings_dict
    parts = {"host": said["HOST"], "port": said["PORT"], "user": said["USER"]}
    parts |= {"password": said["PASSWORD"], "dbname": said["NAME"]}
    return " ".join(f"{name}={value}" for name, value in parts.items() if value)


def test_a_sweep_killed_before_its_commit_loses_and_doubles_nothing(shared_tenant: Tenant) -> None:
    memory = remember(shared_tenant.workspace)
    for _ in range(3):
        log_recall(shared_tenant, [memory.pk])
    with subprocess.Popen(
        [
            sys.executable, "-c", DYING_SWEEP, database_url(), str(shared_tenant.workspace.pk),
            log.COUNT,
        ],
        stdout=subprocess.PIPE, text=True,
    ) as sweeper:  # fmt: skip
        assert sweeper.stdout is not None
        assert sweeper.stdout.readline() == "3\n"
        # While one sweep holds the records, another leaves them to it.
        assert count_recalls(shared_tenant.workspace) == 0
        os.kill(sweeper.pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    counted = 0
    while not counted and time.monotonic() < deadline:
        counted = count_recalls(shared_tenant.workspace)
        time.sleep(0.05)
    assert counted == 3
    assert count_of(shared_tenant, memory) == 3
    assert count_recalls(shared_tenant.workspace) == 0


def test_a_recall_is_kept_when_its_process_is_killed_before_the_sweep(
    shared_tenant: Tenant,
) -> None:
    memory = remember(shared_tenant.workspace)
    script = (
        "import os, signal, sys, django; django.setup()\n"
        "from django.db import connection\n"
        "connection.settings_dict['NAME'] = sys.argv[2]\n"
        "from uuid import UUID\n"
        "from django.utils import timezone\n"
        "from engram.kernel.models import Workspace\n"
        "from memories.services.recall.recall import Query, recall\n"
        "workspace = Workspace.objects.get(pk=UUID(sys.argv[1]))\n"
        f"recall(workspace, Query({SUBJECTS[0]!r}), now=timezone.now())\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    died = subprocess.run(
        [sys.executable, "-c", script, str(shared_tenant.workspace.pk),
         connection.settings_dict["NAME"]],
        check=False, env=os.environ | {"DJANGO_SETTINGS_MODULE": "engram.settings"},
    )  # fmt: skip
    assert died.returncode == -signal.SIGKILL
    assert count_recalls(shared_tenant.workspace) == 1
    assert count_of(shared_tenant, memory) == 1
