"""An exported workspace comes back row by row, into the database from which it was erased."""

from __future__ import annotations

import re
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conflicts.models import Conflict, Decision, DetectionLease
from conflicts.services.verdicts.undo import undo
from engram.console.rows.tables import columns
from engram.console.transfer.tables import CREDENTIALS, LAST, LEFT_OUT, OF_VECTORS, tables
from engram.console.transfer.targets import progress_key
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import ApiKey, Event, Job, Membership, Role, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import ImportProgress, Memory, MemoryEntity, MemoryVector
from memories.services.index import entities
from memories.services.index.pending import embed_pending
from predictor.models import TrainingLease
from tests.conftest import NOW, Caller, Tenant
from tests.console.transfer_world import (
    LATER,
    changed,
    erase,
    full_workspace,
    read,
    rows_of,
    write,
)

SOUNDS_SECRET = re.compile(r"secret|token(?!s$)|passw|digest|credential|private|(^|_)key$|prefix")
# Columns that sound like a secret, and what they are.
NO_SECRETS = {
    "memories.Session.prompt_digests": "of texts",
    "memories.Session.transcript_digest": "of a text",
    "memories.SessionReport.digest": "of texts and ids",
    "memories.ImportProgress.file_digest": "of a file",
    "memories.NoteLink.key": "the name that a link gives",
    "memories.NoteName.key": "the name of a note",
}


def test_every_table_of_a_workspace_is_archived_or_named() -> None:
    kept = {table.label: table for table in tables()}
    leases = {label for label in LEFT_OUT if label.endswith("Lease")}
    people = {"kernel.Membership", "kernel.Invitation"}
    assert not kept.keys() & LEFT_OUT.keys()
    assert kept.keys() >= OF_VECTORS
    assert leases | people <= LEFT_OUT.keys()
    for table in kept.values():
        assert table.codecs.keys() >= set(table.names)
        # rows are read and written by the names of attributes
        assert all(field.attname == field.column for field in columns(table.model))


def test_rows_come_after_those_that_they_refer_to() -> None:
    order = [table.label for table in tables()]
    for table in tables():
        for field in columns(table.model):
            target = field.related_model._meta.label if field.related_model else None
            if target in order and target != table.label:
                assert order.index(target) < order.index(table.label), (table.label, field)
            if target == table.label:
                assert field.attname in table.later
    assert order.index("memories.MemoryTokens") < order.index("memories.MemoryVector")
    assert set(order[-4:]) == set(LAST)


def test_no_column_of_an_archive_is_a_credential() -> None:
    suspicious = {
        f"{table.label}.{name}"
        for table in tables()
        for name in table.names
        if SOUNDS_SECRET.search(name) and not name.endswith("session_key")
    }
    assert suspicious <= set(NO_SECRETS), "decide whether an archive may hold it: CREDENTIALS"
    assert {"kernel.ApiKey": {"prefix", "digest"}} == CREDENTIALS


def test_erased_workspace_comes_back_row_by_row(
    db: None, tmp_path: Path, neighbour: Tenant
) -> None:
    workspace, token = full_workspace()
    neighbour.agent.post("memories", {"content": "The harbour master of Zenith is Ilse."})
    before, beside = rows_of(workspace), rows_of(neighbour.workspace)
    assert not [label for label, rows in before.items() if not rows]  # all of it is compared
    path = write(tmp_path / "a.zip", workspace, has_vectors=True)
    erase(workspace)
    (done,) = read(path)
    assert (done.rows, done.rows_before, done.is_new) == (sum(map(len, before.values())), 0, True)
    restored = Workspace.objects.get(slug="whole")
    assert (restored.pk, restored.name) == (workspace.pk, workspace.name)
    for name in ("settings", "embedding_model", "embedding_changed_at", "created_at"):
        assert getattr(restored, name) == getattr(workspace, name), name
    after = rows_of(restored)
    imported = after["kernel.Event"].pop()
    assert (imported["type"], imported["object_id"]) == ("workspace.imported", str(workspace.pk))
    for label, rows in before.items():
        _say_what_an_import_changes(label, rows)
        assert after[label] == rows, label
    assert rows_of(neighbour.workspace) == beside
    assert keys.find(token) is None
    assert TrainingLease.objects.get(workspace=restored).reason == "erased"
    assert DetectionLease.objects.get(workspace=restored).due_at == LATER


def _say_what_an_import_changes(label: str, rows: list[dict[str, Any]]) -> None:
    """Keys are revoked, and nobody is a member of a new workspace."""
    for row in rows:
        if label == "kernel.ApiKey":
            row["revoked_at"] = row["revoked_at"] or LATER.isoformat()
        if label == "conflicts.Conflict":
            row["assignee_id"] = None


