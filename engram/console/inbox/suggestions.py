"""Merge suggestions in the inbox: two wordings, their difference, and the merge's wording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, IntegerField, Q, QuerySet, Value
from django.http import HttpRequest

from conflicts.core.questions import quote
from conflicts.core.wording import word_diff
from conflicts.services.reports.report import report
from engram.console.inbox.source import SEVERITIES, Action, Done, InboxFilter, Source
from engram.kernel.actors import Actor
from engram.kernel.models import Workspace
from engram.kernel.planning import by_index_in_order
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge, MergeSuggestion, Relation, SuggestionStatus
from memories.models.memory import in_scope
from memories.services.causes import MERGE_SPLIT
from memories.services.decisions.reopen import reopen_suggestion
from memories.services.disputes import shared_conflicts
from memories.services.gate import answer_suggestion
from memories.services.gate.split import split
from memories.services.gate.suggestions import in_status

URGENCY = SEVERITIES.index("low")  # both are recalled until then
QUOTED = 90
WITHDRAWN = "Nobody answered: one of the two has changed or is not recalled any more."
DISPUTED = "A conflict asks which of the two holds. It is answered first; then they may be merged."


class SuggestionSource(Source):
    """Pairs of memories that probably say the same."""

    name = "suggestions"
    noun = "duplicate"
    icon = "merge"
    template = "console/inbox/suggestion.html"
    teaches = "Two memories probably say the same: merge them, or keep them apart for good."
    announced_by = ("merge.suggested", "merge.reopened")
    settled_by = (
        "merge.rejected", "memory.merged", "memory.superseded", "memory.forgotten",
        "conflict.opened", "conflict.joined", "conflict.resolved", "conflict.reopened",
    )  # fmt: skip
    reads_by_index = True

    def plan_query(self, *, is_ordered: bool) -> AbstractContextManager[None]:
        """Set the planner to look memories up by id, instead of reading the whole workspace."""
        return by_index_in_order() if is_ordered else super().plan_query(is_ordered=False)

    def rows(self) -> QuerySet[Any]:
        """Return all suggestions."""
        return self._annotate(MergeSuggestion.objects.all())

    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the open ones whose memories are unchanged."""
        found = in_status(SuggestionStatus.OPEN, now)
        if wanted.assignee_id is not None or wanted.severity not in {"", SEVERITIES[URGENCY]}:
            return self._annotate(found.none())
        if wanted.scope:
            inside = Memory.objects.filter(in_scope(wanted.scope.strip("/")))
            found = found.filter(memory__in=inside)
        if wanted.text:
            matching = Q(memory__content__icontains=wanted.text)
            found = found.filter(matching | Q(other__content__icontains=wanted.text))
        return self._annotate(found)

    def _annotate(self, found: QuerySet[Any]) -> QuerySet[Any]:
        urgency = Value(URGENCY, output_field=IntegerField())
        both = found.select_related("memory", "other")
        marked: QuerySet[Any] = both.annotate(urgency=urgency, since=F("created_at"))
        return marked

    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return both statements, shortened."""
        return {
            row.pk: (
                _told(row),
                f"Do {quote(older.content, QUOTED)} and {quote(newer.content, QUOTED)}"
                " say the same?",
            )
            for row in rows
            for older, newer in [by_age(row)]
        }

    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return both wordings with their difference, and the wording that a merge would keep."""
        older, newer = by_age(row)
        is_shown = older.forgotten_at is None and newer.forgotten_at is None
        is_accepted = row.status == SuggestionStatus.ACCEPTED
        merge = _merge_in_force(row) if is_accepted else None
        texts = _texts_then(older, newer, merge)
        difference = word_diff(*texts) if is_shown else None
        of_older, of_newer = preview_merges(row)
        conflicts = shared_conflicts(older.pk, newer.pk)
        title, settled = _explain_closed(row, conflicts, now)
        return {
            "suggestion": row,
            "label": label_of(row),
            "is_different": row.relation == Relation.DIFFERENT,
            "is_undecided": is_undecided(row),
            "difference": difference,
            "conflicts": conflicts,
            "is_merged": merge is not None,
            "settled_title": title,
            "settled": settled,
            "pair": [
                {
                    "number": number,
                    "memory": memory,
                    "spans": spans,
                    "survives": merging.is_default,
                    "survived": merge is not None and merge.after["content"] == text,
                    "drops": merging.drops if is_shown else (),
                }
                for number, memory, text, spans, merging in (
                    (1, older, texts[0], difference.before if difference else (), of_older),
                    (2, newer, texts[1], difference.after if difference else (), of_newer),
                )
            ],
        }

    def actions(self, row: Any, now: datetime) -> Sequence[Action]:
        """Return the answers, while both memories are unchanged."""
        if not in_status(SuggestionStatus.OPEN, now).filter(pk=row.pk).exists():
            return ()
        return answers_to(row)

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
        """Merge the two in a chosen or the better wording, keep them apart, or open a conflict."""
        if action == "contradict":
            self._contradict(workspace, item_id, note=note, actor=actor, now=now)
            return
        if action == "reject":
            answer_suggestion.reject(workspace, item_id, actor=actor, now=now)
            return
        if action not in {"accept", "keep-1", "keep-2"}:
            raise InvalidError("action", "Choose one of the answers.")
        keep = None
        row = self.rows().filter(pk=item_id).first()
        if row is not None and action != "accept":
            keep = by_age(row)[action == "keep-2"].pk
        answer_suggestion.accept(workspace, item_id, keep=keep, actor=actor, now=now)

    def _contradict(
        self, workspace: Workspace, item_id: UUID, *, note: str, actor: Actor, now: datetime
    ) -> None:
        """Report the two and keep them apart, or neither; the report must lock first."""
        with in_workspace(workspace):
            row = MergeSuggestion.objects.filter(pk=item_id).first()
            if row is not None:
                report(workspace, [row.memory_id, row.other_id], note=note, actor=actor, now=now)
            answer_suggestion.reject(workspace, item_id, actor=actor, now=now)

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return the decision: merged or kept apart."""
        row = MergeSuggestion.objects.filter(pk=item_id).first()
        if row is not None and row.status == SuggestionStatus.REJECTED:
            is_asked = bool(shared_conflicts(row.memory_id, row.other_id))
            words = "Kept apart: a card asks which of the two holds." if is_asked else "Kept apart."
            again = "The two are suggested again."
            return Done(words, again, row.decided_by, row.decided_at)
        if row is None or row.status != SuggestionStatus.ACCEPTED:
            return None
        if (merge := _merge_in_force(row)) is None:
            return None  # it was undone since
        again = "Both are memories of their own again, and suggested again."
        return Done("Merged.", again, row.decided_by, row.decided_at, merge.memory_id)

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Undo the merge, or reopen the suggestion."""
        row = MergeSuggestion.objects.filter(pk=item_id).first()
        if row is None or row.status != SuggestionStatus.ACCEPTED:
            reopen_suggestion(workspace, item_id, actor=actor, now=now)
            return
        merge = _merge_in_force(row)
        if merge is None or merge.observation_id is None:
            raise StaleError("This merge was taken apart already.", cause=MERGE_SPLIT)
        split(
            workspace,
            merge.memory_id,
            merge.observation_id,
            asks_again=row.pk,
            actor=actor,
            now=now,
        )


