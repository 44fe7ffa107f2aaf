"""Health checks: database, row-level security, migrations, broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict
from urllib.parse import unquote

import redis
from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from psycopg_pool import PoolTimeout

from engram.kernel.squashed import missing_migrations

SHORT_PASSWORD_CHARS = 4


class Check(TypedDict):
    """The result of one health check."""

    name: str
    ok: bool
    detail: str


def readiness() -> list[Check]:
    """Run the checks of everything that a request needs."""
    return [
        _look("database", _database),
        _look("row_security", _row_security),
        _look("pgvector", _pgvector),
        _look("migrations", _migrations),
        _look("broker", _broker),
    ]


def broker_check() -> Check:
    """Check only the broker."""
    return _look("broker", _broker)


def without_passwords(text: str) -> str:
    """Return a text without the passwords of the database and the broker."""
    for url in (settings.DATABASE_URL, settings.BROKER_URL, settings.REDIS_URL):
        _, has_user, rest = url.partition("://")
        user, at, _ = rest.rpartition("@")
        written = user.partition(":")[2] if has_user and at else ""
        for password in {written, unquote(written)} - {""}:
            text = text.replace(f":{password}@", ":***@")
            if len(password) >= SHORT_PASSWORD_CHARS:  # a shorter one would match in ordinary words
                text = text.replace(password, "***")
    return text


def _look(name: str, look: Callable[[], str]) -> Check:
    """Run one check, which returns the problem or ""."""
    try:
        problem = look()
    except (Error, PoolTimeout, redis.RedisError, OSError) as error:
        message = str(error).splitlines()[0] if str(error) else ""
        problem = f"{type(error).__name__}: {without_passwords(message)}"
    return {"name": name, "ok": not problem, "detail": problem}


def _one(sql: str) -> tuple[object, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        row: tuple[object, ...] | None = cursor.fetchone()
        return row


def _database() -> str:
    return "" if _one("SELECT 1") else "no answer"


def _row_security() -> str:
    row = _one("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
    if row and row[0]:
        return "the role may bypass row-level security; connect as a plain role"
    return ""


def _pgvector() -> str:
    if _one("SELECT 1 FROM pg_extension WHERE extname = 'vector'"):
        return ""
    return "the extension is missing: CREATE EXTENSION vector, as a superuser, in this database"


def _migrations() -> str:
    if problem := missing_migrations():
        return problem
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(plan)} migrations are not applied: manage.py migrate" if plan else ""


def _broker() -> str:
    if not settings.REDIS_URL.startswith(("redis", "unix")):
        return ""
    with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1) as client:
        return "" if client.ping() else "no answer"
