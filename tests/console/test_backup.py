"""Backups: what they hold, how they are written, and which are refused before anything changes."""

from __future__ import annotations

import hashlib
import json
import stat
import urllib.parse
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from engram.console.backup import home_files
from engram.console.backup.archive import open_backup
from engram.console.backup.load import _bare
from engram.console.backup.manifest import MANIFEST, BackupError, Manifest
from engram.console.backup.scratch import url_of_database
from engram.console.backup.tables import our_tables
from engram.console.backup.target import lock_tables
from engram.console.backup.write import back_up, digest_of
from engram.console.doctor import machine
from engram.kernel.models import ApiKey
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import NOW, Tenant

FACTS = ("The kiln fires at 1240 degrees.", "A tab\there, a \\ there,\nand a second line: \u00e9.")


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Path:
    settings.ENGRAM_HOME = tmp_path / "home"
    settings.ENGRAM_HOME.mkdir()
    (settings.ENGRAM_HOME / "secret_key").write_text("a key of this home")
    return Path(settings.ENGRAM_HOME)


@pytest.fixture
def backup(tenant: Tenant, neighbour: Tenant, home: Path, tmp_path: Path) -> Path:
    """Return a backup of two workspaces."""
    for of in (tenant, neighbour):
        for fact in FACTS:
            assert of.agent.post("memories", {"content": fact}).status_code == 201
    back_up(tmp_path / "whole.zip", now=NOW)
    return tmp_path / "whole.zip"


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path: Path, content: dict[str, bytes]) -> Path:
    """Write an archive of given members beside another one."""
    changed = path.with_name("changed.zip")
    with zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return changed


