"""Import a folder of Markdown files as notes; a second import changes only what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from engram.kernel.models import Workspace
from engram.kernel.preconditions import Precondition
from engram.kernel.refusals import RefusalError, StaleError
from memories.core.notes import note_hash
from memories.services.commit.import_lines import IMPORTER
from memories.services.notes.draft import NoteDraft
from memories.services.notes.folder_notes import (
    StoredNote,
    stored_notes,
    take_over,
    unchanged_since,
)
from memories.services.notes.prune_folder import prune_folder
from memories.services.notes.put import put_note
from memories.services.notes.scan_folder import FolderScan, texts_of

WRITTEN_HERE = "the note was written here, not imported"
CHANGED_HERE = "the note was changed here since it was imported; the file was not"
CHANGED_TWICE = "both the note and the file were changed since it was imported"
CHANGED_MEANWHILE = "the note was written or deleted here while the import ran"
OF_OTHER = "another folder, {folder}, brought a note with this path and another text"


@dataclass(slots=True)
class ImportedFolder:
    """The outcome of an import: counts, what was skipped and why, what was deleted."""

    outcomes: Counter[str] = field(default_factory=Counter)  # created, changed, unchanged
    skipped: list[tuple[str, str]] = field(default_factory=list)  # file, reason
    same_text: list[tuple[str, str]] = field(default_factory=list)  # file, folder that brought it
    of_others: set[str] = field(default_factory=set)  # folders that keep notes of files in this one
    taken_over: Counter[str] = field(default_factory=Counter)  # notes by folder that brought them
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
    takes_over: bool = False,
    advance: Callable[[int], object] = lambda _count: None,
) -> ImportedFolder:
    """Write the notes of a scanned folder, each in its own transaction.

    A note that was written or changed here is kept, unless `replaces_changed`; one that another
    folder brought, unless `takes_over`: then it is of this folder from now on. `deletes_missing`
    deletes notes that an earlier import of this folder brought, whose file is gone, and that were
    not changed here; if these are more than half of what was brought, only with `deletes_most`.
    What is written or deleted while the import runs is kept in any case.
    """
    source = str(folder)
    done = ImportedFolder(skipped=list(scan.skipped))
    known = stored_notes(workspace)
    read = 0
    for path, file, text in texts_of(scan):
        advance(1)
        shown = str(file.relative_to(folder))
        if not isinstance(text, str):
            done.skipped.append((shown, str(text)))
            continue
        read += 1
        stored, digest = known.get(path), note_hash(text)
        is_same = stored is not None and stored.content_hash == digest
        if stored is not None and stored.is_of_other(source):
            other = stored.imported_from
            if takes_over:
                take_over(workspace, path, of=other, by=source)
                done.taken_over[other] += 1
            else:
                done.of_others.add(other)
                if not is_same:
                    done.skipped.append((shown, OF_OTHER.format(folder=other)))
                    continue
                done.same_text.append((shown, other))
        if is_same:
            done.outcomes["unchanged"] += 1
        elif not replaces_changed and (reason := _reason_to_keep(stored, digest)):
            done.skipped.append((shown, reason))
        else:
            draft = NoteDraft(path, text, folder=source)
            _put(workspace, draft, shown, done, only_if=unchanged_since(stored), now=clock())
    if deletes_missing:
        pruned = prune_folder(
            workspace, source, scan, is_empty=not read, deletes_most=deletes_most, clock=clock
        )
        done.skipped += [(path, CHANGED_MEANWHILE) for path in pruned.kept]
        done.deleted, done.not_deleted = pruned.deleted, pruned.not_deleted
    return done


def _reason_to_keep(stored: StoredNote | None, digest: str) -> str:
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
