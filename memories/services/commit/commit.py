"""Commit memories: refuse credentials, run the gate, write all drafts in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
from django.db import connection

from engram.kernel import telemetry
from engram.kernel.actors import Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.credentials import refuse_credentials
from engram.kernel.embedding import EmbeddingUnavailableError, embed_first_windows
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.planning import by_index, writing
from engram.kernel.refusals import InvalidError
from memories.core.comparing import CHARS_A_CALL, Comparer
from memories.core.content import CONTENT_MAX_CHARS, content_hash
from memories.models import Memory
from memories.services.commit import second_look
from memories.services.commit.draft import Draft
from memories.services.commit.nearby import (
    NearbyPairs,
    add_nearby,
    find_nearby,
    find_nearby_again,
)
from memories.services.commit.transaction import Committed, CommitTransaction
from memories.services.index.statement_hashes import lock_statements
from memories.services.lifecycle.answers import forgotten_quotes, refuse_quotes
from memories.services.locks import lock, share_lock
from memories.signals import memories_written

__all__ = ["Committed", "Prepared", "commit", "commit_all", "prepare", "write"]

log = logging.getLogger(__name__)


def commit(workspace: Workspace, draft: Draft, *, actor: Actor, now: datetime) -> Committed:
    """Commit one memory."""
    return commit_all(workspace, [draft], actor=actor, now=now)[0]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Drafts without credentials, with hashes and embeddings computed outside a transaction."""

    drafts: tuple[Draft, ...]
    hashes: tuple[str, ...]
    windows: tuple[np.ndarray | None, ...]
    model: str

    def for_place(self, *, scope: str, project: str) -> Prepared:
        """Return the same drafts for another scope and project."""
        moved = tuple(replace(draft, scope=scope, project=project) for draft in self.drafts)
        return replace(self, drafts=moved)


def prepare(drafts: Sequence[Draft], model: str) -> Prepared:
    """Refuse drafts that are too long or contain a credential; hash and embed with `model`.

    Embedding takes time, so the caller must hold no lock.

    Of a long text only the first windows are embedded here, the rest in the background. When
    embedding fails the memory is stored without vectors, found by its words, and embedded later.
    """
    for position, draft in enumerate(drafts):
        for name, text in draft.texts():
            path = name if len(drafts) == 1 else f"memories.{position}.{name}"
            refuse_credentials({path: text})
        if len(draft.content) > CONTENT_MAX_CHARS:
            path = "content" if len(drafts) == 1 else f"memories.{position}.content"
            raise InvalidError(path, f"A memory has at most {CONTENT_MAX_CHARS:,} characters.")
    contents = [draft.content for draft in drafts]
    windows: list[np.ndarray | None]
    try:
        windows = list(embed_first_windows(contents, model))
    except EmbeddingUnavailableError as error:
        log.warning("%d memories are kept without an embedding: %s", len(contents), error)
        windows = [None] * len(contents)
    hashes = tuple(content_hash(content) for content in contents)
    return Prepared(tuple(drafts), hashes, tuple(windows), model)


def commit_all(
    workspace: Workspace,
    drafts: Sequence[Draft],
    *,
    actor: Actor,
    now: datetime,
    is_gated: bool = True,
    is_detected: bool = True,
) -> list[Committed]:
    """Commit drafts in order, all or none."""
    with telemetry.timed("commit" if len(drafts) == 1 else "commit_batch", workspace):
        prepared = prepare(drafts, workspace.embedding_model)
        if any(vectors is None for vectors in prepared.windows):
            telemetry.record_outage(
                "embedding", "embedding_unavailable",
                detail=prepared.model, now=now, workspace=workspace,
            )  # fmt: skip
        return write(
            workspace,
            prepared,
            actor=actor,
            now=now,
            is_gated=is_gated,
            is_detected=is_detected,
        )


