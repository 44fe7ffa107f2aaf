"""Prediction errors in the inbox: a memory, and what speaks against it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest

from conflicts.core.questions import quote
from conflicts.core.wording import word_diff
from engram.console.inbox.drift_queue import (
    due_in,
    edit_sizes,
    first_of_edits,
    waiting_in,
    with_urgency,
)
from engram.console.inbox.drift_words import offer, say_reason, sure_words
from engram.console.inbox.source import (
    Action,
    Done,
    Group,
    InboxEntry,
    InboxFilter,
    Source,
)
from engram.kernel.actors import Actor
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, StaleError
from memories.core.drift.passages import without_links
from memories.core.readable import readable
from memories.models import ErrorType, PredictionError, Resolution
from memories.models.drift import TRANSCRIPT_SOURCE
from memories.services.causes import ERROR_RESOLVED
from memories.services.decisions.drift import (
    bring_back,
    find_update,
    forget_memories,
    forget_memory,
    take_update_back,
    update_memory,
)
from memories.services.drift.answer import MOST_AT_ONCE, resolve_error, resolve_errors
from memories.services.drift.note_edits import same_edit
from memories.services.drift.reopen import REOPENED, answered_together, reopen_answer
from memories.services.drift.report import FOUND
from memories.services.drift.resolve import RESOLVED
from memories.services.sessions.quoted import quoted_words

QUOTED = 140
STAYS = "Nothing changes, until the note says something else again."
UPDATED = "Updated. The former wording is in its history."
PUT_BACK = "The memory has its former wording again, and it waits again."
UNHEEDED = "Nothing changes. The same source may speak again."


class DriftSource(Source):
    """Memories that a note no longer carries, or that outside evidence speaks against."""

    name = "drift"
    noun = "memory in doubt|memories in doubt"
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
    counted = "edit"

    def rows(self) -> QuerySet[Any]:
        """Return all errors about memories."""
        return with_urgency(PredictionError.objects.filter(memory__isnull=False))

    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the open ones whose memory can be recalled; of one edit of a note the first."""
        return first_of_edits(waiting_in(wanted, now))

    def due_now(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the waiting ones without snoozed edits."""
        return first_of_edits(due_in(wanted, self.name, now))

    def to_count(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return all due ones; each edit is counted once."""
        return due_in(wanted, self.name, now)

    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return the memory, shortened, unless it was forgotten."""
        return {
            row.pk: (
                row.error_type,
                "Is this still true?"
                if row.memory.forgotten_at
                else f"Is this still true: {quote(readable(row.memory.content), QUOTED)}?",
            )
            for row in rows
        }

    def as_entries(
        self, rows: Sequence[Any], wanted: InboxFilter, now: datetime
    ) -> list[InboxEntry]:
        """Return errors as the queue lists them; one stands for all that match of its edit."""
        sizes = edit_sizes(rows, wanted, now)
        entries = []
        for row, entry in zip(rows, super().as_entries(rows, wanted, now), strict=True):
            size = sizes.get(row.pk, 1)
            title = f"Are {size} memories that link {row.note_path} still true?"
            entries.append(entry if size < 2 else replace(entry, size=size, title=title))
        return entries

    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return the memory, the passage of the note with its difference, or the evidence."""
        is_shown = row.memory.forgotten_at is None
        told = row.context if is_shown else {}
        passage, before = told.get("passage"), told.get("before")
        old = before["text"] if before else without_links(row.memory.content)
        new = passage["text"] if passage and not passage.get("withdrawn") else None
        evidence = told.get("evidence")
        said = evidence if row.source == TRANSCRIPT_SOURCE else None
        offered = offer(row.memory.content, told)
        return {
            "error": row,
            "memory": row.memory,
            "is_shown": is_shown,
            "is_drift": row.error_type == ErrorType.MEMORY_DRIFT,
            "reasons": [say_reason(reason) for reason in told.get("reasons", [])],
            "passage": passage,
            "before": before,
            "is_removed": told.get("is_removed", False),
            "difference": None if new is None else word_diff(readable(old), readable(new)),
            "is_unsupported": told.get("is_supported") is False,
            "said": None if said is None else quoted_words(said),
            "evidence": None
            if evidence is None or said is not None
            else json.dumps(evidence, indent=2, ensure_ascii=False, sort_keys=True),
            "sure": sure_words(row.weight),
            "offer": offered,
            "editable": (offered.text if offered else row.memory.content) if is_shown else "",
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

    def group_of(self, row: Any, wanted: InboxFilter, now: datetime) -> Group | None:
        """Return the drift from the same edit of a note that matches, if it is more than this."""
        if row.resolved_at is not None:
            return None
        members = same_edit(waiting_in(wanted, now), row).order_by("urgency", "since", "pk")
        ids = tuple(members.values_list("pk", flat=True)[:MOST_AT_ONCE])
        if len(ids) < 2 or row.pk not in ids:
            return None
        total = members.count() if len(ids) == MOST_AT_ONCE else len(ids)
        named = f"all {total}" if total == len(ids) else f"the first {len(ids)}"
        yes = Action(1, "still_true", f"Still true, {named}", STAYS, "keep")
        effect = "They are not recalled again; undo restores them."
        no = Action(2, "forget", f"Forget {named}", effect, "drop")
        return Group(ids, total, row.note_version or 0, (yes, no))

    def answer_together(
        self, workspace: Workspace, item_ids: Sequence[UUID], sent: Mapping[str, Any], *,
        actor: Actor, now: datetime,
    ) -> UUID:  # fmt: skip
        """Apply an answer to drift from one version of a note; what was answered since stays."""
        action, version = sent["action"], sent["version"]
        if action not in ("still_true", "forget") or version is None:
            raise InvalidError("action", "Choose one of the answers.")
        if action == "forget":
            done = forget_memories(workspace, item_ids, of_version=version, actor=actor, now=now)
        else:
            done = resolve_errors(
                workspace, item_ids, action, of_version=version, note=sent["note"], actor=actor,
                now=now,
            )  # fmt: skip
        if not done.ids:
            raise StaleError("All of these were answered meanwhile.", cause=ERROR_RESOLVED)
        return done.ids[0]

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
        decided = (row.resolved_by, row.resolved_at)
        if row.resolution == Resolution.UPDATED:
            is_undone_here = find_update(row) is not None
            return Done(UPDATED, PUT_BACK if is_undone_here else "", *decided, row.memory_id)
        count = answered_together(row).count()
        of, waits = ("", "It waits") if count < 2 else (f": {count} memories", "They wait")
        if row.resolution == Resolution.MEMORY_FORGOTTEN and row.memory.forgotten_at is not None:
            back = "The memory is" if count < 2 else "The memories are"
            return Done(f"Forgotten{of}.", f"{back} brought back.", *decided)
        words = {Resolution.STILL_TRUE: "Still true", Resolution.DISMISSED: "Dismissed"}
        said = words.get(Resolution(row.resolution))
        return Done(f"{said}{of}.", f"{waits} again.", *decided) if said else None

    def undo(
        self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime
    ) -> str | None:
        """Reopen the error and those answered with it; restore what the answer has changed."""
        row = PredictionError.objects.filter(pk=item_id).first()
        if row is not None and row.resolution == Resolution.MEMORY_FORGOTTEN:
            bring_back(workspace, item_id, actor=actor, now=now)
            return None
        if row is not None and row.resolution == Resolution.UPDATED:
            asked = take_update_back(workspace, item_id, actor=actor, now=now)
            return "It waits for a review; nothing has changed yet." if asked else None
        done = reopen_answer(workspace, item_id, actor=actor, now=now)
        if not done.left:
            return None
        return (
            f"{done.count} wait again. {done.left} stay as they are: the memory is not recalled any"
            " more, or was found again since."
        )
