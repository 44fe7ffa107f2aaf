"""Commands on a database without tables say what to do, in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest

from tests.homes import PATIENCE_SECONDS, SOURCE


@pytest.fixture
def empty_database_url() -> Iterator[str]:
    """Return the URL of a database without tables."""
    url = os.environ["DATABASE_URL"]
    name = f"test_engram_{os.getpid()}_empty"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield f"{url.rpartition('/')[0]}/{name}"
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_a_command_without_tables_names_the_way_out(empty_database_url: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "create_key", "--workspace", "x"],
        cwd=SOURCE,
        env={**os.environ, "DATABASE_URL": empty_database_url},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("engram: the database lacks tables")
    assert "manage.py migrate" in done.stderr
    assert done.stderr.count("\n") == 1
