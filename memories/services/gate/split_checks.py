"""Which merge a split undoes, and whether the memories and the caller's rights allow it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.refusals import ForbiddenError, InvalidError, MissingError, StaleError
from memories.core.merging import MergeStep, Undone, without
from memories.models import Memory, Merge, Observation, Provenance, State
from memories.services.causes import MERGE_SPLIT, NOT_LIVE, REVIEWER_NEEDED, STATEMENT_FORGOTTEN
from memories.services.index.statement_hashes import forgotten_memory
from memories.services.lifecycle.fields import fields_of, sent_fields
from memories.services.review.trust import is_decided_by_person, leads, why_untrusted


def merge_of(memory_id: UUID, observation_id: UUID) -> Merge:
    """Return the merge of an observation into a memory; raise a refusal if it was split."""
    if not Memory.objects.filter(pk=memory_id).exists():
        raise MissingError("There is no such memory.")
    merges = Merge.objects.select_related("memory", "observation", "absorbed")
    merge = merges.filter(memory=memory_id, observation=observation_id).first()
    if merge is None:
        sent = Observation.objects.filter(pk=observation_id, memory=memory_id).first()
        if sent is None:
            raise InvalidError("observation_id", "This memory has no such observation.")
        why = (
            "This statement was split off already"
            if Merge.objects.filter(observation=observation_id).exists()
            else f"Nothing was merged by that observation ({sent.outcome})"
        )
        raise InvalidError("observation_id", f"{why}, so there is nothing to split off.")
    if merge.split_at is not None:
        raise StaleError(
            "That merge was split already.", [statement_of(merge).memory_id], cause=MERGE_SPLIT
        )
    return merge


def statement_of(merge: Merge) -> Observation:
    """Return the observation that was merged."""
    assert merge.observation is not None  # noqa: S101  a merge is deleted with its observation
    return merge.observation


def later_merges(merge: Merge) -> list[Merge]:
    """Return the later merges into the same memory that are not split, oldest first."""
    later = Merge.objects.filter(
        memory=merge.memory_id, split_at=None, created_at__gt=merge.created_at
    )
    return list(later.select_related("observation").order_by("created_at", "id"))


def step_of(merge: Merge) -> MergeStep:
    """Return a merge as the change of fields that it was."""
    return MergeStep.stored(merge.before, sent_fields(statement_of(merge)), merge.after)


def undone_by(merge: Merge, survivor: Memory) -> Undone:
    """Return the survivor's fields without a merge, and the records of later merges."""
    steps = [step_of(later) for later in later_merges(merge)]
    return without(step_of(merge), steps, fields_of(survivor))


def refuse(
    merge: Merge, survivor: Memory, absorbed: Memory | None, *, actor: Actor, now: datetime
) -> None:
    """Refuse a split that the state of the memories or the caller's rights forbid."""
    state = survivor.state(now)
    if state not in {State.ACTIVE, State.EXPIRED}:
        raise StaleError(
            f"This memory is {state}; bring it back before splitting it.", cause=NOT_LIVE
        )
    if forgotten_memory(statement_of(merge).content_hash) is not None:
        raise StaleError(
            "Exactly this statement was forgotten; restore it instead.", cause=STATEMENT_FORGOTTEN
        )
    if not actor.is_reviewer and (reason := _why_reviewer_needed(merge, survivor, actor)):
        raise ForbiddenError(f"{reason}; splitting this needs a reviewer.", cause=REVIEWER_NEEDED)
    if merge.absorbed_id is None:
        return
    if absorbed is None or absorbed.superseded_by_id != survivor.id:
        raise StaleError(
            "The merged memory is not hidden by this one any more.", cause=CHANGED_MEANWHILE
        )
    if absorbed.forgotten_at or absorbed.retired_at or absorbed.culled_at:
        raise StaleError(
            f"The merged memory is {absorbed.state(now)}; bring it back first.", cause=NOT_LIVE
        )


def _why_reviewer_needed(merge: Merge, survivor: Memory, actor: Actor) -> str:
    """Return the reason why an agent may not split a merge, or ""."""
    if merge.absorbed_id is not None:
        return "A reviewer merged these two"
    if merge.is_correct is not None:
        return "A reviewer judged this merge"
    sent = sent_fields(statement_of(merge))
    if not actor.may_claim(Provenance(sent["provenance"])):
        return "What was merged claims more than this key may"
    if any(_leads(fields) for fields in (sent, merge.before)) and not actor.may_pin:
        return "What was merged leads everybody's sessions"
    if why_untrusted(survivor, actor.highest_provenance, actor):
        return "This memory is more trusted than this key"
    return "A person wrote or decided about this memory" if is_decided_by_person(survivor) else ""


def _leads(fields: Mapping[str, Any]) -> bool:
    return leads({"is_pinned": fields.get("pinned"), "kind": fields.get("kind")})
