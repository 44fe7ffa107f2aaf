"""Read the links of notes: where they lead, and from where others lead to them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from memories.models import Memory, Note, NoteLink

BACKLINKS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Backlinks:
    """The notes and the recallable memories that link a note; of many the newest."""

    notes: list[Note]
    notes_total: int
    memories: list[Memory]
    memories_total: int


def links_of(note: Note) -> list[NoteLink]:
    """Return the links of a note in the order of its text, with the notes that they lead to."""
    return list(NoteLink.objects.filter(source=note).select_related("note").order_by("position"))


def links_of_memory(memory: Memory) -> list[NoteLink]:
    """Return the links of a memory in the order of its text, with the notes that they lead to."""
    return list(NoteLink.objects.filter(memory=memory).select_related("note").order_by("position"))


def with_linking_memories(notes: QuerySet[Note], now: datetime) -> QuerySet[Note]:
    """Return notes with the number of recallable memories that link each."""
    links = NoteLink.objects.filter(note=OuterRef("pk"), memory__in=Memory.objects.recallable(now))
    counts = links.order_by().values("note").annotate(n=Count("memory", distinct=True))
    return notes.annotate(memory_count=Coalesce(Subquery(counts.values("n")), 0))


def linking_memories(note_ids: Collection[UUID], now: datetime) -> QuerySet[Memory]:
    """Return the recallable memories that link any of these notes."""
    links = NoteLink.objects.filter(note__in=list(note_ids), memory__isnull=False)
    return Memory.objects.recallable(now).filter(pk__in=links.values("memory"))


def backlinks_of(note: Note, now: datetime) -> Backlinks:
    """Return what links a note, newest first, at most BACKLINKS_SHOWN of each kind."""
    sources = NoteLink.objects.filter(note=note, source__isnull=False)
    notes = Note.objects.filter(pk__in=sources.values("source")).defer("content", "properties")
    memories = linking_memories([note.id], now)
    return Backlinks(
        notes=list(notes.order_by("path")[:BACKLINKS_SHOWN]),
        notes_total=notes.count(),
        memories=list(memories.order_by("-created_at", "-pk")[:BACKLINKS_SHOWN]),
        memories_total=memories.count(),
    )
