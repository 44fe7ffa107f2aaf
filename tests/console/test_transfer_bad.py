"""Archives that are cut, damaged, forged or newer are refused, and interrupted imports go on."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import F

from engram.console.transfer import load, manifest
from engram.console.transfer.archive import open_archive
from engram.console.transfer.load import import_archive
from engram.console.transfer.manifest import ArchiveError, migration_state
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import ImportProgress, Memory
from tests.conftest import NOW, Tenant, build_tenant
from tests.console.transfer_world import changed, edit_manifest, erase, read, rows_of, write
from tests.homes import PATIENCE_SECONDS, SOURCE

MEMORIES = "acme/memories.Memory.jsonl"
Files = dict[str, bytes]


@pytest.fixture
def archive(tenant: Tenant, tmp_path: Path) -> Path:
    """Return an archive of a workspace that exists no more."""
    for number in range(6):
        tenant.agent.post("memories", {"content": f"Shelf {number} holds pot {number * 7}."})
    path = write(tmp_path / "a.zip", tenant.workspace)
    erase(tenant.workspace)
    return path


def refused(path: Path) -> str:
    """Return why an archive is not imported; nothing of it is there."""
    with pytest.raises(ArchiveError) as caught:
        read(path)
    assert not Workspace.objects.filter(slug="acme").exists()
    return str(caught.value)


def seal(files: Files, path: str, content: bytes) -> None:
    """Change a file of an archive and what the manifest says of it."""
    files[path] = content

    def describe(manifest: dict[str, Any]) -> None:
        for file in manifest["workspaces"][0]["files"]:
            if file["path"] == path:
                file["rows"] = content.count(b"\n")
                file["bytes"] = len(content)
                file["sha256"] = hashlib.sha256(content).hexdigest()

    edit_manifest(files, describe)


def manifest_with(**changes: Any) -> Callable[[Files], None]:
    return lambda files: edit_manifest(files, lambda manifest: manifest.update(changes))


def test_archives_that_are_cut_anywhere_are_refused(archive: Path) -> None:
    whole = archive.read_bytes()
    for share in (0.0, 0.1, 0.5, 0.9, 0.999):
        archive.write_bytes(whole[: int(len(whole) * share)])
        assert "no zip file, or its end is missing" in refused(archive)
    archive.unlink()
    assert "cannot be read: No such file" in refused(archive)


def test_a_flipped_byte_is_found_before_anything_is_written(archive: Path) -> None:
    with zipfile.ZipFile(archive) as zipped:
        place = zipped.getinfo(MEMORIES).header_offset + 120
    raw = bytearray(archive.read_bytes())
    raw[place] ^= 0xFF
    archive.write_bytes(raw)
    assert MEMORIES in refused(archive)


def lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[Files], None]:
    """Return a change of the memories, whose checksum in the manifest is right afterwards."""

    def edit(files: Files) -> None:
        kept = files[MEMORIES].splitlines(keepends=True)
        seal(files, MEMORIES, b"".join(change(kept)))

    return edit


def other_content(files: Files) -> None:
    files[MEMORIES] = files[MEMORIES].replace(b"Shelf 3", b"Shelf 9")


def without_a_row(files: Files) -> None:
    files[MEMORIES] = b"".join(files[MEMORIES].splitlines(keepends=True)[1:])


def table_of(name: str) -> Callable[[Files], None]:
    def add(files: Files) -> None:
        def describe(manifest: dict[str, Any]) -> None:
            path = f"acme/{name}.jsonl"
            file = manifest["workspaces"][0]["files"][0] | {"table": name, "path": path}
            manifest["workspaces"][0]["files"].append(file)
            files[path] = files[manifest["workspaces"][0]["files"][0]["path"]]

        edit_manifest(files, describe)

    return add


def path_to(path: str) -> Callable[[Files], None]:
    def move(files: Files) -> None:
        files[path] = files.pop(MEMORIES)

        def describe(manifest: dict[str, Any]) -> None:
            for file in manifest["workspaces"][0]["files"]:
                if file["path"] == MEMORIES:
                    file["path"] = path

        edit_manifest(files, describe)

    return move


def slug_of(slug: str) -> Callable[[Files], None]:
    def rename(files: Files) -> None:
        edit_manifest(files, lambda manifest: manifest["workspaces"][0].update(slug=slug))

    return rename


def with_column(files: Files) -> None:
    def describe(manifest: dict[str, Any]) -> None:
        for file in manifest["workspaces"][0]["files"]:
            if file["path"] == MEMORIES:
                file["columns"].append("owner_id")

    edit_manifest(files, describe)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (other_content, "checksum is not that of the manifest"),
        (without_a_row, "it has 5 rows, and 6 in the manifest"),
        (lines(lambda rows: [*rows, rows[-1]]), "occurs twice, or is out of order"),
        (lines(lambda rows: rows[::-1]), "occurs twice, or is out of order"),
        (lines(lambda rows: [b"{}\n", *rows]), "line 1 does not have the columns"),
        (lines(lambda rows: [b"[" * 100_000 + b"\n", *rows]), "line 1 is not JSON"),
        (lines(lambda rows: [rows[0][:-20] + b"\n"]), "line 1 is not JSON"),
        (lines(lambda rows: [rows[0].replace(b"0.7", b"NaN")]), "line 1 is not JSON"),
        (lambda files: files.pop(MEMORIES), f"lacks {MEMORIES}"),
        (lambda files: files.pop("manifest.json"), "no manifest"),
        (lambda files: files.update({"../../etc/cron.d/x": b""}), "not part of it: '../../etc"),
        (path_to("../memories.Memory.jsonl"), "path that is not allowed: '../memories"),
        (path_to("/tmp/memories.Memory.jsonl"), "path that is not allowed"),  # noqa: S108
        (slug_of("../acme"), "workspaces.0.slug"),
        (table_of("auth.User"), "unknown table: auth.User"),
        (table_of("kernel.Membership"), "unknown table: kernel.Membership"),
        (with_column, "unknown column: owner_id"),
        (manifest_with(format_version=2), "has the format 2; this version reads up to 1"),
        (manifest_with(format="zip"), "manifest is not valid: format"),
        (manifest_with(workspaces=[]), "names no workspace"),
        (manifest_with(surprise=1), "manifest is not valid: surprise"),
        (lambda files: files.update({"manifest.json": b"{"}), "manifest is not JSON"),
        (lambda files: files.update({"manifest.json": b"[]"}), "manifest is not valid"),
    ],
)
def test_archives_that_are_not_what_was_written_are_refused(
    archive: Path, change: Callable[[Files], None], why: str
) -> None:
    assert why in refused(changed(archive, change))


def test_archives_of_newer_versions_are_refused_and_of_older_ones_if_rows_would_change(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = migration_state() | {"memories": "0029_extraction"}  # whatever came after it
    monkeypatch.setattr(manifest, "migration_state", lambda: ours)

    def since(**names: str) -> Path:
        newer = manifest_with(migrations=ours | names, product_version="9.1.0")
        return changed(archive, newer)

    why = refused(since(memories="0999_unheard_of"))
    assert "made by version 9.1.0" in why
    assert "upgrade this installation" in why
    why = refused(since(memories="0020_session_relevance"))
    assert "which changes rows. Import it with that version" in why
    assert read(since(memories="0028_associations"))[0].rows > 6  # only tables came since
    with in_workspace(Workspace.objects.get(slug="acme")):
        assert Memory.objects.count() == 6


def test_rows_that_the_database_refuses_are_named(archive: Path) -> None:
    def twice(files: Files) -> None:
        path = "acme/memories.CorpusSize.jsonl"
        seal(files, path, files[path] * 2)

    def not_a_number(files: Files) -> None:
        text = files[MEMORIES].replace(b'"revision":1', b'"revision":"many"')
        seal(files, MEMORIES, text)

    for change in (twice, not_a_number):
        with pytest.raises(ArchiveError, match=r"lines 1 to \d: the database refuses a row"):
            read(changed(archive, change))
        erase(Workspace.objects.get(slug="acme"))


@pytest.mark.parametrize("batches", [0, 1, 9, 30])
def test_import_that_is_cut_off_goes_on_where_it_stopped(
    archive: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    monkeypatch.setattr(load, "ROWS_A_BATCH", 3)
    write_batch, left = load._write, [batches]

    def killed(*arguments: Any) -> None:
        write_batch(*arguments)
        left[0] -= 1
        if left[0] < 0:
            raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(load, "_write", killed)
        with pytest.raises(SystemExit):
            read(archive)
    workspace = Workspace.objects.get(slug="acme")
    part = sum(map(len, rows_of(workspace).values()))
    seen: list[int] = []
    with open_archive(archive) as opened:
        total = load.count_steps(opened)
        (done,) = import_archive(opened, clock=lambda: NOW, advance=seen.append)
    assert sum(seen) == total
    assert done.is_new
    assert (done.rows_before > 0) == (batches > 0)
    rows = rows_of(workspace)
    assert part <= done.rows + done.rows_before == sum(map(len, rows.values())) - 1
    assert len(rows["memories.Memory"]) == 6


def test_two_imports_of_one_archive_do_not_mix(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "ROWS_A_BATCH", 4)
    write_batch, batches = load._write, [0]

    def overtaken(*arguments: Any) -> None:
        write_batch(*arguments)
        batches[0] += 1
        if batches[0] == 5:  # another process has written the next batch
            ImportProgress.objects.update(lines_done=F("lines_done") + 4)

    monkeypatch.setattr(load, "_write", overtaken)
    with pytest.raises(ArchiveError, match="Another process imports this archive"):
        read(archive)


@pytest.mark.django_db(transaction=True)
def test_killed_import_goes_on_where_it_stopped(tmp_path: Path) -> None:
    tenant = build_tenant("acme")
    for number in range(6):
        tenant.agent.post("memories", {"content": f"Shelf {number} holds pot {number * 7}."})
    before = rows_of(tenant.workspace)
    path = write(tmp_path / "a.zip", tenant.workspace)
    erase(tenant.workspace)
    url, _, _ = os.environ["DATABASE_URL"].rpartition("/")
    environment = os.environ | {"DATABASE_URL": f"{url}/{connection.settings_dict['NAME']}"}
    dying = (
        "import os, signal, django; django.setup()\n"
        "from engram.console.transfer import load\n"
        "load.ROWS_A_BATCH = 10\n"
        "write, left = load._write, [8]\n"
        "def killed(*arguments):\n"
        "    write(*arguments)\n"
        "    left[0] -= 1\n"
        "    left[0] or os.kill(os.getpid(), signal.SIGKILL)\n"
        "load._write = killed\n"
        "from django.core.management import call_command\n"
        f"call_command('import', {str(path)!r})\n"
    )
    died = subprocess.run(
        [sys.executable, "-c", dying],
        cwd=SOURCE,
        env=environment | {"DJANGO_SETTINGS_MODULE": "engram.settings"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    (done,) = read(path)
    assert done.rows_before > 0
    after = rows_of(Workspace.objects.get(slug="acme"))
    assert after["kernel.Event"].pop()["type"] == "workspace.imported"
    for label, rows in before.items():
        if label != "kernel.ApiKey":
            assert after[label] == rows, label
