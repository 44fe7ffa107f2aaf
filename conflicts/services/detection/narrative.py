"""Narrative tier: whether a language model reads a workspace's memories, and which of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db.models import F

from conflicts.core.narrative import may_disagree
from conflicts.models import Awaits, DetectionDue, DetectionRun, NarrativeLease
from conflicts.models.detection import Narrative
from conflicts.services.detection import backlog
from conflicts.services.detection.story import Story
from engram.kernel import llm, spend
from engram.kernel.jobs import wake
from engram.kernel.lease import lease_of, note_due
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Revision

NARRATE_TASK = "conflicts.narrate_workspace"
# Reason of a revision by a caller, in contrast to one by a merge.
REVISED = "revise"


@dataclass(frozen=True, slots=True)
class NarrativeState:
    """Return whether the narrative tier is on, why not, and today's cost (UTC) in dollars."""

    is_on: bool
    why_off: Literal["", "no_key", "setting"]
    model: str
    spent_usd: float
    cap_usd: float
    waiting: int  # memories that the rules have read and the model has not
    why_stuck: str  # error of the last run when it exceeded the daily cap, else empty

    @property
    def how_to_switch_on(self) -> str:
        """Return instructions for switching it on; empty when it is on."""
        return {
            "": "",
            "no_key": "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, and start "
            "Engram again. ENGRAM_MODEL names the model (gpt-4o-mini unless set).",
            "setting": "Switch the setting narrative_enabled on in this workspace.",
        }[self.why_off]


def narrative_state(workspace: Workspace, *, now: datetime) -> NarrativeState:
    """Return the state of the narrative tier in a workspace."""
    with in_workspace(workspace):
        waiting = backlog.select_due(Awaits.MODEL).count()
        spent_usd = spend.spent_usd(workspace, now=now)
        last = DetectionRun.objects.filter(reason=backlog.NARRATIVE).first()
    return NarrativeState(
        is_on=is_on(workspace),
        why_off=_why_off(workspace),
        model=llm.model_name(),
        spent_usd=spent_usd,
        cap_usd=workspace.config.narrative_daily_usd,
        waiting=waiting,
        why_stuck=last.error if waiting and last and last.narrative == Narrative.CAPPED else "",
    )


def is_on(workspace: Workspace) -> bool:
    """Return whether the narrative tier is on in a workspace."""
    return not _why_off(workspace)


def _why_off(workspace: Workspace) -> Literal["", "no_key", "setting"]:
    if not llm.model_name():
        return "no_key"
    return "" if workspace.config.narrative_enabled else "setting"


def queue_for_model(
    workspace: Workspace, due: Sequence[DetectionDue], story: Story, *, now: datetime
) -> Narrative:
    """Queue the memories that the rules have read for the model, or remove them from the queue.

    Revisions, explicit successors, and memories without a candidate outside their own session are
    never for the model. Called within the transaction that files the findings.
    """
    if not is_on(workspace):
        backlog.delete_read(due)
        return Narrative.OFF
    wanted = _for_model({row.memory_id for row in due}, story)
    backlog.delete_read([row for row in due if row.memory_id not in wanted])
    if not backlog.queue_for_model([row for row in due if row.memory_id in wanted]):
        return Narrative.NOT_NEEDED
    note_due(lease_of(NarrativeLease, workspace.pk), now)
    wake(NARRATE_TASK, workspace.pk)
    return Narrative.WAITING


def drop_waiting(workspace: Workspace) -> None:
    """Remove everything that waits for the model from the queue."""
    with in_workspace(workspace):
        DetectionDue.objects.filter(awaits=Awaits.MODEL).delete()
        NarrativeLease.objects.filter(workspace=workspace, holder=None).update(due_at=None)


def _for_model(triggers: Collection[UUID], story: Story) -> set[UUID]:
    new = [fact for fact in story.facts if UUID(story.memory_of[fact.id]) in triggers]
    candidates = {UUID(story.memory_of[f.id]) for f in new if may_disagree(f, story.facts)}
    return candidates - _explicit(candidates)


def _explicit(ids: Collection[UUID]) -> set[UUID]:
    """Return the memories that explicitly replace another text: successors and revisions."""
    successors = Memory.objects.filter(pk__in=ids).exclude(lineage=F("pk"))
    revised = Revision.objects.filter(
        memory__in=ids, number=F("memory__revision") - 1, reason=REVISED
    )
    return {*successors.values_list("pk", flat=True), *revised.values_list("memory", flat=True)}
