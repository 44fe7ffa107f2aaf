"""Answer a prediction error by changing its memory: a new wording, or forgetting it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.collisions import retry_on_collision
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.spelling import same_letters
from memories.models import Memory, PredictionError, Resolution, Review
from memories.services.causes import ERROR_RESOLVED
from memories.services.drift.answer import Answered, lock_errors, split_open
from memories.services.drift.reopen import answered_together, reopen_updated
from memories.services.lifecycle.forget import forget, restore
from memories.services.lifecycle.revise import revise
from memories.services.lifecycle.take_back import NOT_LAST, revisions_to_take_back, take_back
from memories.services.locks import lock


def update_memory(
    workspace: Workspace, error_id: UUID, content: str, *, actor: Actor, now: datetime
) -> None:
    """Give the memory of an open error a new wording, which resolves all its errors.

    The same wording again changes nothing.
    """
    error, memory = _find(workspace, error_id)
    is_as_sent = memory.content == content and memory.forgotten_at is None
    if error.resolution == Resolution.UPDATED and is_as_sent:
        return
    _demand_open(error)
    if not content.strip():
        raise InvalidError("content", "Write what is true now, or forget the memory.")
    if same_letters(content, memory.content):
        raise InvalidError("content", "The text was not changed; edit it first.")
    revise(workspace, memory.pk, {"content": content}, actor=actor, now=now)


def find_update(error: PredictionError) -> int | None:
    """Return the revision that an update of an error made, if it is its memory's last one.

    One query. None for errors that are resolved otherwise.
    """
    memory = error.memory
    if memory is None or error.resolution != Resolution.UPDATED or memory.forgotten_at is not None:
        return None
    former = revisions_to_take_back([memory]).get(memory.pk)
    is_of_error = former is not None and former.created_at == error.resolved_at
    return memory.revision if is_of_error else None


@retry_on_collision
def take_update_back(
    workspace: Workspace, error_id: UUID, *, actor: Actor, now: datetime
) -> Review | None:
    """Give a memory its wording before an update, and open the errors that this resolved.

    Return the review that this needs, if it needs one; nothing has changed then. Raise `StaleError`
    where the memory was changed again since.
    """
    with in_workspace(workspace):
        error, memory = _find(workspace, error_id)
        revision = find_update(error)
        if revision is None:
            raise StaleError(NOT_LAST, [memory.pk], cause=CHANGED_MEANWHILE)
        done = take_back(workspace, memory.pk, revision, actor=actor, now=now)
        if isinstance(done, Review):
            return done
        reopen_updated(error, actor=actor, now=now)
    return None


def forget_memory(workspace: Workspace, error_id: UUID, *, actor: Actor, now: datetime) -> None:
    """Forget the memory of an open error, which resolves all its errors; once is enough."""
    error, memory = _find(workspace, error_id)
    if error.resolution == Resolution.MEMORY_FORGOTTEN and memory.forgotten_at is not None:
        return
    _demand_open(error)
    forget(workspace, [memory.pk], actor=actor, now=now)


def forget_memories(
    workspace: Workspace,
    error_ids: Sequence[UUID],
    *,
    of_version: int,
    actor: Actor,
    now: datetime,
) -> Answered:
    """Forget the memories of open errors about one version of a note; leave the others."""
    with in_workspace(workspace):
        named = PredictionError.objects.filter(pk__in=list(error_ids), memory__isnull=False)
        lock(set(named.order_by().values_list("memory", flat=True)))  # memories before errors
        errors, _ = lock_errors(error_ids)
        found, skipped = split_open(errors, of_version)
        forget(workspace, [e.memory_id for e in found if e.memory_id], actor=actor, now=now)
        return Answered(tuple(error.pk for error in found), skipped)


def bring_back(workspace: Workspace, error_id: UUID, *, actor: Actor, now: datetime) -> int:
    """Restore the memories that one answer to an error has forgotten; return how many."""
    with in_workspace(workspace):
        error = PredictionError.objects.filter(pk=error_id).first()
        if error is None:
            raise MissingError("There is no such prediction error.")
        together = answered_together(error).filter(memory__forgotten_at=error.resolved_at)
        found = {each.memory_id for each in (error, *together) if each.memory_id}
    return len(restore(workspace, sorted(found), actor=actor, now=now).memories)


def _find(workspace: Workspace, error_id: UUID) -> tuple[PredictionError, Memory]:
    with in_workspace(workspace):
        error = PredictionError.objects.select_related("memory").filter(pk=error_id).first()
        if error is None or error.memory is None:
            raise MissingError("There is no such prediction error of a memory.")
        return error, error.memory


def _demand_open(error: PredictionError) -> None:
    if error.resolved_at is not None:
        raise StaleError(
            f"This was resolved before: {error.get_resolution_display()}.", cause=ERROR_RESOLVED
        )
