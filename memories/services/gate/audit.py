"""Let people judge sampled merges; the false-merge rate is computed from these judgements."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from engram.kernel.actors import Actor
from engram.kernel.causes import NOTHING_TO_UNDO
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import before_writing, in_one_transaction, in_workspace
from memories.models import Merge
from memories.services.causes import MERGE_SPLIT
from memories.services.gate.merge_again import merge_again
from memories.services.gate.split import split


def sample() -> QuerySet[Merge]:
    """Return the merges without a judgement, in the order in which they are to be judged.

    Ids are random, so the first n in the order of ids are a random sample of all merges.
    """
    waiting = Merge.objects.filter(is_correct=None, split_at=None, memory__forgotten_at=None)
    shown = waiting.filter(Q(absorbed=None) | Q(absorbed__forgotten_at=None))
    return shown.select_related("memory", "observation", "absorbed").order_by("id")


def audit(
    workspace: Workspace,
    merge_id: UUID,
    *,
    is_correct: bool,
    is_split: bool = False,
    actor: Actor,
    now: datetime,
) -> Merge:
    """Store whether a merge was correct; with `is_split` also split a wrong one.

    A later judgement replaces an earlier one. A judgement alone changes no memory. The split and
    the judgement are stored together or not at all. The split runs first, because it locks
    statements and memories before merges.
    """
    with before_writing(workspace):  # a split embeds before its transaction
        merge = _demand_judgeable(Merge.objects.filter(pk=merge_id), is_correct)
    splits = is_split and not is_correct and merge.split_at is None
    with in_one_transaction():
        if splits and merge.observation_id is not None:
            split(workspace, merge.memory_id, merge.observation_id, actor=actor, now=now)
        with in_workspace(workspace):
            locked = Merge.objects.filter(pk=merge_id).select_for_update(no_key=True)
            merge = _demand_judgeable(locked, is_correct)
            if merge.is_correct is not is_correct:
                _judge(merge, is_correct, actor, now)
            return merge


def _judge(merge: Merge, is_correct: bool, actor: Actor, now: datetime) -> None:
    merge.is_correct, merge.audited_by, merge.audited_at = is_correct, actor.label, now
    merge.save(update_fields=["is_correct", "audited_by", "audited_at"])
    data = {"merge": str(merge.id), "correct": is_correct}
    record("merge.audited", of=("memory", merge.memory_id), actor=actor, now=now, data=data)


def take_back(workspace: Workspace, merge_id: UUID, *, actor: Actor, now: datetime) -> Merge:
    """Undo the judgement of a merge, and the split with it if it made one: it waits again.

    Both are undone together or not at all: if the two cannot be merged again, because one has
    changed since, the judgement stays.
    """
    with before_writing(workspace):
        merge = _demand_judged(Merge.objects.filter(pk=merge_id))
    with in_one_transaction():
        if merge.split_at is not None and merge.split_at == merge.audited_at:
            merge_again(workspace, merge_id, actor=actor, now=now)
        with in_workspace(workspace):
            merge = _demand_judged(Merge.objects.filter(pk=merge_id).select_for_update(no_key=True))
            data = {"merge": str(merge.id), "correct": merge.is_correct}
            merge.is_correct, merge.audited_by, merge.audited_at = None, "", None
            merge.save(update_fields=["is_correct", "audited_by", "audited_at"])
            of = ("memory", merge.memory_id)
            record("merge.audit_undone", of=of, actor=actor, now=now, data=data)
            return merge


def _demand_judged(merges: QuerySet[Merge]) -> Merge:
    merge = merges.first()
    if merge is None:
        raise MissingError("There is no such merge.")
    if merge.is_correct is None:
        raise StaleError("There is no judgement to undo.", cause=NOTHING_TO_UNDO)
    return merge


def _demand_judgeable(merges: QuerySet[Merge], is_correct: bool) -> Merge:
    merge = merges.first()
    if merge is None:
        raise MissingError("There is no such merge.")
    if merge.split_at is not None and is_correct:
        raise StaleError("That merge was split already.", cause=MERGE_SPLIT)
    return merge
