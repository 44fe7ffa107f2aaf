"""Delete a note with its passages; links to it lead nowhere, or to a note with the same name."""

from __future__ import annotations

from datetime import datetime

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.preconditions import NOTHING_DEMANDED, Precondition
from engram.kernel.tenancy import in_workspace
from memories.models import NoteName
from memories.services.drift.due import links_changed
from memories.services.drift.move import carry_over
from memories.services.drift.resolve import resolve_of_note
from memories.services.index.note_links import keys_of, lock_names, resolve_again
from memories.services.notes.find import find_note, version_tag


def delete_note(
    workspace: Workspace,
    path: str,
    *,
    only_if: Precondition = NOTHING_DEMANDED,
    actor: Actor,
    now: datetime,
) -> None:
    """Delete a note in one transaction; history keeps its path.

    Where another note has its text and now takes its links, what leans on it moves there.

    Raise `StaleError` where the note is not as `only_if` demands.
    """
    with in_workspace(workspace):
        lock_names()
        note = find_note(path)
        only_if.demand(version_tag(note))
        keys = keys_of(note)
        note_id = note.id
        NoteName.objects.filter(note=note).delete()
        linking = resolve_again(keys)
        carry_over(note, now=now)
        resolve_of_note(note_id, actor=actor, now=now)
        note.delete()
        links_changed(linking, now=now)
        record("note.deleted", of=("note", note_id), actor=actor, now=now, data={"path": note.path})
