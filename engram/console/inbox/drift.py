"""Prediction errors in the inbox: a memory, and what speaks against it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.http import HttpRequest

from conflicts.core.questions import quote
from conflicts.core.wording import word_diff
from engram.console.inbox.source import SEVERITIES, Action, Done, InboxFilter, Source
from engram.kernel.actors import Actor
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError
from memories.models import ErrorType, Memory, PredictionError, Resolution
from memories.models.memory import in_scope
from memories.services.decisions.drift import bring_back, forget_memory, update_memory
from memories.services.drift.find import confirmed
from memories.services.drift.reopen import REOPENED, reopen_error
from memories.services.drift.report import FOUND
from memories.services.drift.resolve import RESOLVED, resolve_error

HIGH, MEDIUM, LOW = range(len(SEVERITIES))
HEAVY, SURE = 5.0, 0.9  # weight of a signal, evidence of drift
QUOTED = 140
STAYS = "Nothing changes, until the note says something else again."
UNHEEDED = "Nothing changes. The same source may speak again."


class DriftSource(Source):
    """Memories that a note no longer carries, or that outside evidence speaks against."""

    name = "drift"
    title = "Still true?"
    icon = "notes"
    template = "console/inbox/drift.html"
    teaches = (
        "A note was changed so that it no longer carries a memory that was recalled, or a signal"
        " from outside says that a memory is out of date."
    )
    announced_by = (FOUND, REOPENED)
    settled_by = (
        RESOLVED, "memory.revised", "memory.forgotten", "memory.superseded", "note.changed",
        "note.deleted",
    )  # fmt: skip
    takes_note = True
    takes_content = True

    def rows(self) -> QuerySet[Any]:
        """Return all errors about memories."""
        return self._annotate(PredictionError.objects.filter(memory__isnull=False))

    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the open ones whose memory can be recalled."""
        found = confirmed(PredictionError.objects.filter(resolved_at=None, memory__isnull=False))
        inside = Memory.objects.recallable(now).filter(pk=OuterRef("memory"))
        if wanted.assignee_id is not None:
            found = found.none()
        if wanted.scope:
            inside = inside.filter(in_scope(wanted.scope.strip("/")))
        found = found.filter(Exists(inside))
        if wanted.text:
            named = Q(memory__content__icontains=wanted.text)
            found = found.filter(named | Q(note_path__icontains=wanted.text))
        marked = self._annotate(found)
        if wanted.severity:
            marked = marked.filter(urgency=SEVERITIES.index(wanted.severity))
        return marked

    def _annotate(self, found: QuerySet[Any]) -> QuerySet[Any]:
        drift = Q(error_type=ErrorType.MEMORY_DRIFT)
        urgency = Case(
            When(~drift & Q(weight__gte=HEAVY), then=Value(HIGH)),
            When(drift & Q(weight__gte=SURE) | ~drift & Q(weight__gte=1), then=Value(MEDIUM)),
            default=Value(LOW),
            output_field=IntegerField(),
        )
        both = found.select_related("memory", "note")
        marked: QuerySet[Any] = both.annotate(urgency=urgency, since=F("detected_at"))
        return marked

    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return the memory, shortened, unless it was forgotten."""
        return {
            row.pk: (
                row.error_type,
                "Is this still true?"
                if row.memory.forgotten_at
                else f"Is this still true: {quote(row.memory.content, QUOTED)}?",
            )
            for row in rows
        }

    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return the memory, the passage of the note with its difference, or the evidence."""
        is_shown = row.memory.forgotten_at is None
        told = row.context if is_shown else {}
        passage, before = told.get("passage"), told.get("before")
        old = before["text"] if before else row.memory.content
        evidence = told.get("evidence")
        return {
            "error": row,
            "memory": row.memory,
            "is_shown": is_shown,
            "is_drift": row.error_type == ErrorType.MEMORY_DRIFT,
            "reasons": told.get("reasons", []),
            "passage": passage,
            "before": before,
            "difference": word_diff(old, passage["text"]) if passage else None,
            "is_unsupported": told.get("is_supported") is False,
            "evidence": None
            if evidence is None
            else json.dumps(evidence, indent=2, ensure_ascii=False, sort_keys=True),
            "editable": row.memory.content if is_shown else "",
            "settled_title": "Resolved" if row.resolved_at else None,
            "settled": f"{row.get_resolution_display()}." if row.resolved_at else None,
        }

    def actions(self, row: Any, now: datetime) -> Sequence[Action]:
        """Return the answers while the error is open; the third edits the text."""
        if row.resolved_at is not None or row.memory.forgotten_at is not None:
            return ()
        is_drift = row.error_type == ErrorType.MEMORY_DRIFT
        yes = Action(1, "still_true", "Still true", STAYS if is_drift else UNHEEDED, "keep")
        no = Action(2, "forget", "Forget it", "It is not recalled again; undo restores it.", "drop")
        if is_drift:
            return (yes, no)
        dismiss = Action(4, "dismiss", "Dismiss", f"The signal means nothing. {UNHEEDED}")
        return (yes, no, dismiss)

    def answer(
        self, workspace: Workspace, item_id: UUID, sent: Mapping[str, str], *, actor: Actor,
        now: datetime,
    ) -> None:  # fmt: skip
        """Apply an answer; an update gives the memory the sent text."""
        action = sent["action"]
        if action == "update":
            update_memory(workspace, item_id, sent["content"], actor=actor, now=now)
        elif action == "forget":
            forget_memory(workspace, item_id, actor=actor, now=now)
        elif action in ("still_true", "dismiss"):
            note = sent["note"]
            resolve_error(workspace, item_id, action, note=note, actor=actor, now=now)
        else:
            raise InvalidError("action", "Choose one of the answers.")

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return how an error was answered, and what undoing that would do."""
        row = PredictionError.objects.select_related("memory").filter(pk=item_id).first()
        if row is None or row.memory is None or row.resolved_at is None:
            return None
        words = {
            Resolution.STILL_TRUE: Done("Still true.", "It waits again."),
            Resolution.DISMISSED: Done("Dismissed.", "It waits again."),
            Resolution.UPDATED: Done("Updated. The former wording is in its history."),
        }
        if row.resolution == Resolution.MEMORY_FORGOTTEN and row.memory.forgotten_at is not None:
            return Done("Forgotten.", "The memory is brought back.")
        return words.get(Resolution(row.resolution))

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Reopen the error, or restore the forgotten memory."""
        row = PredictionError.objects.filter(pk=item_id).first()
        if row is not None and row.resolution == Resolution.MEMORY_FORGOTTEN:
            bring_back(workspace, item_id, actor=actor, now=now)
        else:
            reopen_error(workspace, item_id, actor=actor, now=now)
