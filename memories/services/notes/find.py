"""Find notes by path, by name, and with their counts."""

from __future__ import annotations

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from engram.kernel.refusals import MissingError
from memories.core.note_paths import PathError, normalise_path
from memories.core.wiki_links import normalise_tag
from memories.models import NameKind, Note, NoteChunk, NoteName, NoteTag

NO_SUCH_NOTE = "There is no such note."
WORDS_MAX = 8


def find_note(path: str) -> Note:
    """Return the note of a path; raise `MissingError` if there is none."""
    try:
        found = Note.objects.filter(path=normalise_path(path)).first()
    except PathError:
        found = None
    if found is None:
        raise MissingError(NO_SUCH_NOTE)
    return found


def version_tag(note: Note) -> str:
    """Return the entity tag of a note's version; no other note ever has it, nor had."""
    return f'"{note.id.hex}-{note.version}"'


def named(text: str) -> Q:
    """Match notes whose path, title or one of whose aliases contains a text, in any case."""
    aliases = NoteName.objects.filter(kind=NameKind.ALIAS, name__icontains=text)
    return Q(path__icontains=text) | Q(title__icontains=text) | Q(pk__in=aliases.values("note"))


def tagged(tag: str) -> Q:
    """Match notes with a tag, or with one below it: `kitchen` also finds `kitchen/bread`."""
    name = normalise_tag(tag)
    below = Q(tag=name) | Q(tag__startswith=f"{name}/")
    return Q(pk__in=NoteTag.objects.filter(below).values("note"))


def passages_with_words(text: str) -> QuerySet[NoteChunk]:
    """Return the passages that contain all words of a text, in any case, below their headings.

    A scan of the workspace's passages.
    """
    found = NoteChunk.objects.select_related("note").defer("embedding", "note__content")
    for word in text.split()[:WORDS_MAX]:
        found = found.filter(Q(text__icontains=word) | Q(heading__icontains=word))
    return found.order_by("-note__updated_at", "note_id", "position")


def with_counts(notes: QuerySet[Note]) -> QuerySet[Note]:
    """Return notes with the number of their passages and of those that are not embedded."""
    chunks = NoteChunk.objects.filter(note=OuterRef("pk")).order_by().values("note")
    waiting = chunks.filter(embedding=None)
    return notes.annotate(
        chunk_count=Coalesce(Subquery(chunks.annotate(n=Count("pk")).values("n")), 0),
        pending_count=Coalesce(Subquery(waiting.annotate(n=Count("pk")).values("n")), 0),
    )
