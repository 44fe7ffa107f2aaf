"""The drill: an installation is backed up, lost and restored, and then answers as before."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engram import embedded
from engram.console.backup.manifest import MANIFEST
from engram.supervisor.plan import claim_home
from tests.e2e.installation import Installation
from tests.e2e.test_up import Up
from tests.homes import ENVIRONMENT, SOURCE, eventually, processes_of, throw_away
from tests.prepared_home import prepare

FACTS = (
    "The kiln in the pottery studio fires at 1240 degrees.",
    "The kiln in the pottery studio fires at 1180 degrees.",
    "Celadon glaze is mixed from feldspar, silica and a little iron oxide.",
    "Overdue library books cost twenty cents a day after one free week.",
)
QUESTIONS = ("How hot is the kiln?", "glaze", "What does a late book cost?")


def asked(of: Installation) -> dict[str, Any]:
    """Return what a caller sees, without the figures that depend on the moment."""
    recalls = [("POST", "memories/recall", {"query": query, "k": 3}) for query in QUESTIONS]
    lists = [("GET", path, None) for path in ("conflicts", "notes", "memories?limit=200")]
    *recalled, cards, notes, memories = of.call(*recalls, *lists)
    return {
        "recalled": [[_shown(one) for one in found["results"]] for found in recalled],
        "cards": [(c["id"], c["question"], c["status"]) for c in cards["results"]],
        "notes": [note["path"] for note in notes["results"]],
        "memories": [(m["id"], m["created_at"]) for m in memories["results"]],
    }


def _shown(result: dict[str, Any]) -> tuple[Any, ...]:
    return result["memory"]["id"], result["memory"]["content"], result["disputed"]


def rows_of(of: Installation) -> dict[str, str]:
    """Return a digest of the rows of each table; their owner looks past row-level security."""
    found = {}
    with psycopg.connect(embedded.ensure(of.home).database_url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in tables.fetchall():
            connection.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
            (found[table],) = connection.execute(
                f"SELECT md5(string_agg(o::text, '' ORDER BY o::text)) FROM {table} AS o"  # noqa: S608
            ).fetchone()
        connection.rollback()
    assert found["memories_memory"]
    return found


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Make an installation with two memories that disagree, a note and a key."""
    folder = tmp_path_factory.mktemp("drill")
    with throw_away(folder / "a home") as home:
        of = Installation(prepare(home))
        embedded.ensure(home)
        of.done("create_workspace", "studio")
        of.key = of.done("create_key", "--workspace", "studio", "--role", "agent").strip()
        commits = [("POST", "memories", {"content": fact, "scope": "studio"}) for fact in FACTS]
        note = {"content": "# Kiln\n\nIt stands in the studio.\n"}
        of.call(*commits, ("PUT", "notes/kiln.md", note))
        of.done("detect", "--workspace", "studio")
        yield of
        of.stop()


@pytest.fixture(scope="module")
def backup(original: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Back up and verify; no process may have the database's password among its arguments."""
    path = tmp_path_factory.mktemp("backups") / "whole.zip"
    url = embedded.ensure(original.home).database_url.replace("engram@", "engram:opensesame@", 1)
    command = [sys.executable, "manage.py", "backup", str(path), "--verify"]
    environment = {**ENVIRONMENT, "ENGRAM_HOME": str(original.home), "DATABASE_URL": url}
    lines: set[str] = set()
    with subprocess.Popen(
        command, cwd=SOURCE, env=environment, stdout=subprocess.PIPE, text=True
    ) as running:
        while running.poll() is None:
            lines |= set(processes_of(original.home).values())
            time.sleep(0.05)  # each look reads about every process of the machine
        said = running.communicate()[0]
    assert running.returncode == 0
    assert any("--scratch" in line for line in lines)
    assert not any("opensesame" in line for line in lines)
    assert "Verified: restored into a scratch database, every row is equal." in said
    assert hashlib.sha256(path.read_bytes()).hexdigest() in said
    assert scratch_databases(original) == []
    return path


@pytest.fixture(scope="module")
def before(original: Installation, backup: Path) -> dict[str, Any]:
    """Return what a caller saw when the backup was made; every test leaves it so."""
    return asked(original)


def scratch_databases(of: Installation) -> list[str]:
    with psycopg.connect(embedded.ensure(of.home).database_url) as connection:
        rows = connection.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, 'engram_scratch')"
        ).fetchall()
    return [name for (name,) in rows]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Installation]:
    """Return a home in which nothing is, not even tables."""
    with throw_away(tmp_path / "another home") as home:
        of = Installation(home)
        yield of
        of.stop()


def test_after_a_loss_everything_is_as_before(
    original: Installation, backup: Path, before: dict[str, Any], elsewhere: Installation
) -> None:
    assert [len(found) for found in before["recalled"]] == [2, 1, 1]
    assert (len(before["cards"]), before["notes"]) == (1, ["kiln.md"])
    assert "restored and compared" in elsewhere.done("restore", str(backup))
    elsewhere.key = original.key
    assert asked(elsewhere) == before
    keys = [(of.home / "secret_key").read_bytes() for of in (elsewhere, original)]
    assert keys[0] == keys[1]