def label_of(row: MergeSuggestion) -> str:
    """Return in a few words what claim comparison says of the two."""
    return f"Comparison: {_told(row)}"


def _told(row: MergeSuggestion) -> str:
    return "undecided" if is_undecided(row) else row.get_relation_display().lower()


def is_undecided(row: MergeSuggestion) -> bool:
    """Return whether no rule decides about the two: the gate suggests none that surely differ."""
    return row.relation == Relation.DIFFERENT and row.detected_by == "gate"


def answers_to(row: MergeSuggestion) -> tuple[Action, ...]:
    """Return the answers to a suggestion, on every page; A is the older of the two."""
    of_older, of_newer = preview_merges(row)
    kept, best, other, rest, keep_rest = (
        ("B", of_newer, "A", of_older, "keep-1")
        if of_newer.is_default
        else ("A", of_older, "B", of_newer, "keep-2")
    )
    united = "One memory from now on, under the id of A; it says what"
    # Where claim comparison finds no common claim, a merge is not what is expected.
    is_alike = row.relation != Relation.DIFFERENT
    says_same = "The same: merge" if is_alike or is_undecided(row) else "Merge anyway"
    merge = Action(
        1 if is_alike else 2, "accept", f"{says_same}, in the words of {kept}",
        f"{united} {kept} says. {_loss(best)}",
        "keep" if is_alike else "calm",
    )  # fmt: skip
    apart = Action(
        2 if is_alike else 1, "reject", "Keep apart",
        "Nothing changes. The gate neither merges nor suggests these two again.",
        "drop" if is_alike else "keep",
    )  # fmt: skip
    return (
        *((merge, apart) if is_alike else (apart, merge)),
        Action(
            3, keep_rest, f"Merge, in the words of {other}",
            f"{united} {other} says. {_loss(rest)}",
        ),
        Action(
            4, "contradict", "They contradict each other",
            "They are kept apart, and a card asks which of them holds.", "drop",
        ),
    )  # fmt: skip


