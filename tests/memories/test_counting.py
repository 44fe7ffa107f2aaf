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
from memories.services.recall.log import count_recalls, sweep, waiting
from memories.services.recall.recall import Query, recall
from tests.conftest import NOW, House, build_house
from tests.kernel.test_routes import EXPECTED, furnish
from tests.memories.aged import SUBJECTS, remember
from tests.memories.test_concurrency import CALLERS, at_once

# A row that is locked (`FOR UPDATE`) is not written.
WRITES = re.compile(r"INSERT INTO|DELETE FROM|(?<!FOR )(?<!KEY )UPDATE ")
LATE = datetime(2026, 5, 4, 23, 59, 59, tzinfo=UTC)
NEXT_DAY = datetime(2026, 5, 5, 0, 0, 1, tzinfo=UTC)


def log_recall(house: House, ids: list[Any], *, noise: int = 0, at: datetime = NOW) -> None:
    with in_workspace(house.workspace):
        RecallRecord.objects.create(memory_ids=ids, noise_count=noise, at=at)


def count_of(house: House, memory: Memory) -> int:
    with in_workspace(house.workspace):
        return Memory.objects.get(pk=memory.pk).recall_count


def writes(queries: CaptureQueriesContext) -> list[str]:
    """Return the statements that wrote rows, but for the use counts of keys."""
    said = [query["sql"] for query in queries]
    return [sql for sql in said if WRITES.search(sql) and "kernel_apikey" not in sql]


def test_each_returned_memory_counts_once_per_recall(house: House) -> None:
    twice, once = (remember(house.workspace, content) for content in SUBJECTS[:2])
    log_recall(house, [twice.pk, once.pk, twice.pk])
    log_recall(house, [twice.pk])
    assert count_recalls(house.workspace) == 2
    assert (count_of(house, twice), count_of(house, once)) == (2, 1)
    assert count_recalls(house.workspace) == 0
    assert (count_of(house, twice), count_of(house, once)) == (2, 1)


def test_days_tell_recalls_results_and_noise(house: House) -> None:
    first, second = (remember(house.workspace, content) for content in SUBJECTS[:2])
    log_recall(house, [first.pk, second.pk], noise=1, at=LATE)
    log_recall(house, [first.pk], at=LATE)
    log_recall(house, [second.pk], noise=1, at=NEXT_DAY)
    count_recalls(house.workspace)
    log_recall(house, [second.pk], at=LATE)
    count_recalls(house.workspace)
    with in_workspace(house.workspace):
        days = RecallDay.objects.order_by("day").values_list("day", "recalls", "returned", "noise")
        assert list(days) == [(date(2026, 5, 4), 3, 4, 1), (date(2026, 5, 5), 1, 1, 1)]


def test_recall_notes_what_scored_below_the_noise_score(house: House) -> None:
    remember(house.workspace, SUBJECTS[0])
    for score, noise in ((1.0, 1), (0.0, 0)):
        house.workspace.settings = {"noise_score": score}
        house.workspace.__dict__.pop("config", None)
        recall(house.workspace, Query("marble from the lift"), now=NOW)
        with in_workspace(house.workspace):
            newest = RecallRecord.objects.order_by("-pk").first()
            assert newest is not None
            assert (len(newest.memory_ids), newest.noise_count) == (1, noise)


def test_an_unrecorded_recall_writes_nothing(house: House) -> None:
    remember(house.workspace, SUBJECTS[0])
    house.reader.post("memories/recall", {"query": SUBJECTS[0]})
    with CaptureQueriesContext(connection) as silent:
        answer = house.reader.post("memories/recall", {"query": SUBJECTS[0], "record": False})
    assert len(answer.json()["results"]) == 1
    assert writes(silent) == []
    with CaptureQueriesContext(connection) as logged:
        house.reader.post("memories/recall", {"query": SUBJECTS[0]})
    assert len(writes(logged)) == 1


def test_reading_never_writes(house: House) -> None:
    ids = furnish(house)
    for route, methods in EXPECTED.items():
        if "get" not in methods:
            continue
        with CaptureQueriesContext(connection) as queries:
            house.admin.get(ids.fill(route))
        assert writes(queries) == [], route


def test_what_was_erased_meanwhile_is_not_in_the_way(house: House) -> None:
    kept, gone = (remember(house.workspace, content) for content in SUBJECTS[:2])
    log_recall(house, [gone.pk, kept.pk])
    with in_workspace(house.workspace):
        Memory.objects.filter(pk=gone.pk).delete()
    assert count_recalls(house.workspace) == 1
    assert count_of(house, kept) == 1