def test_what_is_there_is_replaced_only_after_its_name_was_typed(
    original: Installation, backup: Path, before: dict[str, Any]
) -> None:
    original.call(("POST", "memories", {"content": "What was learned later.", "scope": "studio"}))
    known = rows_of(original)
    reason = original.refused("restore", str(backup))
    assert "The database engram is not empty, and nothing was changed." in reason
    reason = original.refused("restore", "--replace", str(backup), typed="yes\n")
    assert "That is not its name; nothing was changed." in reason
    assert rows_of(original) == known
    original.done("restore", "--replace", str(backup), typed="engram\n")
    assert asked(original) == before


def test_a_restore_that_is_killed_changes_nothing(original: Installation, backup: Path) -> None:
    known = rows_of(original)
    url = embedded.ensure(original.home).database_url
    elsewhere = url.removesuffix("/engram") + "/postgres"  # whoever looks on is no user of it
    at_work = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = 'engram' AND now() - xact_start > interval '2 seconds'
    """
    with (
        psycopg.connect(elsewhere, autocommit=True) as onlooker,
        subprocess.Popen(
            [sys.executable, "manage.py", "restore", "--replace", str(backup)],
            cwd=SOURCE,
            env={**ENVIRONMENT, "ENGRAM_HOME": str(original.home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        ) as restoring,
    ):
        restoring.stdin.write("engram\n")
        restoring.stdin.close()
        assert eventually(lambda: onlooker.execute(at_work).fetchone() == (1,))
        restoring.kill()
    assert restoring.returncode == -signal.SIGKILL
    assert rows_of(original) == known


def test_a_running_copy_is_refused(original: Installation, backup: Path) -> None:
    with claim_home(original.home) as lock:
        lock.write("process 1, http://127.0.0.1:8000")
        lock.flush()
        reason = original.refused("restore", "--replace", str(backup), typed="engram\n")
    assert "already runs" in reason
    assert "http://127.0.0.1:8000" in reason
    with psycopg.connect(embedded.ensure(original.home).database_url):
        reason = original.refused("restore", "--replace", str(backup), typed="engram\n")
    assert "The database is in use (1 other connections)" in reason


def test_who_comes_while_a_name_is_typed_is_found(original: Installation, backup: Path) -> None:
    known = rows_of(original)
    url = embedded.ensure(original.home).database_url
    with subprocess.Popen(
        [sys.executable, "manage.py", "restore", "--replace", str(backup)],
        cwd=SOURCE,
        env={**ENVIRONMENT, "ENGRAM_HOME": str(original.home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as restoring:
        said = ""
        while not said.endswith("Type the database's name to go on: "):
            letter = restoring.stdout.read(1)
            assert letter, restoring.stderr.read()
            said += letter
        with psycopg.connect(url):
            reason = restoring.communicate("engram\n")[1]
    assert restoring.returncode == 1
    assert "The database is in use (1 other connections)" in reason
    assert rows_of(original) == known


def test_nothing_but_a_scratch_database_is_replaced_unasked(
    original: Installation, backup: Path
) -> None:
    known = rows_of(original)
    reason = original.refused("restore", "--scratch", str(backup))
    assert "The database engram is no scratch database; nothing was changed." in reason
    shortened = original.manage("restore", "--scr", str(backup))
    assert (shortened.returncode, "unrecognized arguments" in shortened.stderr) == (2, True)
    assert rows_of(original) == known


def test_rows_are_looked_for_in_the_transaction_that_deletes_them(
    original: Installation, backup: Path
) -> None:
    url = embedded.ensure(original.home).database_url
    server, name = url.removesuffix("/engram"), "engram_scratch_of_somebody"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE engram")
        try:
            reason = original.refused(
                "restore", "--scratch", str(backup), DATABASE_URL=f"{server}/{name}"
            )
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    assert f"The database {name} is not empty, and nothing was changed." in reason


def test_rows_that_break_a_rule_change_nothing(original: Installation, backup: Path) -> None:
    """An archive whose digests are right, and whose memories belong to no workspace."""
    known = rows_of(original)
    with zipfile.ZipFile(backup) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(content[MANIFEST])
    table = next(t for t in manifest["tables"] if t["name"] == "kernel_workspace")
    assert table["rows"] == 1
    table |= {"rows": 0, "bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    forged = backup.with_name("forged.zip")
    with zipfile.ZipFile(forged, "w") as archive:
        changed = {"tables/kernel_workspace.copy": b"", MANIFEST: json.dumps(manifest).encode()}
        for name, data in (content | changed).items():
            archive.writestr(name, data)
    reason = original.refused("restore", "--replace", str(forged), typed="engram\n")
    assert "violates foreign key constraint" in reason
    assert "Nothing was changed." in reason
    assert rows_of(original) == known


def test_tables_of_somebody_else_are_never_dropped(backup: Path, elsewhere: Installation) -> None:
    url = embedded.ensure(elsewhere.home).database_url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE invoices (id int)")
    reason = elsewhere.refused("restore", str(backup))
    assert "tables that are not Engram's (invoices)" in reason
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM invoices").fetchone() == (0,)
        made = connection.execute("SELECT to_regclass('django_migrations')").fetchone()
    assert made == (None,)


def test_a_backup_is_made_while_everything_runs(running: Up, tmp_path: Path) -> None:
    of = Installation(running.home)
    path = tmp_path / "live.zip"
    of.done("backup", str(path))
    assert "already runs" in of.refused("restore", "--replace", str(path), typed="engram\n")
    assert running.answers()
    assert json.loads((running.home / "backup.json").read_text())["path"] == str(path)
