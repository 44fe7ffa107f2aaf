"""Create or replace a note: its passages, names, tags and links in one transaction."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime

from engram.kernel import telemetry
from engram.kernel.actors import Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.embedding import EmbeddingUnavailableError, embed
from engram.kernel.history import record
from engram.kernel.ids import next_id
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.preconditions import NOTHING_DEMANDED, Precondition
from engram.kernel.tenancy import before_writing, in_workspace
from memories.core.note_paths import names_of
from memories.models import Note, NoteTag
from memories.services.drift.due import links_changed, note_changed
from memories.services.index.note_chunks import TASK
from memories.services.index.note_links import (
    lock_names,
    resolve_again,
    write_names,
    write_note_links,
)
from memories.services.notes.chunks import VectorsByHash, hashes_with_vectors, write_chunks
from memories.services.notes.draft import CheckedNote, NoteDraft, check
from memories.services.notes.find import version_tag

log = logging.getLogger(__name__)
EMBEDDED_AT_ONCE = 8_000  # characters, half a second; the rest is embedded in the background


@dataclass(frozen=True, slots=True)
class PutNote:
    """The stored note; `outcome` is created, changed or unchanged."""

    note: Note
    outcome: str
    hidden_count: int  # credentials that were replaced by a marker


def put_note(
    workspace: Workspace,
    draft: NoteDraft,
    *,
    only_if: Precondition = NOTHING_DEMANDED,
    actor: Actor,
    now: datetime,
) -> PutNote:
    """Create or replace a note; equal content and title change nothing.

    Raise `StaleError` where the stored note is not as `only_if` demands.

    1. Check and read. 2. Embed the first new passages, outside a transaction; without the embedding
    model all wait. 3. Write everything in one transaction.
    """
    checked = check(replace(draft, agent=actor.agent_name(draft.agent)))
    model = workspace.embedding_model
    with before_writing(workspace):
        stored = Note.objects.filter(path=checked.path).first()
        _demand(only_if, stored)
        if stored is not None and _is_same(stored, checked):
            return PutNote(stored, "unchanged", checked.hidden_count)
        known = hashes_with_vectors(stored, model) if stored is not None else set()
    vectors = _embed_first(workspace, checked, known, now=now)
    return _put(workspace, checked, vectors, model, only_if=only_if, actor=actor, now=now)


def _demand(only_if: Precondition, stored: Note | None) -> None:
    only_if.demand(None if stored is None else version_tag(stored))


def _is_same(note: Note, checked: CheckedNote) -> bool:
    return (note.content_hash, note.given_title) == (checked.content_hash, checked.title)


def _embed_first(
    workspace: Workspace, checked: CheckedNote, known: set[str], *, now: datetime
) -> VectorsByHash:
    """Return the vectors of the first new passages by hash; none if embedding fails."""
    texts = {chunk.text_hash: chunk.embedded for chunk in checked.reading.chunks}
    new, chars = list[str](), 0
    for digest, text in texts.items():
        if digest not in known and chars < EMBEDDED_AT_ONCE:
            new.append(digest)
            chars += len(text)
    if not new:
        return {}
    model = workspace.embedding_model
    try:
        return dict(zip(new, embed([texts[digest] for digest in new], model), strict=True))
    except EmbeddingUnavailableError as error:
        log.warning("a note is kept without an embedding: %s", error)
        telemetry.record_outage(
            "embedding", "embedding_unavailable", detail=model, now=now, workspace=workspace
        )
        return {}


@retry_on_collision
def _put(
    workspace: Workspace,
    checked: CheckedNote,
    vectors: VectorsByHash,
    model: str,
    *,
    only_if: Precondition,
    actor: Actor,
    now: datetime,
) -> PutNote:
    """Write a note in one transaction, unless another has written the same meanwhile."""
    with in_workspace(workspace):
        lock_names()
        stored = Note.objects.select_for_update().filter(path=checked.path).first()
        _demand(only_if, stored)
        if stored is not None and _is_same(stored, checked):
            return PutNote(stored, "unchanged", checked.hidden_count)
        before = stored.content if stored else None
        note = _write(stored, checked, now)
        reading = checked.reading
        pending = write_chunks(note, reading.chunks, vectors, model)
        _write_tags(note, reading.tags)
        keys = write_names(note, names_of(note.path, reading.aliases))
        write_note_links(note, reading.links)
        linking = resolve_again(keys)
        record(
            "note.created" if stored is None else "note.changed",
            of=("note", note.id),
            actor=actor,
            now=now,
            data={"path": note.path, "version": note.version, "chunks": len(reading.chunks)},
        )
        if pending:
            wake(TASK, workspace.pk)
        note_changed(note, earlier=before, earlier_version=note.version - 1, now=now)
        links_changed(linking, now=now)
        return PutNote(note, "created" if stored is None else "changed", checked.hidden_count)


def _write(stored: Note | None, checked: CheckedNote, now: datetime) -> Note:
    """Write the row of a note."""
    note = stored or Note(id=next_id(), path=checked.path, version=0, created_at=now)
    reading, draft = checked.reading, checked.draft
    note.title, note.given_title = reading.title, checked.title
    note.content, note.content_hash = checked.content, checked.content_hash
    note.version += 1
    note.properties, note.aliases = reading.properties, reading.aliases
    note.agent = draft.agent
    if draft.folder:
        note.imported_from, note.imported_hash = draft.folder, checked.content_hash
    note.updated_at = now
    note.save(force_insert=stored is None)
    return note


def _write_tags(note: Note, tags: list[str]) -> None:
    stored = set(NoteTag.objects.filter(note=note).values_list("tag", flat=True))
    NoteTag.objects.filter(note=note, tag__in=stored - set(tags)).delete()
    NoteTag.objects.bulk_create(NoteTag(note=note, tag=tag) for tag in sorted(set(tags) - stored))