def test_life_goes_on_from_an_import(db: None, tmp_path: Path) -> None:
    workspace, _ = full_workspace()
    entities.read_due(workspace)
    with in_workspace(workspace):
        decided = Decision.objects.latest("decided_at")
        superseded = Memory.objects.filter(superseded_at=decided.decided_at).count()
        named = set(MemoryEntity.objects.values_list("key", "memory_id", "is_subject"))
    path = write(tmp_path / "a.zip", workspace, has_vectors=True)
    erase(workspace)
    read(path)
    restored = Workspace.objects.get(slug="whole")
    entities.read_due(restored)
    with in_workspace(restored):
        assert named == set(MemoryEntity.objects.values_list("key", "memory_id", "is_subject"))
    _, token = keys.issue(restored, name="new", role=Role.AGENT, actor=SYSTEM, now=LATER)
    agent = Caller(token, Client())
    question = {"query": "How are webhooks of the booking API signed?", "k": 3}
    (first, *_) = agent.post("memories/recall", question).json()["results"]
    assert "webhook" in first["memory"]["content"].lower()
    assert agent.post("memories", {"content": "Tea is at four."}).status_code == 201
    undo(restored, decided.conflict_id, actor=SYSTEM, now=LATER)
    with in_workspace(restored):
        assert superseded
        assert not Memory.objects.filter(superseded_at=decided.decided_at).exists()
        assert Conflict.objects.get(pk=decided.conflict_id).status == "open"


def test_vectors_that_are_left_out_are_computed_in_the_background(
    tenant: Tenant, tmp_path: Path
) -> None:
    for content in ("The kiln is blue.", "Glazes dry for two days."):
        tenant.agent.post("memories", {"content": content})
    before = rows_of(tenant.workspace)
    path = write(tmp_path / "a.zip", tenant.workspace, has_vectors=False)
    with zipfile.ZipFile(path) as archive:
        assert not any("MemoryVector" in name or "Tokens" in name for name in archive.namelist())
    erase(tenant.workspace)
    read(path)
    workspace = Workspace.objects.get(slug="acme")
    with in_workspace(workspace):
        assert Memory.objects.filter(is_embedding_due=True).count() == 2
        assert not MemoryVector.objects.exists()
    embed_pending(workspace)
    after = rows_of(workspace)
    assert sorted(map(str, after["memories.MemoryVector"])) == sorted(
        map(str, before["memories.MemoryVector"])
    )
    assert after["memories.Memory"] == before["memories.Memory"]


def test_forgotten_memories_go_along_as_forgotten_and_erased_ones_never(
    tenant: Tenant, tmp_path: Path
) -> None:
    ids = [
        tenant.agent.post("memories", {"content": content}).json()["memory"]["id"]
        for content in ("The vault code is quartz.", "The cellar code is zircon.")
    ]
    assert (
        tenant.admin.post("memories/forget", {"ids": ids[:1], "confirm": True}).status_code == 200
    )
    assert tenant.admin.delete(f"memories/{ids[1]}").status_code == 204
    path = write(tmp_path / "a.zip", tenant.workspace)
    with zipfile.ZipFile(path) as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
    assert b"quartz" in text
    assert b"zircon" not in text
    erase(tenant.workspace)
    read(path)
    workspace = Workspace.objects.get(slug="acme")
    with in_workspace(workspace):
        assert Memory.objects.get().state() == "forgotten"
    _, token = keys.issue(workspace, name="new", role=Role.AGENT, actor=SYSTEM, now=LATER)
    found = Caller(token, Client()).post("memories/recall", {"query": "vault code", "k": 3})
    assert found.json()["results"] == []


def test_archive_opens_nothing(tenant: Tenant, tmp_path: Path) -> None:
    path = write(tmp_path / "a.zip", tenant.workspace)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with zipfile.ZipFile(path) as archive:
        text = b"".join(archive.read(name) for name in archive.namelist()).decode()
    with in_workspace(tenant.workspace):
        stored = list(ApiKey.objects.all())
    assert stored
    for key in stored:
        assert str(key.pk) in text
        assert key.digest not in text
        assert key.prefix not in text

    def forge(files: dict[str, bytes]) -> None:  # a key of somebody who knows its token
        name = "acme/kernel.ApiKey.jsonl"
        files[name] = files[name].replace(b'"name":', b'"digest":"00","name":', 1)

    erase(tenant.workspace)
    with pytest.raises(ValueError, match=r"ApiKey.jsonl"):
        read(changed(path, forge))


def test_keys_and_members_of_a_workspace_that_was_emptied_stay(
    tenant: Tenant, tmp_path: Path
) -> None:
    person = User.objects.create_user("ana")
    Membership.objects.create(workspace=tenant.workspace, user=person, role=Role.REVIEWER)
    tenant.agent.post("memories", {"content": "The kiln is blue."})
    with in_workspace(tenant.workspace):
        Conflict.objects.create(question="Blue?", assignee=person, created_at=NOW, updated_at=NOW)
    before = rows_of(tenant.workspace)
    path = write(tmp_path / "a.zip", tenant.workspace)
    with in_workspace(tenant.workspace):
        for table in reversed(tables()):
            if table.label != "kernel.ApiKey":
                table.model.objects.all().delete()
        MemoryEntity.objects.all().delete()
    read(path)
    after = rows_of(tenant.workspace)
    assert after["conflicts.Conflict"] == before["conflicts.Conflict"]
    assert after["conflicts.Conflict"][0]["assignee_id"] == "ana"
    assert after["kernel.ApiKey"] == before["kernel.ApiKey"]
    assert tenant.agent.post("memories", {"content": "Tea is at four."}).status_code == 201