def test_sweep_asks_only_workspaces_with_recalls_and_counts_all(
    house: House, neighbour: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "RECORDS_A_TURN", 2)
    ours, theirs = remember(house.workspace), remember(neighbour.workspace)
    assert waiting() == []
    for _ in range(5):
        log_recall(house, [ours.pk])
    assert waiting() == [house.workspace.pk]
    log_recall(neighbour, [theirs.pk])
    assert sweep() == 6
    assert (count_of(house, ours), count_of(neighbour, theirs)) == (5, 1)
    assert waiting() == []


def test_looking_for_work_leaves_the_served_workspace_as_it_was(house: House) -> None:
    memory = remember(house.workspace)
    log_recall(house, [memory.pk])
    with in_workspace(house.workspace):
        assert waiting() == [house.workspace.pk]
        assert Memory.objects.count() == 1


def test_a_workspace_that_fails_does_not_keep_the_others_from_being_counted(
    house: House, neighbour: House, caplog: pytest.LogCaptureFixture
) -> None:
    full, theirs = remember(house.workspace), remember(neighbour.workspace)
    with in_workspace(house.workspace):
        Memory.objects.update(recall_count=2**31 - 1)
    log_recall(house, [full.pk])
    log_recall(neighbour, [theirs.pk])
    assert sweep() == 1
    assert count_of(neighbour, theirs) == 1
    assert str(house.workspace.pk) in caplog.text
    with in_workspace(house.workspace):
        assert RecallRecord.objects.count() == 1


@pytest.fixture
def shared_house(transactional_db: None) -> House:
    """Return a workspace that several connections see."""
    return build_house("busy")


def test_sweeps_at_once_count_each_recall_once(shared_house: House) -> None:
    memories = [remember(shared_house.workspace, content) for content in SUBJECTS]
    for _ in range(40):
        log_recall(shared_house, [memory.pk for memory in memories])
    assert sum(at_once(lambda n: count_recalls(shared_house.workspace))) == 40
    assert [count_of(shared_house, memory) for memory in memories] == [40] * len(memories)
    with in_workspace(shared_house.workspace):
        day = RecallDay.objects.get()
        assert (day.recalls, day.returned) == (40, 40 * len(memories))


def test_recalls_during_sweeps_are_neither_lost_nor_doubled(shared_house: House) -> None:
    memory = remember(shared_house.workspace)

    def work(number: int) -> int:
        for _ in range(10):
            recall(shared_house.workspace, Query(SUBJECTS[0]), now=NOW)
            if number % 2:
                count_recalls(shared_house.workspace)
        return 0

    at_once(work)
    count_recalls(shared_house.workspace)
    assert count_of(shared_house, memory) == CALLERS * 10


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


def test_a_sweep_killed_before_its_commit_loses_and_doubles_nothing(shared_house: House) -> None:
    memory = remember(shared_house.workspace)
    for _ in range(3):
        log_recall(shared_house, [memory.pk])
    with subprocess.Popen(
        [
            sys.executable, "-c", DYING_SWEEP, database_url(), str(shared_house.workspace.pk),
            log.COUNT,
        ],
        stdout=subprocess.PIPE, text=True,
    ) as sweeper:  # fmt: skip
        assert sweeper.stdout is not None
        assert sweeper.stdout.readline() == "3\n"
        # While one sweep holds the records, another leaves them to it.
        assert count_recalls(shared_house.workspace) == 0
        os.kill(sweeper.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    counted = 0
    while not counted and time.monotonic() < deadline:
        counted = count_recalls(shared_house.workspace)
        time.sleep(0.05)
    assert counted == 3
    assert count_of(shared_house, memory) == 3
    assert count_recalls(shared_house.workspace) == 0


def test_a_recall_is_kept_when_its_process_is_killed_before_the_sweep(shared_house: House) -> None:
    memory = remember(shared_house.workspace)
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
        [sys.executable, "-c", script, str(shared_house.workspace.pk),
         connection.settings_dict["NAME"]],
        check=False, env=os.environ | {"DJANGO_SETTINGS_MODULE": "engram.settings"},
    )  # fmt: skip
    assert died.returncode == -signal.SIGKILL
    assert count_recalls(shared_house.workspace) == 1
    assert count_of(shared_house, memory) == 1
