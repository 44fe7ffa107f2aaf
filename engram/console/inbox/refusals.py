"""Refused statements in the inbox: a person is asked about those nearly worth keeping."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import F, IntegerField, Q, QuerySet, Value
from django.http import HttpRequest

from conflicts.core.questions import quote
from engram.console.inbox.source import SEVERITIES, Action, Done, InboxFilter, Source
from engram.kernel.actors import Actor
from engram.kernel.models import Role, Workspace
from memories.core.extraction.floor import explain_reason
from memories.models import ExtractionRefusal, RefusalDecision
from memories.models.memory import in_scope
from memories.services.extraction import refusals
from memories.services.extraction.results import shown_texts, with_hidden_text

URGENCY = SEVERITIES.index("low")  # nothing is lost: the statement stays listed for 30 days
QUOTED = 140
GONE = "A statement that was forgotten"
KEEPS = "It is committed as a memory, as your decision."
# A turn of a transcript begins with who speaks: "Agent: That is how …".
_SPEAKS: Final = re.compile(r"[^\W\d_][\w.-]{0,30}(?: [\w.-]{1,30}){0,2}:\s")
LEAVES = "Nothing changes. You are not asked about it again."


class RefusalSource(Source):
    """Statements that extraction left out and that were nearly worth keeping."""

    name = "refusals"
    noun = "refused statement"
    icon = "memories"
    template = "console/inbox/refusal.html"
    teaches = (
        "When a transcript is turned into memories, at most three statements of it that were nearly"
        " worth keeping wait here. The others are listed under Memories, Refused statements."
    )
    sees = Role.REVIEWER
    announced_by = ("extraction.finished", "extraction_refusal.reopened")
    settled_by = ("extraction_refusal.kept", "extraction_refusal.left_out")

    def rows(self) -> QuerySet[Any]:
        """Return all refusals of which a person is asked."""
        return self._annotate(ExtractionRefusal.objects.filter(is_borderline=True))

    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the undecided ones that match the filter."""
        found = ExtractionRefusal.objects.filter(
            is_borderline=True, decision=RefusalDecision.UNDECIDED
        )
        is_other = wanted.severity not in {"", SEVERITIES[URGENCY]}
        if wanted.assignee_id is not None or is_other:
            found = found.none()
        if wanted.scope:
            found = found.filter(in_scope(wanted.scope))
        if wanted.text:
            said = Q(text__icontains=wanted.text) | Q(fact__icontains=wanted.text)
            found = found.filter(said)
            found = found.exclude(pk__in=with_hidden_text(found))
        return self._annotate(found)

    def _annotate(self, found: QuerySet[Any]) -> QuerySet[Any]:
        urgency = Value(URGENCY, output_field=IntegerField())
        marked: QuerySet[Any] = found.annotate(urgency=urgency, since=F("created_at"))
        return marked

    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return the beginning of each statement."""
        texts = shown_texts(rows)
        return {row.pk: ("refusal", _title(texts[row.pk]["text"])) for row in rows}

    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return the statement with what was said around it."""
        is_open = row.decision == RefusalDecision.UNDECIDED
        said = shown_texts([row])[row.pk]
        return {
            "statement": row,
            "said": said,
            "is_turn_over": bool(_SPEAKS.match(said["after"] or "")),
            "why": explain_reason(row.reason),
            "is_reworded": row.fact != row.text,
            "others": _others_of_job(row),
            "settled": "" if is_open else _settled(row),
        }

    def actions(self, row: Any, now: datetime) -> Sequence[Action]:
        """Return yes and no, while the statement waits."""
        if row.decision != RefusalDecision.UNDECIDED:
            return ()
        return (
            Action(1, "keep", "Keep it", KEEPS, "keep"),
            Action(2, "leave_out", "Leave it out", LEAVES, "drop"),
        )

    def verbs(self) -> Mapping[str, Callable[..., Any]]:
        """Commit the statement, or leave it out."""
        return {"keep": refusals.keep, "leave_out": refusals.leave_out}

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return what was decided about a statement."""
        row = ExtractionRefusal.objects.filter(pk=item_id).first()
        if row is None or row.decision == RefusalDecision.UNDECIDED:
            return None
        goes = " The memory is forgotten." if row.is_new_memory else ""
        waits = f"The statement waits again.{goes}"
        return Done(_settled(row), waits, row.decided_by, row.decided_at, row.memory_id)

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Let the statement wait again; a memory that it became is forgotten."""
        refusals.take_back(workspace, item_id, actor=actor, now=now)


def _others_of_job(row: ExtractionRefusal) -> dict[str, int]:
    """Return how many other statements of the transcript were refused, and how many are listed."""
    listed = ExtractionRefusal.objects.filter(job=row.job_id).count()
    return {"refused": max(refusals.count_refused(row.job_id), listed) - 1, "listed": listed - 1}


def _title(text: str) -> str:
    return quote(text, QUOTED) if text else GONE


def _settled(row: ExtractionRefusal) -> str:
    return "Kept." if row.decision == RefusalDecision.KEPT else "Left out."