def write(
    workspace: Workspace,
    prepared: Prepared,
    *,
    actor: Actor,
    now: datetime,
    is_gated: bool = True,
    is_detected: bool = True,
    asks: bool = True,
) -> list[Committed]:
    """Write prepared drafts in one transaction, all or none.

    Memories that concurrent commits wrote are compared afterwards (`second_look`): at once, or in
    the background when this transaction is part of a larger one. `asks` adds the neighbours whose
    relation the writer should report.
    """
    is_detected = is_detected and workspace.config.detection_enabled
    comparer = Comparer(CHARS_A_CALL)
    written = _write(
        workspace, prepared, comparer,
        actor=actor, now=now, is_gated=is_gated, is_detected=is_detected,
        asks=asks and is_detected,
    )  # fmt: skip
    results, nearby = written.results, written.nearby
    if written.due and not connection.in_atomic_block:
        found = second_look.look_now_or_later(workspace, written.due, actor=actor, now=now)
        results = [second_look.add_second_look(result, found) for result in results]
        if asks and is_detected:
            nearby = find_nearby_again(workspace, results, comparer, prepared.model)
    elif written.due or written.left_for_later:
        wake(second_look.TASK, workspace.pk)
    comparer.left = CHARS_A_CALL  # what the gate compared takes nothing from what is asked
    return add_nearby(workspace, results, nearby, comparer, actor=actor, now=now)


class _Written(NamedTuple):
    """The results of a commit transaction, and the memories that need a second look."""

    results: list[Committed]
    due: list[UUID]  # not compared with memories that concurrent commits wrote
    left_for_later: list[UUID]  # not compared with any memory
    nearby: NearbyPairs  # what the writers may be asked about


@retry_on_collision
def _write(
    workspace: Workspace,
    prepared: Prepared,
    comparer: Comparer,
    *,
    actor: Actor,
    now: datetime,
    is_gated: bool,
    is_detected: bool,
    asks: bool,
) -> _Written:
    """Write drafts in one transaction.

    1. Lock each statement, so that two requests do not write the same one. 2. Process the drafts in
    order. 3. Update term counts and send signals last, because all writers of a workspace share
    those rows. The write counter then shows whether another commit ran meanwhile.
    """
    due: list[UUID] = []
    with writing(workspace):
        known, corpus = lock_statements(prepared.hashes)
        _lock_named(prepared.drafts)
        run = CommitTransaction(
            workspace, prepared.model, known, corpus.size, actor=actor, now=now,
            is_gated=is_gated, comparer=comparer,
        )  # fmt: skip
        forgotten = forgotten_quotes(a for draft in prepared.drafts for a in draft.answers)
        rows = zip(prepared.drafts, prepared.hashes, prepared.windows, strict=True)
        results = []
        with by_index():  # once for all drafts
            for position, (draft, digest, vectors) in enumerate(rows):
                try:
                    refuse_quotes(draft.answers, forgotten)
                    results.append(run.commit_one(draft, digest, vectors))
                except InvalidError as error:
                    if len(prepared.drafts) == 1:
                        raise
                    field = f"memories.{position}.{error.field}"
                    raise InvalidError(field, error.message, cause=error.cause) from None
            run.write_suggestions()
        nearby = find_nearby(results, run.words, comparer, prepared.model) if asks else {}
        run.words.write()
        if run.words.writes > corpus.writes + 1:  # more than this transaction's own write
            due = sorted(run.gated - run.left_for_later)
            second_look.mark_due(due, corpus.unseen_from)
        if run.left_for_later:
            second_look.mark_due(sorted(run.left_for_later), second_look.SAW_NOTHING)
        if run.written:
            memories_written.send(
                Memory,
                workspace=workspace,
                memory_ids=run.written,
                first_in_line=run.kept_apart,
                created=run.created,
                reworded=run.words.reworded,
                respelled=run.words.respelled,
                linking=run.words.linking,
                is_detected=is_detected,
                actor=actor,
                now=now,
            )
    queued = [
        replace(result, is_detection_queued=is_detected and result.memory is not None)
        for result in results
    ]
    return _Written(queued, due, sorted(run.left_for_later), nearby)


def _lock_named(drafts: Sequence[Draft]) -> None:
    """Lock the memories that drafts supersede and share-lock their sources, in the order of ids."""
    if replaced := {draft.supersedes for draft in drafts if draft.supersedes is not None}:
        lock(replaced)
    if sources := {source for draft in drafts for source in draft.derived_from}:
        share_lock(sources)
