"""Read the links of notes: where they lead, and from where others lead to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Case, F, QuerySet, When

from engram.kernel.planning import Among
from memories.core.drift.headings import renamed_to
from memories.core.drift.passages import statements_of
from memories.core.drift.support import Support
from memories.core.note_anchors import anchors_of
from memories.models import Memory, Note, NoteLink, NoteSupport

BACKLINKS_SHOWN = 100
ANCHORED_NOTES_READ = 200  # of one text; headings of further notes are not looked for
FOLLOWED_NOTES_READ = 20  # of one memory; in further notes no renamed section is looked for


@dataclass(frozen=True, slots=True)
class Backlinks:
    """The notes and the recallable memories that link a note, at most BACKLINKS_SHOWN of each."""

    notes: list[Note]
    notes_total: int
    memories: list[Memory]
    memories_total: int


def links_of(note: Note) -> list[NoteLink]:
    """Return the links of a note in the order of its text, with the notes that they lead to."""
    return _with_targets(NoteLink.objects.filter(source=note))


def links_of_memory(memory: Memory) -> list[NoteLink]:
    """Return the links of a memory in the order of its text, with the notes that they lead to."""
    links = _with_targets(NoteLink.objects.filter(memory=memory))
    missing = [link for link in links if link.is_heading_missing]
    if missing:
        _follow_sections(memory, missing)
    return links


def _follow_sections(memory: Memory, links: Collection[NoteLink]) -> None:
    """Set what sections are called now that were renamed since a memory linked them."""
    notes = list(dict.fromkeys(link.note_id for link in links))[:FOLLOWED_NOTES_READ]
    rows = NoteSupport.objects.filter(memory=memory, note__in=notes)
    found = {
        row.note_id: (Support.from_record(row.support), statements_of(row.note.content))
        for row in rows.select_related("note").only("note__content", "support", "memory")
        if row.support is not None
    }
    for link in links:
        if link.note_id in found:
            link.renamed_to = renamed_to(link.heading, *found[link.note_id])
            link.is_heading_missing = not link.renamed_to


def _with_targets(found: QuerySet[NoteLink]) -> list[NoteLink]:
    """Return links with their notes, without texts, marked where one has no such heading."""
    targets = found.select_related("note").defer("note__content", "note__properties")
    links = list(targets.order_by("position"))
    anchored = {link.note_id for link in links if link.note_id is not None and link.heading}
    texts = Note.objects.filter(Among(F("pk"), sorted(anchored)[:ANCHORED_NOTES_READ])).order_by()
    rows = texts.values_list("pk", "content").iterator(chunk_size=20) if anchored else ()
    anchors = {pk: anchors_of(content) for pk, content in rows}
    for link in links:
        known = anchors.get(link.note_id) if link.note_id and link.heading else None
        link.is_heading_missing = known is not None and not known.has(link.heading)
    return links


def count_linking_memories(note_ids: Collection[UUID], now: datetime) -> dict[UUID, int]:
    """Return how many recallable memories link each of these notes; others are left out."""
    links = _of_live_memories().filter(note__in=list(note_ids))
    pairs = set(links.values_list("note_id", "memory_id"))
    readable = _recallable_among({memory_id for _, memory_id in pairs if memory_id}, now)
    return dict(
        Counter(note_id for note_id, memory_id in pairs if note_id and memory_id in readable)
    )


def linking_memory_ids(note: Note, now: datetime) -> set[UUID]:
    """Return the ids of the recallable memories that link a note."""
    linking = _of_live_memories().filter(note=note).values_list("memory_id", flat=True)
    return _recallable_among({memory_id for memory_id in linking if memory_id}, now)


def _of_live_memories() -> QuerySet[NoteLink]:
    """Return the links of memories that are not hidden, of which some may have expired."""
    return NoteLink.objects.filter(memory__isnull=False, is_live=True).order_by()


def _recallable_among(memory_ids: Collection[UUID], now: datetime) -> set[UUID]:
    readable = Memory.objects.recallable(now).filter(Among(F("pk"), memory_ids)).order_by()
    return set(readable.values_list("pk", flat=True)) if memory_ids else set()


def backlinks_of(note: Note, now: datetime, *, first: Collection[UUID] = ()) -> Backlinks:
    """Return what links a note; of many memories those of `first`, then the newest."""
    # Lists of ids: what the planner makes of sub-selects takes seconds on fresh tables.
    links = NoteLink.objects.filter(note=note, source__isnull=False).order_by()
    source_ids = {source_id for source_id in links.values_list("source_id", flat=True) if source_id}
    notes = Note.objects.filter(Among(F("pk"), source_ids)).defer("content", "properties")
    memory_ids = linking_memory_ids(note, now)
    memories = Memory.objects.recallable(now).filter(Among(F("pk"), memory_ids))
    is_first = Case(When(Among(F("pk"), first), then=0), default=1)
    return Backlinks(
        notes=list(notes.order_by("path")[:BACKLINKS_SHOWN]),
        notes_total=len(source_ids),
        memories=list(memories.order_by(is_first, "-created_at", "-pk")[:BACKLINKS_SHOWN]),
        memories_total=len(memory_ids),
    )
