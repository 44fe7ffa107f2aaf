"""Embed the questions of answers after the commit, and read answers with their vectors.

Rows without a vector of the workspace's model are due; detection embeds those that it is about to
read, and a sweep the rest. Equal questions of a workspace are embedded once.
"""

from __future__ import annotations

import logging
import secrets
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from time import monotonic
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from pgvector import Vector

from engram.kernel.embedding import EmbeddingUnavailableError, Floats, embed
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.answers import Answer
from memories.models import MemoryAnswer
from memories.services.index.accepted import embed_accepted
from memories.services.index.given_answers import given_answers

log = logging.getLogger(__name__)
QUESTIONS_A_STEP = 64  # some hundred milliseconds of the local model

AnswerVectors = list[tuple[Answer, Floats | None]]


def load_answers(
    workspace: Workspace,
    memory_ids: Collection[UUID],
    *,
    now: datetime | None = None,
    as_of: datetime | None = None,
) -> dict[UUID, AnswerVectors]:
    """Return the answers of recallable memories, each with its question's unit vector.

    With `as_of`, those that memories gave then. The vector is None while the question is not
    embedded with the workspace's model. Memories without answers are left out. One query, however
    many memories.
    """
    found: dict[UUID, AnswerVectors] = defaultdict(list)
    with in_workspace(workspace):
        given = given_answers(now, as_of).filter(memory__in=list(memory_ids))
        rows = given.order_by("memory_id", "position")
        names = ("memory_id", "question", "answer", "was", "model", "embedding")
        for memory_id, question, answer, was, model, stored in rows.values_list(*names):
            is_current = stored is not None and model == workspace.embedding_model
            vector = np.asarray(stored, dtype=np.float32) if is_current else None
            found[memory_id].append((Answer(question, answer, was), vector))
    return dict(found)


def select_due() -> QuerySet[MemoryAnswer]:
    """Return the answers whose question is not embedded; those of forgotten memories can wait."""
    return MemoryAnswer.objects.filter(embedding=None, memory__forgotten_at=None)


def embed_questions(
    workspace: Workspace,
    memory_ids: Collection[UUID] | None = None,
    *,
    limit: int | None = None,
    seconds: float | None = None,
) -> int:
    """Embed the questions of these memories (None: all due ones); return how many were.

    At most `limit` questions, or for about `seconds`: then each call begins with other ones, so
    that those which the provider refuses, and which stay due, keep none from its turn. A failing
    provider is no error: what it did not embed stays due. Holds no transaction while it embeds.
    """
    model, started, embedded = workspace.embedding_model, monotonic(), 0
    begin = "" if limit is None and seconds is None else secrets.token_hex(32)
    for step in _steps(workspace, memory_ids, begin, limit):
        if seconds is not None and monotonic() - started >= seconds:
            break
        try:
            vectors = _vectors_of(workspace, step, model)
        except EmbeddingUnavailableError as error:
            log.warning("questions of workspace %s are not embedded yet: %s", workspace.pk, error)
            break
        with in_workspace(workspace):
            _write(vectors, model)
        embedded += len(vectors)
    return embedded


def _steps(
    workspace: Workspace, memory_ids: Collection[UUID] | None, begin: str, limit: int | None
) -> Iterator[dict[str, str]]:
    """Yield the questions to embed by their hash, some at a time and each once.

    In the order of hashes: those after `begin`, then those before.
    """
    left = sys.maxsize if limit is None else limit
    ranges = [(begin, ""), ("", begin)] if begin else [("", "")]
    for after, last in ranges:
        position, is_end = after, False
        while left > 0 and not is_end:
            most = min(left, QUESTIONS_A_STEP)
            step = _waiting(workspace, memory_ids, position, last, most)
            if step:
                yield step
                position = list(step)[-1]
            left -= len(step)
            is_end = len(step) < most


def _waiting(
    workspace: Workspace, memory_ids: Collection[UUID] | None, after: str, last: str, most: int
) -> dict[str, str]:
    """Return the next questions to embed, those with hashes after one and to the last one."""
    with in_workspace(workspace):
        if memory_ids is None:
            rows = select_due()
        else:
            own = MemoryAnswer.objects.filter(memory__in=list(memory_ids))
            rows = own.exclude(model=workspace.embedding_model)
        rows = rows.filter(question_hash__gt=after)
        if last:
            rows = rows.filter(question_hash__lte=last)
        first = rows.order_by("question_hash", "pk").distinct("question_hash")
        return dict(first.values_list("question_hash", "question")[:most])


def _vectors_of(
    workspace: Workspace, questions: Mapping[str, str], model: str
) -> dict[str, Floats]:
    """Return the vectors of questions, known or embedded now, without those that are refused."""
    with in_workspace(workspace):
        stored = MemoryAnswer.objects.filter(question_hash__in=list(questions), model=model)
        first = stored.order_by("question_hash").distinct("question_hash")
        rows = first.values_list("question_hash", "embedding")
        found = {digest: np.asarray(vector, dtype=np.float32) for digest, vector in rows}
    if new := [digest for digest in questions if digest not in found]:
        texts = [questions[digest] for digest in new]
        read = zip(new, embed_accepted(texts, model, embed), strict=True)
        found |= {digest: vector for digest, vector in read if vector is not None}
    return found


def _write(vectors: Mapping[str, Floats], model: str) -> None:
    """Write the vectors to all answers of these questions, unless the model has changed.

    Rows that are being written are skipped: their writer is another embedder, or replaces them.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH due AS MATERIALIZED (
                SELECT id, question_hash FROM memories_memoryanswer
                WHERE workspace_id = %(workspace)s AND question_hash = ANY(%(hashes)s)
                    AND model <> %(model)s
                FOR NO KEY UPDATE SKIP LOCKED
            )
            UPDATE memories_memoryanswer AS kept
            SET embedding = read.embedding::vector, model = %(model)s
            FROM due JOIN unnest(%(hashes)s::text[], %(embeddings)s::text[])
                AS read (question_hash, embedding) USING (question_hash)
            WHERE kept.id = due.id AND EXISTS (
                SELECT 1 FROM kernel_workspace
                WHERE id = %(workspace)s AND embedding_model = %(model)s
            )
            """,
            {
                "workspace": current_workspace_id(),
                "model": model,
                "hashes": list(vectors),
                "embeddings": [Vector(vector).to_text() for vector in vectors.values()],
            },
        )


def mark_due(model: str) -> None:
    """Mark the answers whose vectors are of another model than `model` as due."""
    others = MemoryAnswer.objects.exclude(model__in=["", model])
    others.update(embedding=None, model="")
