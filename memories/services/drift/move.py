"""Keep what is known about a note when it moves: another note has its text, and takes its links.

A note moves by being written at its new path and then deleted at the old one; an import of a folder
does the same. While two notes have the name of a link, it leads to neither: what was stored when it
led to one stays with that one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from engram.kernel.jobs import wake
from engram.kernel.tenancy import current_workspace_id
from memories.core.note_paths import AMBIGUOUS
from memories.models import ErrorType, Note, NoteLink, NoteName, NoteSupport, PredictionError
from memories.services.drift.note_edits import NO_VERSION
from memories.services.drift.resolve import CHECK_TASK

_MOVED = (
    "note", "note_version", "earlier_version", "checked_version", "still_true_version", "due_at",
    "attempts",
)  # fmt: skip


def may_link() -> Q:
    """Return the condition of a support whose memory links its note, or may: its name is ambiguous.

    Another note took the same name later, whatever its text.
    """
    links = NoteLink.objects.filter(memory=OuterRef("memory"))
    names = NoteName.objects.filter(note=OuterRef(OuterRef("note")), key=OuterRef("key"))
    ambiguous = links.filter(Exists(names), reason=AMBIGUOUS)
    return Q(Exists(links.filter(note=OuterRef("note")))) | Q(Exists(ambiguous))


def carry_over(note: Note, *, now: datetime) -> None:
    """Give supports and open errors of a note about to be deleted to notes with the same text.

    Its names are gone, and links lead to other notes already. What was said of its present version
    is said of the other note's.
    """
    twins = Note.objects.filter(content_hash=note.content_hash).exclude(pk=note.pk)
    by_id = {twin.pk: twin for twin in twins.only("pk", "path", "version").order_by("path")}
    if not by_id:
        return
    held = NoteSupport.objects.select_for_update().filter(note=note).order_by("memory_id")
    supports = {row.memory_id: row for row in held}
    leads = _leads(supports.keys(), by_id.keys())
    moved = [row for memory_id, row in supports.items() if memory_id in leads]
    for row in moved:
        _move(row, note, by_id[leads[row.memory_id]], now)
    NoteSupport.objects.bulk_update(moved, _MOVED)
    if any(row.due_at for row in moved):
        wake(CHECK_TASK, current_workspace_id())
    _move_errors(note, leads, list(by_id.values()))


def _leads(memory_ids: Collection[UUID], twin_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """Return which twin each memory links, unless it leans on one already."""
    links = NoteLink.objects.filter(memory__in=list(memory_ids), note__in=list(twin_ids))
    found: dict[UUID, UUID] = {}
    for memory_id, note_id in links.order_by("-position", "-pk").values_list("memory", "note"):
        if memory_id is not None and note_id is not None:
            found[memory_id] = note_id
    leaning = NoteSupport.objects.filter(memory__in=list(found), note__in=list(twin_ids))
    for memory_id in leaning.order_by().values_list("memory", flat=True):
        found.pop(memory_id, None)
    return found


def _move(row: NoteSupport, note: Note, twin: Note, now: datetime) -> None:
    def version(of: int | None) -> int | None:
        return _version(of, note, twin)

    is_checked = row.checked_version == note.version
    row.note_id = twin.pk
    row.note_version, row.earlier_version = version(row.note_version), version(row.earlier_version)
    row.still_true_version = version(row.still_true_version)
    row.checked_version = twin.version if is_checked else None
    if not is_checked:
        row.due_at, row.attempts = now, 0


def _version(of: int | None, note: Note, twin: Note) -> int | None:
    """Return the twin's version that has the text of a version of a note."""
    if of is None:
        return None
    return twin.version if of == note.version else NO_VERSION


def _move_errors(note: Note, leads: dict[UUID, UUID], twins: Sequence[Note]) -> None:
    """Move open drift with its supports, and errors about the note alone to the first twin."""
    by_id = {twin.pk: twin for twin in twins}
    drift = Q(error_type=ErrorType.MEMORY_DRIFT, memory__in=list(leads))
    held = PredictionError.objects.select_for_update(of=("self",)).filter(
        drift | Q(memory=None), note=note, resolved_at=None
    )
    taken = set(
        PredictionError.objects.filter(note__in=list(by_id), resolved_at=None)
        .order_by()
        .values_list("error_type", "memory", "note", "source")
    )
    moved = []
    for error in held.order_by("pk"):
        twin = by_id[leads[error.memory_id]] if error.memory_id else twins[0]
        if (error.error_type, error.memory_id, twin.pk, error.source) in taken:
            continue
        error.note_version = _version(error.note_version, note, twin)
        error.note_id, error.note_path = twin.pk, twin.path
        moved.append(error)
    PredictionError.objects.bulk_update(moved, ["note", "note_path", "note_version"])
