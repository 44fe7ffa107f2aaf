"""Check the installation and suggest how to fix problems."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import psycopg
from django.conf import settings
from django.db import Error
from django.db import connection as django_connection

from engram import embedded
from engram.console.health import readiness, without_passwords
from engram.embedded.broker import find_program
from engram.embedded.places import make_home
from engram.embedded.postgres import find_wheel
from engram.supervisor.account import REMEDY, choose_account
from engram.supervisor.plan import running_supervisor

Level = Literal["ok", "warn", "fail"]

WARN_FREE_BYTES = 2 * 1024**3
FAIL_FREE_BYTES = 200 * 1024**2
MAX_CLOCK_DIFFERENCE_SECONDS = 5
OLDEST_REDIS = (5, 0)
PING_SECONDS = 1.5
CONNECT_SECONDS = 5

WELL = {
    "row_security": "the role cannot bypass it",
    "pgvector": "installed",
    "migrations": "all applied",
    "broker": "answers",
}
REMEDIES = {
    "row_security": "connect as a role without SUPERUSER and BYPASSRLS that owns the database",
    "pgvector": "as a superuser of that database: CREATE EXTENSION vector",
    "migrations": "manage.py migrate",
    "broker": "start Redis, or correct BROKER_URL; commits wait in the database meanwhile",
    "database": "start PostgreSQL, or correct DATABASE_URL",
}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str
    level: Level
    detail: str
    remedy: str = ""


def examine() -> Iterator[CheckResult]:
    """Run all checks in order of dependency; skip those whose base has failed."""
    yield python_version()
    home = home_folder(settings.ENGRAM_HOME)
    yield home
    if home.level == "fail":
        return
    yield free_space(settings.ENGRAM_HOME)
    yield postgres_binaries()
    yield redis_binaries()
    services = services_start()
    yield services
    yield user(settings.ENGRAM_HOME)
    if services.level != "fail":
        yield from server_findings()
    yield static_files()
    yield proxies()
    yield embedding_model()
    yield language_model()
    yield port(os.environ.get("ENGRAM_HOST", "127.0.0.1"), settings.ENGRAM_PORT)


def python_version() -> CheckResult:
    """Check the interpreter."""
    version = sys.version.split()[0]
    if (3, 11) <= sys.version_info[:2] <= (3, 12):
        return CheckResult("python", "ok", version)
    return CheckResult("python", "fail", version, "use Python 3.11 or 3.12: rm -r .venv; make up")


def home_folder(home: Path) -> CheckResult:
    """Check that ENGRAM_HOME can be written to."""
    try:
        make_home(home)
        probe = home / f".doctor-{os.getpid()}"
        probe.write_text("")
        probe.unlink()
    except (embedded.EmbeddedServicesError, OSError) as error:
        return CheckResult("home", "fail", str(error), "set ENGRAM_HOME to a folder of your own")
    return CheckResult("home", "ok", str(home))


def free_space(home: Path) -> CheckResult:
    """Check the disk below ENGRAM_HOME."""
    free = shutil.disk_usage(home).free
    detail = f"{free / 1024**3:.1f} GB free below {home}"
    if free < FAIL_FREE_BYTES:
        return CheckResult(
            "disk", "fail", detail, "free some space: PostgreSQL stops when it is full"
        )
    if free < WARN_FREE_BYTES:
        return CheckResult("disk", "warn", detail, "free some space soon")
    return CheckResult("disk", "ok", detail)


def postgres_binaries() -> CheckResult:
    """Check the embedded PostgreSQL, where it is used."""
    if not _is_embedded("postgres"):
        return CheckResult("postgres", "ok", "DATABASE_URL names a server")
    try:
        return CheckResult("postgres", "ok", _version_of(find_wheel() / "bin" / "postgres"))
    except (embedded.EmbeddedServicesError, OSError, subprocess.SubprocessError) as error:
        return CheckResult("postgres", "fail", str(error), "rm .venv/installed-*; make up")


def redis_binaries() -> CheckResult:
    """Check the embedded Redis, where it is used."""
    if not _is_embedded("redis"):
        return CheckResult("redis", "ok", "BROKER_URL names a server")
    try:
        version = _version_of(find_program())
    except (embedded.EmbeddedServicesError, OSError, subprocess.SubprocessError) as error:
        return CheckResult(
            "redis", "fail", str(error), "apt-get install redis-server, or BROKER_URL"
        )
    number = version.partition("v=")[2].split(" ")[0]
    if number and tuple(int(part) for part in number.split(".")[:2]) < OLDEST_REDIS:
        return CheckResult("redis", "fail", version, "Redis 5 or newer is needed")
    return CheckResult("redis", "ok", version.partition(" sha=")[0])


def _is_embedded(name: str) -> bool:
    """Return whether the variable of a service is unset, or was set by Engram itself."""
    return name in embedded.missing_services() | embedded.held_services()


def _version_of(program: Path) -> str:
    done = subprocess.run(  # noqa: S603
        [program, "--version"], capture_output=True, text=True, timeout=10, check=True
    )
    return done.stdout.strip()


def services_start() -> CheckResult:
    """Check that the embedded services that are needed can be started."""
    try:
        embedded.export_environment()
    except embedded.EmbeddedServicesError as error:
        logs = settings.ENGRAM_HOME / "logs"
        return CheckResult("services", "fail", str(error), f"see {logs}")
    held = embedded.held_services()
    return CheckResult("services", "ok", f"embedded: {', '.join(sorted(held)) or 'none needed'}")


def user(home: Path) -> CheckResult:
    """Check that `up` started by root can give web, worker and beat a user without its rights."""
    account = choose_account(home, os.environ, embedded.held_services())
    if account.why_root:
        detail = f"started by root, web, worker and beat run as root: {account.why_root}"
        return CheckResult("user", "warn", detail, REMEDY)
    if account.user:
        detail = f"started by root, web, worker and beat run as user id {account.user.uid}"
        return CheckResult("user", "ok", detail)
    return CheckResult("user", "ok", f"everything runs as you, user id {os.geteuid()}")


def server_findings() -> Iterator[CheckResult]:
    """Check the database, its content, the broker and the worker."""
    try:
        with connect() as connection:
            row = connection.execute("SELECT version(), clock_timestamp()").fetchone()
    except psycopg.Error as error:
        yield CheckResult("database", "fail", _first_line(error), REMEDIES["database"])
        return
    version, clock = row if row else ("", datetime.now(UTC))
    yield CheckResult("database", "ok", str(version).partition(" on ")[0])
    yield clock_difference(clock, datetime.now(UTC))
    for check in readiness():
        name = check["name"]
        if name == "database" and check["ok"]:
            continue
        level: Level = "ok" if check["ok"] else "fail"
        detail = check["detail"] or WELL.get(name, "")
        yield CheckResult(name, level, detail, "" if check["ok"] else REMEDIES.get(name, ""))
        if name == "migrations" and check["ok"]:
            yield detection()
            yield vector_indexes()
            yield demo()
            yield predictor()
            yield processes()
        if name == "broker" and check["ok"]:
            yield worker()


def connect() -> psycopg.Connection[Any]:
    """Connect once without the pool, which hides the reason of failures."""
    parameters = django_connection.get_connection_params()
    return psycopg.connect(**{"connect_timeout": CONNECT_SECONDS, **parameters})


def clock_difference(theirs: datetime, ours: datetime) -> CheckResult:
    """Check that the clocks of the database and this machine agree."""
    seconds = abs((ours - theirs).total_seconds())
    detail = f"{seconds:.1f} s between the database and here"
    if seconds > MAX_CLOCK_DIFFERENCE_SECONDS:
        return CheckResult(
            "clock", "fail", detail, "set both clocks by NTP: stories are told in order"
        )
    return CheckResult("clock", "ok", detail)


def detection() -> CheckResult:
    """Check that the detective could read every memory."""
    from conflicts.services.detection import backlog
    from engram.kernel.models import Workspace
    from engram.kernel.tenancy import in_workspace

    kept = {}
    for workspace in Workspace.objects.all():
        with in_workspace(workspace):
            if count := backlog.set_aside().count():
                kept[workspace.slug] = count
    if not kept:
        return CheckResult("detection", "ok", "no memory was set aside")
    detail = ", ".join(f"{count} set aside in {slug}" for slug, count in sorted(kept.items()))
    remedy = "see the runs that failed and the worker's log, then manage.py detect --workspace W"
    return CheckResult("detection", "warn", detail, remedy)


def predictor() -> CheckResult:
    """Check that the learned ranking is not switched off in any workspace because of failures."""
    from engram.kernel.models import Workspace
    from engram.kernel.tenancy import in_workspace
    from predictor.services.serving import breaker
    from predictor.services.state import state_of

    now = datetime.now(UTC)
    disabled, served = [], 0
    for workspace in Workspace.objects.all():
        with in_workspace(workspace):
            state = state_of()
        served += state.served is not None
        if breaker.is_open(state, now):
            disabled.append(workspace.slug)
    if not disabled:
        return CheckResult("predictor", "ok", f"{served} workspaces have a trained model")
    detail = f"scoring failed too often in {', '.join(sorted(disabled))}: the baseline serves"
    remedy = "see GET /analytics/errors?stage=predictor_score; it is tried again within an hour"
    return CheckResult("predictor", "warn", detail, f"{remedy}, or POST /predictor/enable")


def demo() -> CheckResult:
    """Check that a production installation has no demo user and keys."""
    from engram.console.demo import ways_in

    found = ways_in()
    if not settings.IS_PRODUCTION or not found:
        return CheckResult("demo", "ok", ", ".join(found) or "none")
    detail = f"this production can be entered by the demo: {', '.join(found)}"
    return CheckResult("demo", "fail", detail, "manage.py remove_demo")


def processes() -> CheckResult:
    """Check which processes had a heartbeat within a minute."""
    from engram.kernel import heartbeat

    alive = sorted(heartbeat.kind_of(row) for row in heartbeat.recent_processes(datetime.now(UTC)))
    if "worker" in alive and "beat" not in alive:
        remedy = "celery --app engram.celery beat, exactly one"
        return CheckResult("processes", "warn", "the scheduler of sweeps is silent", remedy)
    counted = ", ".join(f"{alive.count(kind)} {kind}" for kind in sorted(set(alive)))
    return CheckResult("processes", "ok", counted or "none tells of itself")


def vector_indexes() -> CheckResult:
    """Check that every model in use has a vector index."""
    from engram.kernel.models import Workspace
    from memories.services.index.search_index import has_vector_index, width_in_use

    missing = set()
    for workspace in Workspace.objects.all():
        width = width_in_use(workspace)
        if width is not None and not has_vector_index(workspace.embedding_model, width):
            missing.add(workspace.embedding_model)
    if not missing:
        return CheckResult("vectors", "ok", "an index for every model in use")
    detail = f"no index over the vectors of {', '.join(sorted(missing))}: large searches are slow"
    remedy = "start the worker, which makes it within a minute or two of work"
    return CheckResult("vectors", "warn", detail, remedy)


def worker() -> CheckResult:
    """Check that a worker answers."""
    from engram.celery import app

    try:
        answers = app.control.ping(timeout=PING_SECONDS)
    except Exception as error:  # noqa: BLE001 (kombu raises whatever its transport raises)
        return CheckResult("worker", "fail", _first_line(error), REMEDIES["broker"])
    if answers:
        return CheckResult(
            "worker", "ok", ", ".join(sorted(name for row in answers for name in row))
        )
    must_run = settings.IS_PRODUCTION or running_supervisor(settings.ENGRAM_HOME) is not None
    remedy = "make up runs one; by hand: celery --app engram.celery worker"
    return CheckResult("worker", "fail" if must_run else "warn", "no worker answers", remedy)


def static_files() -> CheckResult:
    """Check that styles and scripts are collected and current."""
    from engram.console.static_files import are_collected

    if are_collected():
        return CheckResult("static", "ok", str(settings.STATIC_ROOT))
    return CheckResult("static", "warn", "not collected or out of date", "manage.py up --prepare")


def proxies() -> CheckResult:
    """Check that a production installation names the proxies that terminate https."""
    named = settings.ENGRAM_TRUSTED_PROXIES
    if named or not settings.SECURE_SSL_REDIRECT:
        return CheckResult("proxies", "ok", f"believed: {', '.join(named) or 'none'}")
    detail = "http is sent to https, and no proxy may say that a request came by https"
    remedy = "ENGRAM_TRUSTED_PROXIES=the proxy's address, or ENGRAM_SSL_REDIRECT=0"
    return CheckResult("proxies", "warn", detail, remedy)


def embedding_model() -> CheckResult:
    """Check that every model in use embeds a text."""
    from engram.kernel import embedding

    details = []
    for model in sorted({embedding.model_name(), *_models_in_use()}):
        started = time.perf_counter()
        try:
            vectors = embedding.embed(["Is anybody there?"], model)
        except embedding.EmbeddingUnavailableError as error:
            remedy = (
                "rm .venv/installed-*; make up; or correct EMBEDDING_PROVIDER and its variables"
            )
            return CheckResult("embedding", "fail", str(error), remedy)
        milliseconds = (time.perf_counter() - started) * 1000
        details.append(f"{model}, {vectors.shape[1]} dimensions, {milliseconds:.0f} ms")
    return CheckResult("embedding", "ok", "; ".join(details))


def _models_in_use() -> list[str]:
    from memories.services.index.search_index import models_in_use

    try:
        return models_in_use()
    except Error:  # reported by the check of the database
        return []


def language_model() -> CheckResult:
    """Check whether a language model is configured; it is optional."""
    from engram.kernel import llm

    name = llm.model_name()
    if name:
        return CheckResult("model", "ok", f"{name} reads stories and judges sessions")
    return CheckResult(
        "model", "ok", "none is configured: rules read, and sessions are judged offline"
    )


def port(host: str, number: int) -> CheckResult:
    """Check that the port is free or used by Engram."""
    if running := running_supervisor(settings.ENGRAM_HOME):
        return CheckResult("port", "ok", f"Engram runs: {running}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, number))
        except OSError as error:
            remedy = "stop what uses it, or set ENGRAM_PORT"
            return CheckResult("port", "warn", f"{host}:{number}: {error.strerror}", remedy)
    return CheckResult("port", "ok", f"{host}:{number} is free")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return without_passwords(lines[0]) if lines else type(error).__name__


def as_json(findings: list[CheckResult]) -> str:
    """Return the results as JSON."""
    return json.dumps([asdict(finding) for finding in findings], indent=1)


def as_lines(findings: list[CheckResult], paint: Callable[[str, Level], str]) -> Iterator[str]:
    """Return the results as text."""
    for finding in findings:
        yield f"{paint(f'{finding.level:<5}', finding.level)} {finding.name:<13} {finding.detail}"
        if finding.level != "ok" and finding.remedy:
            yield f"      {'':<13} -> {finding.remedy}"
