"""A workspace with rows in every table that an archive holds, and what tests ask of it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User

from conflicts.models import (
    Conflict,
    ConflictComment,
    DetectionDue,
    JudgedRelation,
    Judgement,
    Muting,
)
from conflicts.services.verdicts.resolve import resolve
from engram.console.demo.loading import load
from engram.console.models import PutOff
from engram.console.transfer.archive import open_archive
from engram.console.transfer.export import export
from engram.console.transfer.load import Imported, import_archive
from engram.console.transfer.tables import Row, tables
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import (
    ApiKey,
    Job,
    JobStatus,
    Membership,
    ModelSpend,
    Role,
    StageError,
    Workspace,
)
from engram.kernel.tenancy import in_workspace
from memories.models import (
    Ask,
    AskedAnswers,
    CoRecall,
    ExtractedQuote,
    Extraction,
    ExtractionRefusal,
    ImportProgress,
    JanitorAction,
    JanitorRun,
    Memory,
    PastRecall,
    PastResult,
    RecallRecord,
    ReportItem,
    Session,
    SessionReport,
)
from predictor.models import TrainingLease
from tests.conftest import NOW

LATER = NOW + timedelta(hours=1)
ODD = 'He said: "=1+1"\r\n\t\u2028 naïve 🙂 \\ </script>'


def full_workspace(slug: str = "whole") -> tuple[Workspace, str]:
    """Return a workspace with the demo's story and the rows that it lacks, and an agent's token."""
    workspace = Workspace.objects.create(slug=slug, name="Whole", settings={"predictor_mode": "on"})
    assert load(workspace, NOW)
    key, token = keys.issue(workspace, name="writer", role=Role.AGENT, actor=SYSTEM, now=NOW)
    person = User.objects.create_user(f"ana-{slug}")
    Membership.objects.create(workspace=workspace, user=person, role=Role.REVIEWER)
    with in_workspace(workspace):
        _rest(key, person)
        card = Conflict.objects.filter(status="open").latest("created_at")
        resolve(workspace, card.pk, verdict="yes", actor=SYSTEM, now=NOW)
    TrainingLease.objects.update_or_create(
        workspace_id=workspace.pk, defaults={"due_at": NOW, "reason": "erased"}
    )
    return workspace, token


def _rest(key: ApiKey, person: User) -> None:
    """Write rows of the tables that the story leaves empty."""
    one, other = Memory.objects.recallable(NOW).order_by("pk")[:2]
    Memory.objects.filter(pk=one.pk).update(
        key=key, content=f"{one.content} {ODD}", metadata={"ratio": 0.1 + 0.2, "odd": ODD},
        confidence=1 / 3,
    )  # fmt: skip
    gone = Memory.objects.recallable(NOW).order_by("-pk")[0]
    Memory.objects.filter(pk=gone.pk).update(forgotten_at=NOW, unseen_from=0)
    card = Conflict.objects.filter(status="open").earliest("created_at")
    Conflict.objects.filter(pk=card.pk).update(assignee=person)
    ConflictComment.objects.create(conflict=card, author="ana", text=ODD, created_at=NOW)
    Judgement.objects.create(
        memory=one, other=other, relation=JudgedRelation.SAME, key=key, agent="x", created_at=NOW
    )
    Muting.objects.create(rule="reversal", created_at=NOW)
    PutOff.objects.create(source="conflicts", item=card.pk, until=LATER, by="ana")
    ModelSpend.objects.create(day=NOW.date(), calls=2, tokens=3, cost_usd=0.1 + 0.2)
    StageError.objects.create(stage="judge", code="Timeout", at=NOW)
    ImportProgress.objects.create(file_digest="f" * 64, lines_done=7, updated_at=NOW)
    run = JanitorRun.objects.create(started_at=NOW, examined=3)
    JanitorAction.objects.create(run=run, memory=one, verb="demote", before={"a": 1}, at=NOW)
    asked = {"wordings": "a" * 129, "cosine": 0.7, "actor_kind": "key", "actor_id": str(key.pk)}
    Ask.objects.create(memory=one, other=other, created_at=NOW, **asked)
    AskedAnswers.objects.create(memory=other, content_hash=other.content_hash, failures=1)
    CoRecall.objects.create(first=one, second=other, weight=1.5, since=NOW, reinforced_at=NOW)
    RecallRecord.objects.create(memory_ids=[one.pk], at=NOW)
    past = PastRecall.objects.create(
        origin="recall", query=ODD, query_hash="e" * 64, k=3, asked={"scope": ODD}, returned=1,
        caller=f"key:{key.pk}", session_key=ODD, at=NOW,
    )  # fmt: skip
    PastResult.objects.create(
        recall=past, memory=one, rank=1, score=0.1 + 0.2, relevance=1 / 3,
        factors={"text": 0.1 + 0.2}, at=NOW,
    )  # fmt: skip
    session = Session.objects.order_by("pk")[0]
    SessionReport.objects.create(session=session, digest="d" * 64, created_at=NOW)
    said = {"session": session, "created_at": NOW, "position": 0}
    ReportItem.objects.create(kind="used", memory=one, value=0.1 + 0.2, **said)
    ReportItem.objects.create(kind="wrong", memory=one, text=ODD, text_hash="e" * 64, **said)
    ReportItem.objects.create(kind="missing", text=ODD, text_hash="e" * 64, **said)
    DetectionDue.objects.create(memory=one, since=NOW)
    job = Job.objects.create(
        kind="extraction", status=JobStatus.DONE, caller=f"key:{key.pk}", role=Role.AGENT, key=key,
        result={"kept": 1}, created_at=NOW, finished_at=NOW,
    )  # fmt: skip
    Extraction.objects.create(job=job)
    ExtractedQuote.objects.create(memory=one, job=job, text=ODD)
    ExtractionRefusal.objects.create(
        job=job, text=ODD, reason="too_vague", worth=0.2, confidence=0.3,
        provenance="user_stated", position=4, created_at=NOW,
    )  # fmt: skip


def rows_of(workspace: Workspace, *, has_vectors: bool = True) -> dict[str, list[Row]]:
    """Return all that an archive holds of a workspace, by table."""
    with in_workspace(workspace):
        return {table.label: list(table.rows()) for table in tables(has_vectors=has_vectors)}


def write(path: Path, *workspaces: Workspace, has_vectors: bool = True) -> Path:
    """Export workspaces."""
    export(workspaces, path, has_vectors=has_vectors, now=LATER)
    return path


def read(path: Path, **options: Any) -> list[Imported]:
    """Import an archive."""
    with open_archive(path) as archive:
        return import_archive(archive, clock=lambda: LATER, **options)


def erase(workspace: Workspace) -> None:
    """Remove a workspace with all of its rows."""
    with in_workspace(workspace):
        Workspace.objects.get(pk=workspace.pk).delete()
    TrainingLease.objects.filter(workspace_id=workspace.pk).delete()


def changed(
    path: Path,
    change: Callable[[dict[str, bytes]], None],
) -> Path:
    """Return a copy of an archive with other files; the manifest stays unless it is changed."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    copy = path.with_name(f"{uuid4().hex}.zip")
    with zipfile.ZipFile(copy, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return copy


def edit_manifest(files: dict[str, bytes], change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest of an archive."""
    manifest = json.loads(files["manifest.json"])
    change(manifest)
    files["manifest.json"] = json.dumps(manifest).encode()
