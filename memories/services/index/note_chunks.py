"""Embed the passages of notes that have no vector: of long notes, or left by an outage.

The rows without a vector are due; the task is woken after a note is written, and a sweep finds the
rest. Each step embeds a few, so that a killed process loses only seconds of work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from django.db import connection
from django.db.models import QuerySet
from pgvector import Vector

from engram.kernel.embedding import EmbeddingUnavailableError, Floats, embed
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.note_chunks import context_of, embedded_text
from memories.models import NoteChunk
from memories.services.index.accepted import embed_accepted

log = logging.getLogger(__name__)
TASK = "memories.embed_notes"
CHUNKS_A_STEP = 16


class _Due(NamedTuple):
    """A passage to embed."""

    id: int
    text: str
    text_hash: str


def select_due() -> QuerySet[NoteChunk]:
    """Return the passages that have no vector."""
    return NoteChunk.objects.filter(embedding=None)


def embed_pending(
    workspace: Workspace,
    *,
    seconds: float | None = None,
    after: int = 0,
    advance: Callable[[int], object] = lambda _count: None,
) -> int:
    """Embed the passages that wait, in the order of ids after `after`; return their number.

    A text that the provider refuses stays pending and is skipped. After `seconds` another task
    continues. The call ends when the provider is down.
    """
    started, embedded = monotonic(), 0
    model = workspace.embedding_model
    while step := _next_due(workspace, after):
        if seconds is not None and monotonic() - started >= seconds:
            wake(TASK, workspace.pk, str(after))
            return embedded
        try:
            found = embed_accepted([due.text for due in step], model, embed)
        except EmbeddingUnavailableError as error:
            log.warning("notes of workspace %s are not embedded yet: %s", workspace.pk, error)
            return embedded
        vectors = {
            due: vector for due, vector in zip(step, found, strict=True) if vector is not None
        }
        with in_workspace(workspace):
            _write(vectors, model)
        embedded += len(vectors)
        advance(len(step))
        after = step[-1].id
    return embedded


def _next_due(workspace: Workspace, after: int) -> Sequence[_Due]:
    with in_workspace(workspace):
        rows = select_due().filter(pk__gt=after).select_related("note").order_by("pk")
        return [
            _Due(
                row.pk,
                embedded_text(context_of(row.heading, row.note.title), row.text),
                row.text_hash,
            )
            for row in rows.only("pk", "heading", "text", "text_hash", "note__title")[
                :CHUNKS_A_STEP
            ]
        ]


def _write(vectors: Mapping[_Due, Floats], model: str) -> None:
    """Write vectors to the passages that still have this text, unless the model has changed."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE memories_notechunk AS kept
            SET embedding = read.embedding::vector, model = %(model)s
            FROM unnest(%(ids)s::bigint[], %(hashes)s::text[], %(embeddings)s::text[])
                AS read (id, text_hash, embedding)
            WHERE kept.workspace_id = %(workspace)s AND kept.id = read.id
                AND kept.text_hash = read.text_hash AND kept.embedding IS NULL
                AND EXISTS (
                    SELECT 1 FROM kernel_workspace
                    WHERE id = %(workspace)s AND embedding_model = %(model)s
                )
            """,
            {
                "workspace": current_workspace_id(),
                "model": model,
                "ids": [due.id for due in vectors],
                "hashes": [due.text_hash for due in vectors],
                "embeddings": [Vector(vector).to_text() for vector in vectors.values()],
            },
        )


def mark_due(model: str) -> None:
    """Mark the passages whose vectors are of another model than `model` as due."""
    NoteChunk.objects.exclude(model__in=["", model]).update(embedding=None, model="")
