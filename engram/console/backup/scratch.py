"""Restore a backup into a database that is made for it and dropped afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
from django.conf import settings
from psycopg import sql

from engram.console.backup.manifest import BackupError
from engram.console.backup.target import database_name
from engram.console.health import without_passwords

PREFIX = "engram_scratch_"


def verify(path: Path) -> None:
    """Restore a backup into a scratch database; raise `BackupError` unless it becomes equal.

    A process of its own restores it: migrations use the database of their process.
    """
    with _scratch_database() as url:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "manage.py", "restore", str(path.resolve()), "--scratch"],
            cwd=settings.BASE_DIR,
            env={**os.environ, "DATABASE_URL": url, "BROKER_URL": settings.BROKER_URL},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it ended without a message"]
        raise BackupError(f"The restore into a scratch database failed: {lines[-1]}")


def refuse_other_than_scratch() -> None:
    """Raise `BackupError` unless the database of this process is one that `verify` made."""
    name = database_name()
    if not name.startswith(PREFIX):
        raise BackupError(f"The database {name} is no scratch database; nothing was changed.")


def url_of_database(url: str, name: str) -> str:
    """Return the URL of another database on the server of a `postgres://` URL."""
    parts = urlsplit(url)
    # Without a host, urlunsplit writes `//` only for schemes that somebody registered with it.
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}/{name}{query}"


@contextmanager
def _scratch_database() -> Iterator[str]:
    """Yield the URL of an empty database with pgvector, and drop it."""
    name = f"{PREFIX}{uuid4().hex[:12]}"
    url = url_of_database(settings.DATABASE_URL, name)
    try:
        with psycopg.connect(settings.DATABASE_URL, autocommit=True) as server:
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            try:
                with psycopg.connect(url, autocommit=True) as scratch:
                    scratch.execute("CREATE EXTENSION IF NOT EXISTS vector")
                yield url
            finally:
                drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
                server.execute(drop.format(sql.Identifier(name)))
    except psycopg.Error as error:
        message = without_passwords(str(error).strip().splitlines()[0])
        raise BackupError(
            f"There is no scratch database: {message}. It needs a role with CREATEDB, and pgvector "
            "in template1 where the role may not create extensions."
        ) from None
