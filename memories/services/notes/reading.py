"""Read passages of a note with what a page shows beside them: memories, and drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from memories.models import Note, NoteChunk, NoteLink
from memories.services.drift.find import drifted_from, is_read_in_part
from memories.services.notes.beside import PlacedMemory, place_memories
from memories.services.notes.links import Backlinks, backlinks_of, links_of

PASSAGES_A_PAGE = 60


@dataclass(frozen=True, slots=True)
class NotePassages:
    """Passages of a note, each with the memories beside it, and what the note links."""

    rows: list[tuple[NoteChunk, list[PlacedMemory]]]
    drifted: dict[UUID, UUID | None]  # memories, each with the open error about it
    backlinks: Backlinks
    links: list[NoteLink]
    is_cut: bool  # only the note's beginning is compared with memories

    @property
    def targets(self) -> dict[tuple[str, str], NoteLink]:
        """Return the note's links by what its text calls them."""
        return {(link.target, link.heading): link for link in self.links}

    @property
    def memories_beyond(self) -> int:
        """Return how many memories link the note and stand beside no passage."""
        return self.backlinks.memories_total - len(self.backlinks.memories)


def chunks_of(note: Note) -> QuerySet[NoteChunk]:
    """Return all passages of a note in their order, without their vectors."""
    return NoteChunk.objects.filter(note=note).defer("embedding").order_by("position")


def read_passages(
    note: Note, chunks: Sequence[NoteChunk], model: str, now: datetime
) -> NotePassages:
    """Return passages with the memories beside them, those first that the note does not carry.

    The number of queries does not depend on the number of memories, passages or links.
    """
    drifted = drifted_from(note)
    backlinks = backlinks_of(note, now, first=drifted.keys())
    placed = place_memories(note, backlinks.memories, model)
    rows = [(chunk, placed.get(chunk.position, [])) for chunk in chunks]
    return NotePassages(rows, drifted, backlinks, links_of(note), is_read_in_part(note))
