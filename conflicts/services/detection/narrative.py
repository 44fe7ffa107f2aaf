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
from memories.services.lifecycle.model_answers import select_unanswered

NARRATE_TASK = "conflicts.narrate_workspace"
# Reason of a revision by a caller, in contrast to one by a merge.
REVISED = "revise"


@dataclass(frozen=True, slots=True)
class NarrativeState:
    """Return whether the narrative tier is on, why not, and today's cost (UTC) in dollars."""

    is_on: bool
    why_off: Literal["", "no_key", "setting", "muted"]
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
            "muted": "It is muted here, because people dismissed most of what it found. Unmute it "
            "on the detective's page.",
        }[self.why_off]


def narrative_state(workspace: Workspace, *, now: datetime) -> NarrativeState:
    """Return the state of the narrative tier in a workspace."""
    with in_workspace(workspace):
        waiting = backlog.select_due(*NarrativeLease.awaits).count()
        spent_usd = spend.spent_usd(workspace, now=now)
        last = DetectionRun.objects.filter(reason=backlog.NARRATIVE).first()
    return NarrativeState(
        is_on=is_on(workspace),
        why_off=_why_off(workspace),
        model=llm.model_name(workspace.config.language_model),
        spent_usd=spent_usd,
        cap_usd=workspace.config.narrative_daily_usd,
        waiting=waiting,
        why_stuck=last.error if waiting and last and last.narrative == Narrative.CAPPED else "",
    )


def is_on(workspace: Workspace) -> bool:
    """Return whether the narrative tier is on in a workspace."""
    return not _why_off(workspace)


def _why_off(workspace: Workspace) -> Literal["", "no_key", "setting", "muted"]:
    if not llm.model_name():
        return "no_key"
    if "narrative" in workspace.config.muted_rules:
        return "muted"
    return "" if workspace.config.narrative_enabled else "setting"


def queue_for_model(
    workspace: Workspace, due: Sequence[DetectionDue], story: Story, *, now: datetime
) -> Narrative:
    """Queue the memories that the rules have read for the model, or remove them from the queue.

    Revisions, explicit successors, and memories without a candidate outside their own session are
    never for the story. When some have to be asked for their answers, the others wait with them:
    all come back by the rules, and the story is read once. Called within the transaction that files
    the findings.
    """
    triggers = {row.memory_id for row in due}
    unanswered = select_unanswered(triggers, now) if asks_for_answers(workspace) else []
    wanted = {one.id for one in unanswered}
    if is_on(workspace):
        wanted |= _for_model(triggers, story)
    elif not unanswered:
        backlog.delete_read(due)
        return Narrative.OFF
    backlog.delete_read([row for row in due if row.memory_id not in wanted])
    awaits = Awaits.ANSWERS if unanswered else Awaits.MODEL
    if not backlog.queue_for_model([row for row in due if row.memory_id in wanted], awaits):
        return Narrative.NOT_NEEDED
    note_due(lease_of(NarrativeLease, workspace.pk), now)
    wake(NARRATE_TASK, workspace.pk)
    return Narrative.WAITING


def asks_for_answers(workspace: Workspace) -> bool:
    """Return whether a model is asked what the memories of a workspace answer."""
    return bool(llm.model_name()) and workspace.config.answers_by_model


def drop_unwanted(workspace: Workspace) -> bool:
    """Remove from the queue what no model is to read any more; return whether any is to read."""
    has_story, has_answers = is_on(workspace), asks_for_answers(workspace)
    if has_story and has_answers:
        return True
    with in_workspace(workspace):
        if not has_answers:  # else they would wait for good
            unasked = DetectionDue.objects.filter(awaits=Awaits.ANSWERS)
            unasked.update(awaits=Awaits.MODEL, read_with=None, attempts=0)
        if not has_story:
            DetectionDue.objects.filter(awaits=Awaits.MODEL).delete()
        if not (has_story or has_answers):
            NarrativeLease.objects.filter(workspace=workspace, holder=None).update(due_at=None)
    return has_story or has_answers


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
