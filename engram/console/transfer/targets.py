"""Where a workspace of an archive is imported: a new workspace, an empty one, or one half imported.

Ids of rows are kept, and a workspace that holds anything else is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from pydantic import ValidationError as SettingsError

from engram.console.transfer.manifest import ArchivedWorkspace, ArchiveError
from engram.console.transfer.tables import IMPORTS, tables
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.embedding import model_name
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import ImportProgress

# What a workspace without a memory may hold already.
BEFORE_ANYTHING = {"kernel.ApiKey", "kernel.Event", "kernel.StageError"}
ABOUT_ACCESS = ("key", "membership", "invitation", "workspace")


@dataclass(frozen=True, slots=True)
class Target:
    """A workspace to import into; None: it is still to be made."""

    archived: ArchivedWorkspace
    slug: str
    workspace: Workspace | None


def find_target(archived: ArchivedWorkspace, slug: str, digest: str) -> Target:
    """Return where to import; raise `ArchiveError` when that would mix two workspaces."""
    try:
        WorkspaceSettings.model_validate(archived.settings)
    except SettingsError as error:
        raise ArchiveError(f"The settings of {archived.slug} are not valid here: {error}") from None
    workspace = Workspace.objects.filter(slug=slug).first()
    if workspace is not None:
        with in_workspace(workspace):
            is_begun = _progress(digest).exists()
            if not is_begun and not _is_empty():
                raise ArchiveError(
                    f"The workspace {slug} is not empty. An archive is imported into a workspace "
                    "that does not exist yet, or in which nothing was remembered yet."
                )
    if Workspace.with_closed.filter(pk=archived.id).exclude(closed_at=None).exists():
        raise ArchiveError(
            "The workspace that was exported is being deleted from this database, and rows keep "
            "their ids: import the archive when the deletion has ended."
        )
    source = Workspace.objects.filter(pk=archived.id).exclude(slug=slug).first()
    if source is not None:
        with in_workspace(source):
            if not _is_empty():
                raise ArchiveError(
                    f"The workspace {source.slug} of this database is the one that was exported, "
                    "and rows keep their ids: it must be erased first. Import a copy of it into "
                    "another database."
                )
    return Target(archived, slug, workspace)


def begin(target: Target, digest: str, *, has_vectors: bool, now: datetime) -> Workspace:
    """Make the workspace if needed, take over its settings, and note that an import has begun.

    Does nothing in a workspace whose import has begun.
    """
    workspace = target.workspace or _make(target)
    with in_workspace(workspace):
        row = Workspace.objects.select_for_update().get(pk=workspace.pk)
        if _progress(digest).exists():
            return row
        if not _is_empty():
            raise ArchiveError(f"Somebody has written to the workspace {row.slug} meanwhile.")
        row.settings = target.archived.settings
        # All is embedded again without vectors: then by the model that is configured here.
        row.embedding_model = target.archived.embedding_model if has_vectors else model_name()
        row.embedding_changed_at = None
        row.save(update_fields=["settings", "embedding_model", "embedding_changed_at"])
        ImportProgress.objects.create(file_digest=progress_key(digest), updated_at=now)
    return row


def progress_key(digest: str) -> str:
    """Return under which digest the progress of an archive's import is kept."""
    return f"{IMPORTS}{digest}"[:64]


def _progress(digest: str) -> Any:
    return ImportProgress.objects.filter(file_digest=progress_key(digest))


def _make(target: Target) -> Workspace:
    """Make the workspace, with its own id where that is free."""
    archived = target.archived
    made = Workspace(slug=target.slug, name=archived.name)
    if not Workspace.objects.filter(pk=archived.id).exists():
        made.pk = archived.id
    try:
        made.full_clean()
    except ValidationError as error:
        raise ArchiveError(f"{target.slug}: {'; '.join(error.messages)}") from None
    made.save(force_insert=True)
    Workspace.objects.filter(pk=made.pk).update(created_at=archived.created_at)
    return made


def _is_empty() -> bool:
    """Return whether nothing was remembered in the current workspace yet."""
    if Event.objects.exclude(object_type__in=ABOUT_ACCESS).exists():
        return False  # the history is never emptied, whatever people erase
    found = (table.model for table in tables() if table.label not in BEFORE_ANYTHING)
    return not any(model.objects.exists() for model in found)