def test_copy_takes_another_name_where_its_ids_are_free(tenant: Tenant, tmp_path: Path) -> None:
    tenant.agent.post("memories", {"content": "The kiln is blue."})
    path = write(tmp_path / "a.zip", tenant.workspace)
    with pytest.raises(ValueError, match="acme of this database is the one that was exported"):
        read(path, slug="copy")
    assert not Workspace.objects.filter(slug="copy").exists()
    erase(tenant.workspace)
    other = Workspace.objects.create(slug="copy", name="Copy")
    read(path, slug="copy")
    with in_workspace(other):
        assert Memory.objects.get().content == "The kiln is blue."
        about = set(Event.objects.filter(object_type="workspace").values_list("object_id"))
        assert about == {(str(other.pk),)}
    assert not Workspace.objects.filter(slug="acme").exists()


def test_work_that_was_not_finished_has_failed(tenant: Tenant, tmp_path: Path) -> None:
    with in_workspace(tenant.workspace):
        Job.objects.create(
            kind="extraction", due_at=NOW, caller="key:x", role=Role.AGENT, created_at=NOW
        )
    path = write(tmp_path / "a.zip", tenant.workspace)
    erase(tenant.workspace)
    read(path)
    with in_workspace(Workspace.objects.get(slug="acme")):
        job = Job.objects.get()
        assert (job.status, job.due_at, job.finished_at) == ("failed", None, LATER)
        assert "not finished" in job.error


def test_second_import_changes_nothing(tenant: Tenant, tmp_path: Path) -> None:
    tenant.agent.post("memories", {"content": "The kiln is blue."})
    path = write(tmp_path / "a.zip", tenant.workspace)
    erase(tenant.workspace)
    read(path)
    workspace = Workspace.objects.get(slug="acme")
    with in_workspace(workspace):
        Memory.objects.update(importance=0.9)
    before = rows_of(workspace)
    (again,) = read(path)
    assert (again.rows, again.is_new) == (0, False)
    assert rows_of(workspace) == before
    # nor does an archive carry how far imports of archives came
    second = write(tmp_path / "b.zip", workspace)
    with in_workspace(workspace):
        assert ImportProgress.objects.get().file_digest.startswith(progress_key("")[:8])
    with zipfile.ZipFile(second) as archive:
        assert archive.read("acme/memories.ImportProgress.jsonl") == b""


def test_commands_say_what_they_did(
    tenant: Tenant, neighbour: Tenant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant.agent.post("memories", {"content": "The kiln is blue."})
    neighbour.agent.post("memories", {"content": "The kiln is red."})
    before = [rows_of(one.workspace) for one in (tenant, neighbour)]
    path = str(tmp_path / "all.zip")
    call_command("export", "--all", path, "--vectors")
    assert re.search(r"\d+ rows of acme, zenith written to .*all.zip\.", capsys.readouterr().out)
    with pytest.raises(CommandError, match="exists; nothing was written"):
        call_command("export", "--all", path)
    with pytest.raises(CommandError, match="no workspace 'none'"):
        call_command("export", "--all", f"{path}2", "--workspace", "none")
    with pytest.raises(CommandError, match="The workspace acme is not empty"):
        call_command("import", path)
    erase(tenant.workspace)
    with pytest.raises(CommandError, match="The workspace zenith is not empty"):
        call_command("import", path)
    assert not Workspace.objects.filter(slug="acme").exists()  # all or none
    erase(neighbour.workspace)
    capsys.readouterr()
    call_command("import", path)
    out = capsys.readouterr().out
    assert re.fullmatch(r"acme: \d+ rows imported\.\nzenith: \d+ rows imported\.\n", out)
    call_command("import", path)
    assert "acme was imported before; nothing was changed." in capsys.readouterr().out
    for slug, rows in zip(("acme", "zenith"), before, strict=True):
        after = rows_of(Workspace.objects.get(slug=slug))
        assert after["memories.Memory"] == rows["memories.Memory"]
        assert after["memories.MemoryVector"] == rows["memories.MemoryVector"]
    assert not list(tmp_path.glob("*.part"))


def test_statements_of_an_export_do_not_grow_with_its_rows(tenant: Tenant, tmp_path: Path) -> None:
    counts = []
    for more in (1, 30):
        for number in range(more):
            tenant.agent.post("memories", {"content": f"Shelf {more}-{number} holds pot {number}."})
        with CaptureQueriesContext(
            connection,
        ) as queries:
            write(tmp_path / f"{more}.zip", tenant.workspace)
        counts.append(len(queries))
    assert counts[0] == counts[1]
