"""Import a folder of Markdown files as notes; a second import changes only what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.db.models import F

from engram.kernel.models import Workspace
from engram.kernel.preconditions import ANY, Precondition
from engram.kernel.refusals import MissingError, RefusalError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.notes import note_hash
from memories.models import Note
from memories.services.commit.import_lines import IMPORTER
from memories.services.notes.delete import delete_note
from memories.services.notes.draft import NoteDraft
from memories.services.notes.find import version_tag
from memories.services.notes.put import put_note
from memories.services.notes.scan_folder import FolderScan, texts_of

WRITTEN_HERE = "the note was written here, not imported"
CHANGED_HERE = "the note was changed here since it was imported; the file was not"
CHANGED_TWICE = "both the note and the file were changed since it was imported"
CHANGED_MEANWHILE = "the note was written or deleted here while the import ran"
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


class _Known(NamedTuple):
    """What is stored of a note; `tag` is that of the version."""

    tag: str
    content_hash: str
    imported_from: str
    imported_hash: str

    @property
    def is_changed_here(self) -> bool:
        """Return whether the text differs from the one that was imported."""
        return self.content_hash != self.imported_hash


@dataclass(slots=True)
class ImportedFolder:
    """The outcome of an import: counts, what was skipped and why, what was deleted."""

    outcomes: Counter[str] = field(default_factory=Counter)  # created, changed, unchanged
    skipped: list[tuple[str, str]] = field(default_factory=list)  # file, reason
    deleted: list[str] = field(default_factory=list)
    not_deleted: str = ""  # why nothing was deleted although it was asked for
    hidden: list[tuple[str, int]] = field(default_factory=list)  # file, credentials replaced


def import_folder(
    workspace: Workspace,
    folder: Path,
    scan: FolderScan,
    *,
    clock: Callable[[], datetime],
    deletes_missing: bool = False,
    deletes_most: bool = False,
    replaces_changed: bool = False,
    advance: Callable[[int], object] = lambda _count: None,
) -> ImportedFolder:
    """Write the notes of a scanned folder, each in its own transaction.

    A note that was written or changed here is kept, unless `replaces_changed`. `deletes_missing`
    deletes notes that an earlier import of this folder brought, whose file is gone, and that were
    not changed here; if these are more than half of what was brought, only with `deletes_most`.
    What is written or deleted while the import runs is kept in any case.
    """
    source = str(folder)
    done = ImportedFolder(skipped=list(scan.skipped))
    known = _known(workspace)
    read = 0
    for path, file, text in texts_of(scan):
        advance(1)
        shown = str(file.relative_to(folder))
        if not isinstance(text, str):
            done.skipped.append((shown, str(text)))
            continue
        read += 1
        stored = known.get(path)
        digest = note_hash(text)
        if stored is not None and stored.content_hash == digest:
            done.outcomes["unchanged"] += 1
        elif not replaces_changed and (reason := _reason_to_keep(stored, digest)):
            done.skipped.append((shown, reason))
        else:
            draft = NoteDraft(path, text, folder=source)
            _put(workspace, draft, shown, done, only_if=_as(stored), now=clock())
    if deletes_missing:
        if not read:
            done.not_deleted = EMPTY_SCAN
        elif scan.unread_folders:
            done.not_deleted = f"{UNREAD_FOLDER}: {scan.unread_folders[0]}"
        else:
            _delete_missing(workspace, source, scan, done, deletes_most=deletes_most, clock=clock)
    return done


def _known(workspace: Workspace) -> dict[str, _Known]:
    with in_workspace(workspace):
        rows = Note.objects.order_by().only(
            "path", "version", "content_hash", "imported_from", "imported_hash"
        )
        return {
            note.path: _Known(
                version_tag(note), note.content_hash, note.imported_from, note.imported_hash
            )
            for note in rows.iterator()
        }


def _as(stored: _Known | None) -> Precondition:
    """Return the precondition that a note is as it was read, None: that there is none."""
    if stored is None:
        return Precondition(none_match=(ANY,))
    return Precondition(match=(stored.tag,))


def _reason_to_keep(stored: _Known | None, digest: str) -> str:
    """Return why a note with another text than its file is kept; "" if the file replaces it."""
    if stored is None:
        return ""
    if not stored.imported_from:
        return WRITTEN_HERE
    if not stored.is_changed_here:
        return ""
    return CHANGED_HERE if stored.imported_hash == digest else CHANGED_TWICE


def _put(
    workspace: Workspace,
    draft: NoteDraft,
    shown: str,
    done: ImportedFolder,
    *,
    only_if: Precondition,
    now: datetime,
) -> None:
    try:
        put = put_note(workspace, draft, only_if=only_if, actor=IMPORTER, now=now)
    except StaleError:
        done.skipped.append((shown, CHANGED_MEANWHILE))
    except RefusalError as error:
        done.skipped.append((shown, error.detail))
    else:
        done.outcomes[put.outcome] += 1
        if put.hidden_count:
            done.hidden.append((shown, put.hidden_count))


def _delete_missing(
    workspace: Workspace,
    source: str,
    scan: FolderScan,
    done: ImportedFolder,
    *,
    deletes_most: bool,
    clock: Callable[[], datetime],
) -> None:
    """Delete what an earlier import of the folder brought and is gone.

    A file that was moved counts at both of its paths, so that moving all of them is no reason to
    stop.
    """
    with in_workspace(workspace):
        brought = Note.objects.filter(imported_from=source)
        unchanged = brought.filter(imported_hash=F("content_hash"))
        rows = unchanged.order_by("path").only("path", "version")
        there = scan.files.keys() | scan.skipped_paths
        missing = [(row.path, version_tag(row)) for row in rows if row.path not in there]
        total = brought.count()
    if not deletes_most and 2 * len(missing) > total:
        done.not_deleted = MOST_GONE.format(missing=len(missing), brought=total)
        return
    for path, tag in missing:
        only_if = Precondition(match=(tag,))
        try:
            delete_note(workspace, path, only_if=only_if, actor=IMPORTER, now=clock())
        except (StaleError, MissingError):
            done.skipped.append((path, CHANGED_MEANWHILE))
        else:
            done.deleted.append(path)
