"""Delete the notes that imports of a folder brought and whose file is gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import F

from engram.kernel.models import Workspace
from engram.kernel.preconditions import Precondition
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Note
from memories.services.commit.import_lines import IMPORTER
from memories.services.notes.delete import delete_note
from memories.services.notes.find import version_tag
from memories.services.notes.scan_folder import FolderScan

EMPTY_SCAN = (
    "nothing was deleted: there is no readable Markdown file in the folder, which may be one that "
    "is not mounted"
)
MOST_GONE = (
    "nothing was deleted: {missing} of {brought} notes that imports of this folder brought have no "
    "file any more, which is more than half; a part of it may not be mounted. With --prune-most "
    "they are deleted all the same"
)
UNREAD_FOLDER = "nothing was deleted: a folder could not be read"


@dataclass(slots=True)
class Pruned:
    """The paths of deleted notes, those of others written meanwhile, and why none was deleted."""

    deleted: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    not_deleted: str = ""


def prune_folder(
    workspace: Workspace,
    source: str,
    scan: FolderScan,
    *,
    is_empty: bool,
    deletes_most: bool,
    clock: Callable[[], datetime],
) -> Pruned:
    """Delete what imports of this folder brought, nobody changed since, and has no file any more.

    Nothing where the scan has no readable file (`is_empty`), a folder could not be read, or, unless
    `deletes_most`, more than half is gone. A file that was moved counts at both of its paths, so
    that moving all of them is no reason to stop.
    """
    if is_empty:
        return Pruned(not_deleted=EMPTY_SCAN)
    if scan.unread_folders:
        return Pruned(not_deleted=f"{UNREAD_FOLDER}: {scan.unread_folders[0]}")
    with in_workspace(workspace):
        brought = Note.objects.filter(imported_from=source)
        unchanged = brought.filter(imported_hash=F("content_hash"))
        rows = unchanged.order_by("path").only("path", "version")
        there = scan.files.keys() | scan.skipped_paths
        missing = [(row.path, version_tag(row)) for row in rows if row.path not in there]
        total = brought.count()
    if not deletes_most and 2 * len(missing) > total:
        return Pruned(not_deleted=MOST_GONE.format(missing=len(missing), brought=total))
    done = Pruned()
    for path, tag in missing:
        only_if = Precondition(match=(tag,))
        try:
            delete_note(workspace, path, only_if=only_if, actor=IMPORTER, now=clock())
        except (StaleError, MissingError):
            done.kept.append(path)
        else:
            done.deleted.append(path)
    return done