def with_manifest(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Write the archive again with another manifest."""
    content = members(path)
    manifest = json.loads(content[MANIFEST])
    change(manifest)
    return written(path, content | {MANIFEST: json.dumps(manifest).encode()})


def read(path: Path) -> Manifest:
    """Check a whole archive, and return its manifest."""
    with open_backup(path) as opened:
        opened.check(lambda size: None)
        return opened.manifest


def refusal(path: Path) -> str:
    with pytest.raises(BackupError) as refused:
        read(path)
    return str(refused.value)


def test_it_holds_the_rows_of_all_workspaces_and_the_homes_key(
    backup: Path, tenant: Tenant, neighbour: Tenant
) -> None:
    manifest = read(backup)
    rows = {table.name: table.rows for table in manifest.tables}
    counts: dict[str, int] = {"memories_memory": 0, "kernel_apikey": 0}
    for of in (tenant, neighbour):
        with in_workspace(of.workspace):
            counts["memories_memory"] += Memory.objects.count()
            counts["kernel_apikey"] += ApiKey.objects.count()
    assert counts == {"memories_memory": 4, "kernel_apikey": 8}
    assert {name: rows[name] for name in counts} == counts
    assert (manifest.workspaces, rows["kernel_workspace"]) == (2, 2)
    content = members(backup)
    assert content["home/secret_key"] == b"a key of this home"
    assert content["tables/memories_memory.copy"].count(b"\n") == 4
    assert hashlib.sha256(content["tables/memories_memory.copy"]).hexdigest() in {
        table.sha256 for table in manifest.tables if table.name == "memories_memory"
    }


def test_only_its_owner_may_read_it(backup: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_two_backups_of_one_state_are_equal(backup: Path) -> None:
    back_up(backup.with_name("again.zip"), now=NOW)
    again, first = members(backup.with_name("again.zip")), members(backup)
    assert again == first


@pytest.mark.django_db(transaction=True)
def test_what_is_written_meanwhile_is_of_the_next_one(
    tenant: Tenant, home: Path, tmp_path: Path
) -> None:
    """A commit touches a dozen tables; a backup holds it in all of them or in none."""
    late: list[int] = []

    def commit() -> None:
        late.append(tenant.agent.post("memories", {"content": FACTS[0]}).status_code)
        connection.close()

    def advance(size: int) -> None:
        if not late:
            with ThreadPoolExecutor(1) as another:
                another.submit(commit).result()

    manifest = back_up(tmp_path / "first.zip", now=NOW, advance=advance)
    after = back_up(tmp_path / "second.zip", now=NOW)
    assert late == [201]
    touched = ("memories_memory", "memories_memoryvector", "memories_posting", "kernel_event")
    rows = [{table.name: table.rows for table in one.tables} for one in (manifest, after)]
    assert [rows[0][name] for name in touched[:3]] == [0, 0, 0]
    assert all(rows[1][name] > rows[0][name] for name in touched)


def test_a_file_is_never_written_over(backup: Path) -> None:
    before = digest_of(backup)
    with pytest.raises(CommandError, match="exists; nothing was written"):
        call_command("backup", str(backup))
    assert digest_of(backup) == before


def test_an_interrupted_backup_leaves_no_file(tenant: Tenant, home: Path, tmp_path: Path) -> None:
    def interrupt(size: int) -> None:
        if size:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(tmp_path / "cut.zip", now=NOW, advance=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_folder_that_is_not_there_is_named(tenant: Tenant, home: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        call_command("backup", str(tmp_path / "missing" / "b.zip"))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_cut_backup_is_refused(backup: Path, share: float) -> None:
    whole = backup.read_bytes()
    cut = backup.with_name("cut.zip")
    cut.write_bytes(whole[: int(len(whole) * share)])
    assert refusal(cut) == "This is no zip file, or its end is missing."


def test_a_changed_byte_is_found(backup: Path) -> None:
    whole = bytearray(backup.read_bytes())
    whole[len(whole) // 2] ^= 1
    backup.write_bytes(whole)
    assert "cannot be read" in refusal(backup) or "is damaged" in refusal(backup)


def test_a_changed_row_is_found(backup: Path) -> None:
    content = members(backup)
    path = "tables/memories_memory.copy"
    changed = content | {path: content[path].replace(b"1240", b"1340")}
    assert refusal(written(backup, changed)).startswith(f"{path} is damaged")
    longer = content | {path: content[path] + b"x"}
    assert refusal(written(backup, longer)) == f"{path} is longer than the manifest says."


def test_members_are_those_of_the_manifest(backup: Path) -> None:
    content = members(backup)
    assert "not part of it: '../../etc/passwd'" in refusal(
        written(backup, content | {"../../etc/passwd": b"root"})
    )
    lacking = {name: data for name, data in content.items() if name != "home/secret_key"}
    assert refusal(written(backup, lacking)) == "The backup lacks home/secret_key."
    assert "no manifest" in refusal(written(backup, {"a": b""}))
    assert "not JSON" in refusal(written(backup, {MANIFEST: b"{"}))
    twice = with_manifest(backup, lambda m: m["tables"].append(m["tables"][0]))
    assert refusal(twice) == "The manifest names a table or file twice."


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("format_version", 2, "has the format 2; this version reads up to 1"),
        ("format", "engram-archive", "The manifest is not valid: format"),
        ("unheard", 1, "The manifest is not valid: unheard"),
        ("created_at", "yesterday", "The manifest is not valid: created_at"),
    ],
)
def test_a_manifest_of_another_kind_is_refused(
    backup: Path, field: str, value: Any, why: str
) -> None:
    assert why in refusal(with_manifest(backup, lambda m: m.update({field: value})))


@pytest.mark.parametrize("name", ["Memory", "a b", "x; drop table y", "", "a" * 64])
def test_names_of_tables_are_names(backup: Path, name: str) -> None:
    changed = with_manifest(backup, lambda m: m["tables"][0].update(name=name))
    assert "The manifest is not valid: tables.0.name" in refusal(changed)


def test_a_backup_of_a_newer_version_is_refused(backup: Path) -> None:
    newer = with_manifest(
        backup,
        lambda m: m.update(
            product_version="9.1", migrations=[*m["migrations"], ["memories", "9000_new"]]
        ),
    )
    assert refusal(newer) == (
        "The backup was made by version 9.1, whose migration memories.9000_new this version does "
        "not have. Restore it with that version or a newer one."
    )


def test_a_backup_of_before_the_squashed_migrations_is_refused(backup: Path) -> None:
    def unsquash(manifest: dict[str, Any]) -> None:
        names = [name for app, name in manifest["migrations"] if app == "kernel"]
        steps = [["kernel", name] for name in names if name == "0001_initial"]
        others = [[app, name] for app, name in manifest["migrations"] if app != "kernel"]
        manifest["migrations"] = others + (steps or [["kernel", "0001_initial"]])

    assert "kernel.0001_initial, which this version has only as part of a later one" in refusal(
        with_manifest(backup, unsquash)
    )


@pytest.mark.django_db
def test_indexes_are_put_back_as_they_were() -> None:
    definitions = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
    with connection.cursor() as cursor:
        cursor.execute("CREATE INDEX odd ON memories_memory (id) WHERE content LIKE '9% of %s'")
        cursor.execute(definitions)
        before = dict(cursor.fetchall())
        with _bare(cursor, our_tables()):
            cursor.execute(definitions)
            assert "odd" not in dict(cursor.fetchall())
        cursor.execute(definitions)
        after = dict(cursor.fetchall())
    assert "9% of %s" in before["odd"]
    assert after == before


@pytest.mark.django_db
def test_all_tables_are_locked_before_rows_are_looked_for() -> None:
    locked = """
        SELECT relation::regclass::text FROM pg_locks
        WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' AND locktype = 'relation'
    """
    lock_tables()
    with connection.cursor() as cursor:
        cursor.execute(locked)
        names = {name for (name,) in cursor.fetchall()}
    assert {table.name for table in our_tables()} <= names
    assert "memories_memory" in names


@pytest.mark.parametrize(
    ("url", "scratch"),
    [
        (
            "postgres://u:p%40@db:5/engram?sslmode=require",
            "postgres://u:p%40@db:5/s?sslmode=require",
        ),
        ("postgresql:///engram?host=/var/run", "postgresql:///s?host=/var/run"),
        ("postgres:///engram", "postgres:///s"),
    ],
)
def test_a_scratch_database_is_on_the_same_server(
    url: str, scratch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Packages register schemes here; the URL must be right also where none has done it.
    monkeypatch.setattr(urllib.parse, "uses_netloc", ["http"])
    assert url_of_database(url, "s") == scratch


def test_the_doctor_knows_the_last_backup(backup: Path, home: Path, settings: Any) -> None:
    now = datetime.now(UTC)
    assert (machine.last_backup(now).level, machine.last_backup(now).detail) == ("ok", "none yet")
    settings.IS_PRODUCTION = True
    assert machine.last_backup(now).level == "warn"
    for days, level in ((1, "ok"), (8, "warn")):
        manifest = read(backup).model_copy(update={"created_at": now - timedelta(days=days)})
        home_files.note_backup(backup, manifest, "0" * 64)
        found = machine.last_backup(now)
        assert (found.level, str(backup) in found.detail) == (level, True)
    (home / home_files.NOTE).write_text("[]")
    assert "none" in machine.last_backup(now).detail
