"""Calibration in the inbox: people rate a memory's use in a session without the judge's score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import ExpressionWrapper, F, IntegerField, Q, QuerySet, Value
from django.db.models.fields import DateTimeField
from django.http import HttpRequest

from conflicts.core.questions import quote
from engram.console.inbox.source import SEVERITIES, Action, Done, InboxFilter, Source
from engram.kernel.actors import Actor
from engram.kernel.models import Role, Workspace
from engram.kernel.planning import by_index_sorted
from engram.kernel.refusals import InvalidError
from memories.models import Memory
from memories.models.memory import in_scope
from memories.services.sessions.withheld import WITHHELD, may_quote_hidden
from predictor.core.calibration import of_five, on_scale
from predictor.models import CalibrationItem
from predictor.services.calibration import calibrate
from predictor.services.calibration.report import calibration_of
from predictor.services.judging.parts import read_parts

URGENCY = SEVERITIES.index("low")  # an unanswered item does no harm
QUOTED = 140
# The answers: name, label and meaning.
BANDS = {
    "none": (0.0, "Of no use", "It has nothing to do with the session.", "drop"),
    "little": (0.25, "Of little use", "It is on the subject, and did not help.", "calm"),
    "some": (0.5, "Of some use", "It helped in passing, or might have.", "calm"),
    "much": (0.75, "Of much use", "It shaped part of what was done.", "calm"),
    "needed": (1.0, "Needed", "The session could not have gone well without it.", "keep"),
}
UNSURE = "unsure"


class CalibrationSource(Source):
    """Memories in sessions that the judge has scored and no person has."""

    name = "calibration"
    noun = "rating"
    icon = "check"
    template = "console/inbox/calibration.html"
    teaches = (
        "Now and then you are asked what a memory was worth in a session. It is compared with what"
        " the judge said, and trains nothing."
    )
    sees = Role.REVIEWER  # transcripts, and the judge's score after the label
    announced_by = ("calibration.drawn", "calibration.reopened")
    settled_by = ("calibration.labelled",)
    is_reserved = True
    reads_by_index = True

    def plan_query(self, *, is_ordered: bool) -> AbstractContextManager[None]:
        """Set the planner to look both up by id, instead of reading the whole workspace."""
        return by_index_sorted() if is_ordered else super().plan_query(is_ordered=False)

    def rows(self) -> QuerySet[Any]:
        """Return all items."""
        return self._annotate(CalibrationItem.objects.all())

    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return unlabelled items whose texts are as the judge read them."""
        found = calibrate.waiting_items(now)
        if wanted.assignee_id is not None or wanted.severity not in {"", SEVERITIES[URGENCY]}:
            found = found.none()
        if wanted.scope:
            inside = Memory.objects.filter(in_scope(wanted.scope.strip("/")))
            found = found.filter(memory__in=inside)
        if wanted.text:
            matching = Q(memory__content__icontains=wanted.text)
            found = found.filter(matching | Q(session__session_key__icontains=wanted.text))
        return self._annotate(found)

    def _annotate(self, found: QuerySet[Any]) -> QuerySet[Any]:
        """Annotate items so that those of a sample keep the order of drawing."""
        place = ExpressionWrapper(
            F("sample__drawn_at") + F("position") * Value(timedelta(microseconds=1)),
            output_field=DateTimeField(),
        )
        urgency = Value(URGENCY, output_field=IntegerField())
        about = found.select_related("memory", "session")
        marked: QuerySet[Any] = about.annotate(urgency=urgency, since=place)
        return marked

    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return the question of each item, with the memory where it may be quoted."""
        return {row.pk: ("calibration", f"Was {_quote(row)} of use?") for row in rows}

    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return what the judge read, and its score if a person has labelled the item."""
        is_labelled = row.label is not None
        kept_back = CalibrationItem.objects.filter(may_quote_hidden("session"), pk=row.pk)
        is_kept_back = kept_back.exists()
        part = None if is_kept_back else read_parts([row.session])[row.session_id]
        return {
            "item": row,
            "session": row.session,
            "memory": row.memory,
            "is_withheld": row.memory.forgotten_at is not None,
            "part": part if part and part.text else None,
            "kept_back": WITHHELD if is_kept_back and row.session.transcript else "",
            "judged": row.judge_relevance if is_labelled else None,
            "difference": _difference(row) if is_labelled else "",
            "rated": calibration_of(now=now).report,
            "settled": "" if row.labelled_at is None else _label(row),
        }

    def actions(self, row: Any, now: datetime) -> Sequence[Action]:
        """Return the five bands and "I cannot tell", while the item waits."""
        if not calibrate.waiting_items(now).filter(pk=row.pk).exists():
            return ()
        bands = [
            Action(key, name, label, effect, tone)
            for key, (name, (_, label, effect, tone)) in enumerate(BANDS.items(), 1)
        ]
        return (*bands, Action(6, UNSURE, "I cannot tell", "It counts for nothing."))

    def act(
        self,
        workspace: Workspace,
        item_id: UUID,
        action: str,
        *,
        note: str,
        actor: Actor,
        now: datetime,
    ) -> None:
        """Write the label; an item that another person labelled meanwhile keeps that label."""
        if action not in {*BANDS, UNSURE}:
            raise InvalidError("action", "Choose one of the answers.")
        label = BANDS[action][0] if action in BANDS else None
        calibrate.label_item(workspace, item_id, label, actor=actor, now=now, is_first_only=True)

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return an item's label with the judge's score; None without a label."""
        row = CalibrationItem.objects.filter(pk=item_id).first()
        if row is None or row.labelled_at is None:
            return None
        words = _label(row)
        if row.label is not None:
            words += f" The judge said {of_five(row.judge_relevance)}, {_difference(row)}."
        return Done(
            words,
            "It waits again; a new label is counted separately.",
            row.labelled_by,
            row.labelled_at,
        )

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Remove the label, so that the item waits again."""
        calibrate.unlabel_item(workspace, item_id, actor=actor, now=now)


def _quote(row: Any) -> str:
    if row.memory.forgotten_at is not None:
        return "a memory"
    return quote(row.memory.content, QUOTED)


def _label(row: Any) -> str:
    if row.label is None:
        return "Answered: cannot be told."
    word = next((label for value, label, *_ in BANDS.values() if value == row.label), "")
    return f"Rated {of_five(row.label)}{f', {word.lower()}' if word else ''}."


def _difference(row: Any) -> str:
    """Return the difference between judge and person, in steps of the scale that are shown."""
    apart = round(on_scale(row.judge_relevance), 1) - round(on_scale(row.label), 1)
    if abs(apart) < 0.05:
        return "the same"
    return f"{abs(apart):.1f} {'higher' if apart > 0 else 'lower'}"
