"""Write the passages of a note; those unchanged under unchanged headings keep their vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from engram.kernel.embedding import Floats
from memories.core.note_chunks import Chunk
from memories.models import Note, NoteChunk

VectorsByHash = Mapping[str, Floats]


def hashes_with_vectors(note: Note, model: str) -> set[str]:
    """Return the hashes of a note's passages that have a vector of this model."""
    embedded = NoteChunk.objects.filter(note=note, model=model, embedding__isnull=False)
    return set(embedded.values_list("text_hash", flat=True))


def write_chunks(note: Note, chunks: Sequence[Chunk], vectors: VectorsByHash, model: str) -> int:
    """Replace the passages of a locked note; return the number of those without a vector.

    A passage with the hash of a stored one takes over its row, with its vector. `vectors` are by
    `model`.
    """
    stored: dict[str, list[NoteChunk]] = defaultdict(list)
    for row in NoteChunk.objects.filter(note=note).order_by("-position"):
        stored[row.text_hash].append(row)
    moved, created, pending = [], [], 0
    for position, chunk in enumerate(chunks):
        digest = chunk.text_hash
        if same := stored.get(digest):
            row = same.pop()
            if (row.position, row.heading, row.text) != (position, chunk.heading, chunk.text):
                row.position, row.heading, row.text = position, chunk.heading, chunk.text
                moved.append(row)
        else:
            row = NoteChunk(
                note=note,
                position=position,
                heading=chunk.heading,
                text=chunk.text,
                text_hash=digest,
            )
            if (vector := vectors.get(digest)) is not None:
                row.embedding, row.model = vector, model
            created.append(row)
        pending += row.embedding is None
    gone = [row.pk for rows in stored.values() for row in rows]
    NoteChunk.objects.filter(pk__in=gone).delete()
    NoteChunk.objects.bulk_update(moved, ["position", "heading", "text"], batch_size=200)
    NoteChunk.objects.bulk_create(created, batch_size=200)
    return pending
