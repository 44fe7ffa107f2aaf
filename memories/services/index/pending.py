"""Embed in the background: the rest of long texts, texts left by an outage, token states.

`Memory.is_embedding_due` marks the rows; the task `memories.embed_workspace` is woken after the
commit, and a sweep finds the rest. Each step embeds a few texts, so a killed process loses only
seconds of work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from time import monotonic
from uuid import UUID, uuid4

from django.db.models import Exists, OuterRef, Q

from engram.kernel.broker import BrokerCooldown, client
from engram.kernel.due import due_workspaces
from engram.kernel.embedding import (
    EmbeddingUnavailableError,
    Windows,
    embed_windows,
    has_token_states,
)
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryQuerySet, MemoryTokens, MemoryVector
from memories.services.index.accepted import embed_accepted
from memories.services.index.search_index import EMBED_TASK, models_in_use, reindex_vectors
from memories.services.index.tokens import write_tokens
from memories.services.locks import lock

log = logging.getLogger(__name__)
MEMORIES_A_TURN = 64
TOKEN_BATCH = 16  # memories whose token states are written at once
CHARS_A_STEP = 8_000  # one memory of full length: at most 42 windows, some seconds
TURN_SECONDS = 5.0
LOCK_SECONDS = 60  # a lock that is not renewed for so long expires

Renew = Callable[[], bool]
Position = tuple[datetime, UUID]  # position in the queue
_broker = BrokerCooldown("embedding")


def embed_pending(
    workspace: Workspace, *, seconds: float | None = None, after: Position | None = None
) -> int:
    """Embed the pending memories of a workspace, longest waiting first; return their number.

    A text that the provider refuses stays pending and is skipped. The call ends when the provider
    is down. After `seconds` another task continues `after` the last memory, so that other
    workspaces have their turn.
    """
    embedded_count = 0
    started = monotonic()
    with _embedding_lock(workspace) as renew:
        while renew() and (waiting := _next_pending(workspace, after)):
            for step in _steps(waiting):
                if seconds is not None and monotonic() - started >= seconds:
                    _schedule_rest(workspace, after)
                    return embedded_count
                try:
                    windows = _embed_batch(step, workspace.embedding_model)
                except EmbeddingUnavailableError:
                    return embedded_count
                embedded_count += _write(workspace, step, windows)
                after = step[-1].updated_at, step[-1].id
                renew()
    return embedded_count


def _schedule_rest(workspace: Workspace, after: Position | None) -> None:
    place = (after[0].isoformat(), after[1]) if after else ()
    wake(EMBED_TASK, workspace.pk, *place)


@contextmanager
def _embedding_lock(workspace: Workspace) -> Iterator[Renew]:
    """Hold the workspace's embedding lock; yield a function that renews it and returns success.

    No lease (`engram.kernel.lease`), because it only saves work: writing is idempotent, and without
    Redis there is no lock.
    """
    name, holder = f"engram:embedding:{workspace.pk.hex}", uuid4().hex

    def renew() -> bool:
        return _broker.call(lambda: _acquire_or_renew(name, holder), "the lock") is not False

    try:
        yield renew
    finally:
        _broker.call(lambda: _release(name, holder), "the lock")


def _acquire_or_renew(name: str, holder: str) -> bool:
    redis = client()
    if redis.set(name, holder, nx=True, ex=LOCK_SECONDS):
        return True
    if redis.get(name) != holder.encode():
        return False
    redis.expire(name, LOCK_SECONDS)
    return True


def _release(name: str, holder: str) -> None:
    if client().get(name) == holder.encode():
        client().delete(name)


def _next_pending(workspace: Workspace, after: Position | None) -> list[Memory]:
    """Return the next pending memories after a position in the queue."""
    with in_workspace(workspace):
        rows = select_due()
        if after is not None:
            updated_at, memory_id = after
            later = Q(updated_at__gt=updated_at) | Q(updated_at=updated_at, pk__gt=memory_id)
            rows = rows.filter(later)
        return list(rows.order_by("updated_at", "pk")[:MEMORIES_A_TURN])


def select_due() -> MemoryQuerySet:
    """Return the memories with windows that were not embedded yet."""
    return Memory.objects.filter(is_embedding_due=True, forgotten_at=None)


def _steps(waiting: Sequence[Memory]) -> Iterator[list[Memory]]:
    """Split pending memories into steps of one memory or at most CHARS_A_STEP characters."""
    step: list[Memory] = []
    for memory in waiting:
        if step and sum(len(m.content) for m in [*step, memory]) > CHARS_A_STEP:
            yield step
            step = []
        step.append(memory)
    if step:
        yield step


def _embed_batch(waiting: Sequence[Memory], model: str) -> dict[UUID, Windows]:
    """Embed a step, without the texts that the provider refuses."""
    found = embed_accepted([memory.content for memory in waiting], model, embed_windows)
    embedded = {
        m.id: windows for m, windows in zip(waiting, found, strict=True) if windows is not None
    }
    for memory in waiting:
        if memory.id not in embedded:
            log.warning("memory %s is still not embedded", memory.id)
    return embedded


def _write(workspace: Workspace, waiting: Sequence[Memory], windows: dict[UUID, Windows]) -> int:
    """Write the vectors of memories whose content is unchanged; return their number."""
    contents = {memory.id: memory.content for memory in waiting}
    embedded_count = 0
    with in_workspace(workspace):
        for memory in lock(list(windows)):
            if memory.content != contents[memory.id]:
                continue
            reindex_vectors(memory, windows[memory.id], workspace.embedding_model)
            embedded_count += 1
    return embedded_count


def without_tokens() -> list[Workspace]:
    """Return the workspaces with memories that have vectors but no token states."""
    found = (
        workspace
        for model in models_in_use()
        if has_token_states(model)
        for workspace in due_workspaces(partial(_lacking_tokens, model), "updated_at")
        if workspace.embedding_model == model
    )
    return list(found)


def _lacking_tokens(model: str) -> MemoryQuerySet:
    kept = MemoryTokens.objects.filter(memory=OuterRef("pk"), model=model)
    embedded = MemoryVector.objects.filter(memory=OuterRef("pk"), model=model)
    return Memory.objects.filter(~Exists(kept), Exists(embedded), forgotten_at=None)


def fill_tokens(workspace: Workspace) -> int:
    """Write the token states of a few memories that have only vectors; return their number."""
    model = workspace.embedding_model
    if not has_token_states(model):
        return 0
    with in_workspace(workspace):
        turn = dict(
            _lacking_tokens(model).order_by("pk").values_list("pk", "content")[:TOKEN_BATCH]
        )
    if not turn:
        return 0
    try:
        read = embed_windows(list(turn.values()), model)
        windows = dict(zip(turn, read, strict=True))
    except EmbeddingUnavailableError:
        return 0
    with in_workspace(workspace):
        unchanged = [memory for memory in lock(list(turn)) if memory.content == turn[memory.id]]
        for memory in unchanged:
            write_tokens(memory, windows[memory.id], model)
    return len(unchanged)
