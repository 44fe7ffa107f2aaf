"""What folders brought: the stored notes with the folder whose import brought each.

A folder is its absolute path. A note belongs to the folder whose import wrote it last, and only an
import of this folder replaces or deletes it, until another one takes it over.
"""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count

from engram.kernel.models import Workspace
from engram.kernel.preconditions import ANY, Precondition
from engram.kernel.tenancy import in_workspace
from memories.models import Note
from memories.services.notes.find import version_tag


class StoredNote(NamedTuple):
    """What is stored of a note; `tag` is that of the version."""

    tag: str
    content_hash: str
    imported_from: str
    imported_hash: str

    @property
    def is_changed_here(self) -> bool:
        """Return whether the text differs from the one that was imported."""
        return self.content_hash != self.imported_hash

    def is_of_other(self, folder: str) -> bool:
        """Return whether another folder than this one brought the note."""
        return self.imported_from not in {"", folder}


def stored_notes(workspace: Workspace) -> dict[str, StoredNote]:
    """Return the notes of a workspace by path."""
    with in_workspace(workspace):
        rows = Note.objects.order_by().only(
            "path", "version", "content_hash", "imported_from", "imported_hash"
        )
        return {
            note.path: StoredNote(
                version_tag(note), note.content_hash, note.imported_from, note.imported_hash
            )
            for note in rows.iterator()
        }


def unchanged_since(stored: StoredNote | None) -> Precondition:
    """Return the precondition that a note is as it was read, None: that there is none."""
    if stored is None:
        return Precondition(none_match=(ANY,))
    return Precondition(match=(stored.tag,))


def take_over(workspace: Workspace, path: str, *, of: str, by: str) -> None:
    """Make a note that an import of one folder brought one of another folder."""
    with in_workspace(workspace):
        Note.objects.filter(path=path, imported_from=of).update(imported_from=by)


def move_folder(workspace: Workspace, *, old: str, new: str) -> int:
    """Make all notes that imports of a folder brought those of another; return their number."""
    with in_workspace(workspace):
        return Note.objects.filter(imported_from=old).update(imported_from=new)


def notes_by_folder(workspace: Workspace) -> dict[str, int]:
    """Return the number of notes that the imports of each folder brought."""
    with in_workspace(workspace):
        imported = Note.objects.exclude(imported_from="").order_by("imported_from")
        counts = imported.values("imported_from").annotate(total=Count("pk"))
        return {row["imported_from"]: row["total"] for row in counts}
