"""Place the memories that link a note beside its passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from engram.kernel.tenancy import current_workspace_id
from memories.core.note_anchors import names_of_anchor, names_of_heading
from memories.core.note_chunks import HEADING_SEPARATOR
from memories.models import Memory, Note, NoteChunk, NoteLink

BY_HEADING = "links this heading"
BY_BLOCK = "links this block"
BY_MEANING = "nearest in meaning"
UNKNOWN = "not compared yet"

_NEAREST = """
    SELECT DISTINCT ON (vector.memory_id) vector.memory_id, chunk.position,
        1 - (vector.embedding <=> chunk.embedding)
    FROM memories_memoryvector AS vector
    JOIN memories_notechunk AS chunk ON chunk.note_id = %(note)s AND chunk.model = %(model)s
        AND chunk.workspace_id = vector.workspace_id AND chunk.embedding IS NOT NULL
    WHERE vector.workspace_id = %(workspace)s AND vector.model = %(model)s
        AND vector.memory_id = ANY(%(memories)s)
    ORDER BY vector.memory_id, vector.embedding <=> chunk.embedding, chunk.position
"""


@dataclass(frozen=True, slots=True)
class PlacedMemory:
    """A memory beside a passage; `why` it is there, and the cosine of the two if compared."""

    memory: Memory
    why: str
    cosine: float | None


def place_memories(
    note: Note, memories: Sequence[Memory], model: str
) -> dict[int, list[PlacedMemory]]:
    """Return the memories beside each passage, by the passage's position.

    A memory that links a heading or a block stands beside it, any other beside the passage that is
    nearest to it in meaning. A constant number of queries.
    """
    placed: dict[int, list[PlacedMemory]] = defaultdict(list)
    if not memories:
        return placed
    named = _named_places(note, [memory.id for memory in memories])
    near = _nearest(note, [memory.id for memory in memories], model)
    for memory in memories:
        nearest = near.get(memory.id)
        if memory.id in named:
            position, why = named[memory.id]
            cosine = nearest[1] if nearest and nearest[0] == position else None
            placed[position].append(PlacedMemory(memory, why, cosine))
        elif nearest is not None:
            placed[nearest[0]].append(PlacedMemory(memory, BY_MEANING, nearest[1]))
        else:
            placed[0].append(PlacedMemory(memory, UNKNOWN, None))
    return placed


def _nearest(note: Note, memory_ids: Collection[UUID], model: str) -> dict[UUID, tuple[int, float]]:
    """Return the nearest passage of each embedded memory, with the cosine."""
    with connection.cursor() as cursor:
        cursor.execute(
            _NEAREST,
            {
                "workspace": current_workspace_id(),
                "note": note.id,
                "model": model,
                "memories": list(memory_ids),
            },
        )
        return {memory_id: (position, cosine) for memory_id, position, cosine in cursor.fetchall()}


def _named_places(note: Note, memory_ids: Collection[UUID]) -> Mapping[UUID, tuple[int, str]]:
    """Return the passages whose heading or block memories link by name."""
    links = NoteLink.objects.filter(note=note, memory__in=list(memory_ids)).exclude(heading="")
    wanted = list(links.order_by("position").values_list("memory_id", "heading"))
    if not wanted:
        return {}
    chunks = NoteChunk.objects.filter(note=note).order_by("position")
    headings: dict[str, int] = {}
    texts: list[tuple[int, str]] = []
    for position, heading, text in chunks.values_list("position", "heading", "text"):
        own = heading.rpartition(HEADING_SEPARATOR)[2] or heading
        for name in names_of_heading(own):
            headings.setdefault(name, position)
        texts.append((position, text))
    found: dict[UUID, tuple[int, str]] = {}
    for memory_id, heading in wanted:
        if heading.startswith("^"):
            marked = next((p for p, text in texts if has_block(text, heading)), None)
            place = None if marked is None else (marked, BY_BLOCK)
        else:
            meant = next((n for n in names_of_anchor(heading) if n in headings), None)
            place = None if meant is None else (headings[meant], BY_HEADING)
        if place is not None:
            found.setdefault(memory_id, place)
    return found


def has_block(text: str, mark: str) -> bool:
    """Return whether a line of a passage ends with the mark of a block, such as `^b1`."""
    return any(f" {line}".rstrip().endswith(f" {mark}") for line in text.splitlines())
