"""A canary in every column of a workspace is nowhere after its deletion: dump, broker, files."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import DatabaseError, connection, models, transaction
from django.test import Client
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from engram import embedded
from engram.embedded.postgres import find_wheel
from engram.kernel.actors import SYSTEM
from engram.kernel.deletion import close_workspace, delete_turn
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from engram.kernel.workspace_rows import workspace_tables
from tests.conftest import NOW, Caller
from tests.console.transfer_world import full_workspace
from tests.memories.test_erase import commit, redis_keys_holding

CANARY = "zyzzyvaquux"
OTHERS = "The lighthouse keeper is called Quillfeather."


def plant(workspace: Workspace) -> set[str]:
    """Write the canary into every column of a row of each table that takes it; return the tables.

    Not by services: whatever they will write one day is to go, too.
    """
    planted = set()
    with in_workspace(workspace):
        for model in workspace_tables():
            table = connection.ops.quote_name(model._meta.db_table)
            for field in model._meta.local_concrete_fields:
                value = _canary_for(field)
                if value is None:
                    continue
                column = connection.ops.quote_name(field.column)
                row = f"(SELECT ctid FROM {table} WHERE workspace_id = %s LIMIT 1)"  # noqa: S608
                try:
                    with transaction.atomic(), connection.cursor() as cursor:
                        cursor.execute(
                            f"UPDATE {table} SET {column} = %s WHERE ctid = {row}",  # noqa: S608
                            [value, workspace.pk],
                        )
                        if cursor.rowcount:
                            planted.add(model._meta.db_table)
                except DatabaseError:  # a constraint that no such text passes
                    continue
    return planted


def _canary_for(field: models.Field[object, object]) -> str | None:
    if isinstance(field, models.JSONField):
        return f'{{"{CANARY}": "{CANARY}"}}'
    if isinstance(field, (models.CharField, models.TextField)) and not field.choices:
        return CANARY if (field.max_length or 99) >= len(CANARY) else None
    return None


@contextmanager
def readable_copy() -> Iterator[str]:
    """Copy the test database to one in which its owner sees the rows of all workspaces."""
    source = connection.settings_dict["NAME"]
    copy = f"{source}_dump"
    connection.close()
    connection.close_pool()
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{copy}"')
        server.execute(f'CREATE DATABASE "{copy}" TEMPLATE "{source}"')
        try:
            url = make_conninfo(settings.DATABASE_URL, dbname=copy)
            with psycopg.connect(url, autocommit=True) as inside:
                tables = inside.execute("SELECT tablename FROM pg_tables WHERE rowsecurity")
                for (name,) in tables.fetchall():
                    inside.execute(f'ALTER TABLE "{name}" NO FORCE ROW LEVEL SECURITY')
            yield url
        finally:
            server.execute(f'DROP DATABASE "{copy}" WITH (FORCE)')


def dump_of(url: str) -> str:
    """Return a whole dump of a database as SQL."""
    parts = conninfo_to_dict(url)
    environment = os.environ | {"PGPASSWORD": str(parts.get("password", ""))}
    names = {"host": "--host", "port": "--port", "user": "--username", "dbname": "--dbname"}
    options = [f"{option}={parts[name]}" for name, option in names.items() if parts.get(name)]
    program = find_wheel() / "bin" / "pg_dump"
    done = subprocess.run(
        [program, "--inserts", *options], capture_output=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def tables_in(dump: str, needle: str) -> set[str]:
    """Return the tables into which the dump inserts a text."""
    found, current = set(), ""
    for line in dump.splitlines():
        if begun := re.match(r"INSERT INTO public\.(\w+)", line):
            current = begun[1]
        if needle in line:
            found.add(current)
    return found


def files_holding(needle: str, home: Path) -> list[str]:
    """Return the files of a home that hold a text, but for those of the database server itself."""
    return [
        str(path)
        for path in home.rglob("*")
        if path.is_file() and "postgres" not in path.relative_to(home).parts
        if needle.encode() in path.read_bytes()
    ]


@pytest.mark.usefixtures("transactional_db")
def test_a_deleted_workspace_is_nowhere() -> None:
    workspace, token = full_workspace("doomed")
    other, other_token = full_workspace("kept")
    neighbour = Caller(other_token, Client(raise_request_exception=True))
    commit(neighbour, OTHERS)
    planted = plant(workspace)
    assert len(planted) > 45
    with readable_copy() as url:
        dump = dump_of(url)
    assert tables_in(dump, CANARY) == planted | {"kernel_workspace"} & tables_in(dump, CANARY)
    kept_before = tables_in(dump, str(other.pk))
    assert tables_in(dump, str(workspace.pk)) >= planted

    row = close_workspace(workspace, "doomed", actor=SYSTEM, now=NOW)
    assert delete_turn(row.pk, clock=lambda: NOW, seconds=300)

    with readable_copy() as url:
        dump = dump_of(url)
    assert tables_in(dump, CANARY) == set()
    assert tables_in(dump, "doomed") <= {"auth_user"}  # the name of a member's account
    assert tables_in(dump, str(workspace.pk)) == {"kernel_workspacedeletion"}
    assert tables_in(dump, str(other.pk)) == kept_before
    assert tables_in(dump, "Quillfeather") >= {"memories_memory", "memories_observation"}
    assert redis_keys_holding(CANARY) == []
    assert files_holding(CANARY, embedded.home_folder()) == []
    assert token not in dump
