"""Real processes that tell of themselves: by a thread, once, also at their end and in forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from engram.kernel.models import ApiKey, LatencyHour, WorkerPulse, WorkerTally
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant, build_tenant
from tests.homes import PATIENCE_SECONDS, eventually

BEGIN = """
import os, sys, time
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")
import django; django.setup()
from datetime import UTC, datetime
from uuid import UUID
from django.db import connection
workspace, connection.settings_dict["NAME"] = UUID(sys.argv[1]), sys.argv[2]
from engram.kernel import heartbeat, telemetry
"""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    return build_tenant("acme")


@contextmanager
def process(code: str, tenant: Tenant, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Run code in a process of its own until the block ends."""
    arguments = [str(tenant.workspace.pk), str(connection.settings_dict["NAME"]), *more]
    started = subprocess.Popen(
        [sys.executable, "-c", BEGIN + code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate(timeout=PATIENCE_SECONDS)


def names() -> set[str]:
    return set(WorkerPulse.objects.values_list("name", flat=True))


def counts(tenant: Tenant) -> dict[str, int]:
    with in_workspace(tenant.workspace):
        return {row.stage: sum(row.counts) for row in LatencyHour.objects.all()}


def tallies(tenant: Tenant) -> dict[str, int]:
    with in_workspace(tenant.workspace):
        return {row.worker: row.count for row in WorkerTally.objects.all()}


def test_a_process_is_seen_and_what_it_counted_is_written_while_it_runs(tenant: Tenant) -> None:
    code = """
heartbeat.begin("worker")
telemetry.observe("commit", 0.1, workspace)
print(heartbeat.own_name(), flush=True)
time.sleep(60)
"""
    with process(code, tenant) as running:
        assert running.stdout is not None
        name = running.stdout.readline().strip()
        assert name.startswith("worker@")
        assert name.endswith(f"/{running.pid}")
        assert eventually(lambda: names() == {name})
        assert eventually(lambda: counts(tenant) == {"commit": 1})
        os.kill(running.pid, signal.SIGKILL)
        running.wait(timeout=PATIENCE_SECONDS)
        assert names() == {name}  # it could not take its row away: silence tells


def test_a_process_that_ends_writes_what_is_left_and_takes_its_row_away(tenant: Tenant) -> None:
    code = """
heartbeat.begin("worker")
time.sleep(1)
telemetry.observe("commit", 0.1, workspace)
"""
    with process(code, tenant) as running:
        running.communicate(timeout=PATIENCE_SECONDS)
        assert running.returncode == 0
    assert counts(tenant) == {"commit": 1}
    assert names() == set()


def test_requests_of_keys_are_written_while_the_process_runs_and_at_its_end(
    tenant: Tenant,
) -> None:
    code = """
from engram.kernel import keys
used = keys.find(sys.argv[3])
now = datetime.now(UTC)
keys.uses.count(used, now)
heartbeat.begin("worker")
sys.stdin.readline()
keys.uses.count(used, now)
"""
    with in_workspace(tenant.workspace):
        key = ApiKey.objects.get(name__endswith="reader")

    def used() -> int:
        with in_workspace(tenant.workspace):
            return ApiKey.objects.get(pk=key.pk).use_count

    before = used()
    with process(code, tenant, tenant.reader.token) as running:
        assert eventually(lambda: used() == before + 1)
        running.communicate("\n", timeout=PATIENCE_SECONDS)
        assert running.returncode == 0
    assert used() == before + 2


def test_a_command_writes_what_it_counted_when_it_ends(tenant: Tenant) -> None:
    with process('telemetry.observe("predictor_train", 0.1, workspace)', tenant) as running:
        running.communicate(timeout=PATIENCE_SECONDS)
    assert counts(tenant) == {"predictor_train": 1}
    assert names() == set()


def test_forks_count_for_themselves_and_nothing_twice(tenant: Tenant) -> None:
    code = """
telemetry.observe("commit", 0.1, workspace)  # the parent's: waits when the fork comes
child = os.fork()
heartbeat.begin("worker")
telemetry.observe("commit", 0.2, workspace)
heartbeat.end()
if child:
    os.waitpid(child, 0)
os._exit(0)
"""
    with process(code, tenant) as running:
        running.communicate(timeout=PATIENCE_SECONDS)
        parent = running.pid
    assert counts(tenant) == {"commit": 3}
    own = {name.rpartition("/")[2]: count for name, count in tallies(tenant).items()}
    assert own.pop(str(parent)) == 2
    assert list(own.values()) == [1]
    assert names() == set()


@pytest.mark.parametrize(
    ("hostname", "kind"),
    [("models@here", "models"), ("outgoing@here", "outgoing"), ("celery@here", "worker")],
)
def test_a_worker_of_threads_is_named_by_its_work(tenant: Tenant, hostname: str, kind: str) -> None:
    code = f"""
from engram.celery import app
app.conf.broker_url, app.conf.result_backend = "memory://", None
app.Worker(hostname="{hostname}", pool="threads", concurrency=1, queues=["none"]).start()
"""
    with process(code, tenant) as running:
        assert eventually(lambda: len(names()) == 1)
        assert next(iter(names())).startswith(f"{kind}@")
        running.send_signal(signal.SIGKILL)


def test_a_web_process_that_a_signal_ends_has_told_everything(tenant: Tenant) -> None:
    code = """
import uvicorn
from engram.asgi import application
telemetry.observe("recall", 0.1, workspace)
config = uvicorn.Config(application, port=0, log_level="warning")
uvicorn.Server(config).run()
"""
    with process(code, tenant) as running:
        assert eventually(lambda: len(names()) == 1)
        assert next(iter(names())).startswith("web@")
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=PATIENCE_SECONDS)
    assert counts(tenant) == {"recall": 1}
    assert names() == set()
