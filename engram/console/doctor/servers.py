"""Checks of the database, the broker and the processes that answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from smtplib import SMTPException
from typing import Any

import psycopg
from django.conf import settings
from django.core.mail import get_connection
from django.db import connection as django_connection

from engram.celery import app
from engram.console.doctor.check import CheckResult, Level, first_line
from engram.console.doctor.workspaces import (
    demo,
    detection,
    predictor,
    stored_settings,
    vector_indexes,
    webhooks,
)
from engram.console.health import readiness
from engram.kernel import heartbeat
from engram.supervisor.plan import running_supervisor

MAX_CLOCK_DIFFERENCE_SECONDS = 5
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


def server_findings() -> Iterator[CheckResult]:
    """Check the database, its content, the broker and the worker."""
    try:
        with connect() as connection:
            row = connection.execute("SELECT version(), clock_timestamp()").fetchone()
    except psycopg.Error as error:
        yield CheckResult("database", "fail", first_line(error), REMEDIES["database"])
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
            yield webhooks()
            yield stored_settings()
            yield mail()
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


def processes() -> CheckResult:
    """Check which processes had a heartbeat within a minute."""
    alive = sorted(heartbeat.kind_of(row) for row in heartbeat.recent_processes(datetime.now(UTC)))
    if "worker" in alive and "beat" not in alive:
        remedy = "celery --app engram.celery beat, exactly one"
        return CheckResult("processes", "warn", "the scheduler of sweeps is silent", remedy)
    counted = ", ".join(f"{alive.count(kind)} {kind}" for kind in sorted(set(alive)))
    return CheckResult("processes", "ok", counted or "none sends heartbeats")


def served(answers: Mapping[str, Sequence[Mapping[str, Any]]]) -> CheckResult:
    """Check that each queue is served by one of the workers that answered.

    `answers` holds the queues that each worker serves, by the worker's name.
    """
    names = {queue["name"] for queues in answers.values() for queue in queues}
    missing = sorted(set(settings.CELERY_TASK_QUEUES) - names)
    if missing:
        detail = f"no worker that answered serves the queue {' or '.join(missing)}"
        remedy = f"celery --app engram.celery worker --queues {','.join(missing)}"
        return CheckResult("worker", "fail", detail, remedy)
    return CheckResult("worker", "ok", ", ".join(sorted(answers)))


def mail() -> CheckResult:
    """Check that the mail server is reached and takes the account; nothing is sent."""
    if not settings.ENGRAM_SENDS_MAIL:
        return CheckResult("mail", "ok", "no mail server: digests are not mailed")
    connection = get_connection()
    try:
        connection.open()
        connection.close()
    except (OSError, SMTPException) as error:
        remedy = "see ENGRAM_EMAIL_HOST, _PORT, _SECURITY, _USER and _PASSWORD"
        return CheckResult("mail", "fail", first_line(error), remedy)
    return CheckResult("mail", "ok", f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}")


def worker() -> CheckResult:
    """Check that workers answer, and that each queue is served by one."""
    try:
        answers = app.control.inspect(timeout=PING_SECONDS).active_queues()
    except Exception as error:  # noqa: BLE001 (kombu raises whatever its transport raises)
        return CheckResult("worker", "fail", first_line(error), REMEDIES["broker"])
    if answers:
        return served(answers)
    must_run = settings.IS_PRODUCTION or running_supervisor(settings.ENGRAM_HOME) is not None
    remedy = "make up runs one; by hand: celery --app engram.celery worker"
    return CheckResult("worker", "fail" if must_run else "warn", "no worker answers", remedy)