def _explain_closed(
    row: MergeSuggestion, conflicts: Sequence[UUID], now: datetime
) -> tuple[str, str]:
    """Return why the suggestion is closed: a heading and a sentence."""
    by = f" by {row.decided_by}" if row.decided_by else ""
    if row.status == SuggestionStatus.ACCEPTED:
        if _merge_in_force(row) is None:
            return "Taken apart again", f"The two were merged{by}, and that was undone since."
        return "Merged", f"The two were merged{by}."
    if row.status == SuggestionStatus.REJECTED:
        return "Kept apart", f"The two were kept apart{by}."
    if conflicts:
        return "Withdrawn for now", DISPUTED
    return "Withdrawn", WITHDRAWN


def preview_merges(
    row: Any,
) -> tuple[answer_suggestion.MergePreview, answer_suggestion.MergePreview]:
    """Return the claims that a merge in either wording would lose; compare them once."""
    if not hasattr(row, "foreseen"):
        row.foreseen = answer_suggestion.preview_merge(row)
    found: tuple[answer_suggestion.MergePreview, answer_suggestion.MergePreview] = row.foreseen
    return found


def _loss(merging: answer_suggestion.MergePreview) -> str:
    """Return a short text on the claims that a merge would lose."""
    count = len(merging.drops)
    if not count:
        return "Both texts are kept."
    claims = "1 claim" if count == 1 else f"{count} claims"
    return f"Both texts are kept; the wording drops {claims} of the other."


def by_age(row: MergeSuggestion) -> tuple[Memory, Memory]:
    older, newer = sorted((row.memory, row.other), key=lambda m: (m.created_at, m.id))
    return older, newer


def _texts_then(older: Memory, newer: Memory, merge: Merge | None) -> tuple[str, str]:
    """Return both wordings; those of two that are merged as they were before."""
    before = {merge.memory_id: merge.before["content"]} if merge else {}
    return before.get(older.pk, older.content), before.get(newer.pk, newer.content)


def _merge_in_force(row: MergeSuggestion) -> Merge | None:
    """Return the merge of an accepted suggestion, None if it was undone since."""
    pair = [row.memory_id, row.other_id]
    made = Merge.objects.filter(memory__in=pair, absorbed__in=pair, split_at=None)
    return made.first()
