"""Give the memories and the passages of notes that belong to a task, as rows and as text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from engram.kernel.embedding import EmbeddingUnavailableError, UnknownTextError
from engram.kernel.models import Workspace
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.briefing import BriefingEntry
from memories.core.context import PassageEntry, compose
from memories.models import Kind, RecallOrigin
from memories.services.disputes import UNDISPUTED, disputes_with_quotes
from memories.services.drift.note_errors import NearNote, report_notes
from memories.services.drift.report import report_drift
from memories.services.notes.passages import Passage, find_passages
from memories.services.recall.describe import describe_recall
from memories.services.recall.log import note_context
from memories.services.recall.query import Query
from memories.services.recall.recall import (
    NO_KNOWN_WORD,
    NOT_EMBEDDABLE,
    RecallAnswer,
    RecalledMemory,
    found_in,
    recall,
)

NO_NOTES = "nothing related: no passage of a note is near enough"
_COUNT = """
    WITH locked AS MATERIALIZED (
        SELECT id FROM memories_memory
        WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s)
        ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE memories_memory SET injected_count = injected_count + 1
    FROM locked WHERE memories_memory.id = locked.id
"""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What an agent is about to do, and how much it wants to read."""

    task: str
    k: int = 10
    project: str = ""
    budget_chars: int = 6000
    is_recorded: bool = True
    caller: str = ""  # as in `Actor.caller`


@dataclass(frozen=True, slots=True)
class Context:
    """The memories and passages that fit, and how many were found and do not."""

    memories: tuple[RecalledMemory, ...]
    passages: tuple[Passage, ...]
    text: str
    memories_left_out: int
    passages_left_out: int
    reason: str = ""  # why there are no memories, or nothing but pins
    notes_reason: str = ""  # why there are no passages


def give_context(workspace: Workspace, request: ContextRequest, *, now: datetime) -> Context:
    """Return the context of a task: at most `k` memories and `k` passages.

    1. Recall, without counting it: what is given is injected. 2. Find passages. 3. Compose the text
    within the budget. 4. Count the memories in it as injected, and report what is out of date.
    """
    query = Query(
        request.task, k=request.k, project=request.project, is_recorded=False, caller=request.caller
    )
    recalled = recall(workspace, query, now=now)
    nearest, notes_reason = _passages(workspace, request)
    least = workspace.config.context_min_cosine
    passages = [one for one in nearest if one.cosine >= least]
    if not passages:
        notes_reason = notes_reason or NO_NOTES
    with in_workspace(workspace):
        composed = compose(
            _entries(recalled, now=now),
            [PassageEntry(one.path, one.heading, one.text) for one in passages],
            request.budget_chars,
        )
        given = tuple(recalled.results[position] for position in composed.memories)
        if request.is_recorded:
            _record(workspace, request, query, given, nearest, now=now)
    return Context(
        memories=given,
        passages=tuple(passages[position] for position in composed.passages),
        text=composed.text,
        memories_left_out=len(recalled.results) - len(composed.memories),
        passages_left_out=len(passages) - len(composed.passages),
        reason=recalled.reason,
        notes_reason=notes_reason,
    )


def _record(
    workspace: Workspace,
    request: ContextRequest,
    query: Query,
    given: Sequence[RecalledMemory],
    nearest: Sequence[Passage],
    *,
    now: datetime,
) -> None:
    """Count and log a context, and report drift of its memories and what no note is near to."""
    given_ids = [one.memory.id for one in given]
    _count_injected(given_ids)
    if given and workspace.config.recalls_kept:
        kept = describe_recall(query, found_in(given), origin=RecallOrigin.CONTEXT)
        note_context(given_ids, kept=kept, now=now)
    report_drift(workspace, given_ids, origin="context", now=now)
    if query.is_meaningful:
        report_notes(workspace, request.task, request.project, _near(nearest), now=now)


def _passages(workspace: Workspace, request: ContextRequest) -> tuple[Sequence[Passage], str]:
    """Return the nearest passages, however far, or why there are none."""
    try:
        return find_passages(workspace, request.task, k=request.k), ""
    except UnknownTextError:
        return [], NO_KNOWN_WORD
    except EmbeddingUnavailableError:
        return [], NOT_EMBEDDABLE


def _near(passages: Sequence[Passage]) -> list[NearNote]:
    return [NearNote(one.note_id, one.path, one.heading, one.cosine) for one in passages]


def _entries(recalled: RecallAnswer, *, now: datetime) -> list[BriefingEntry]:
    """Return the memories as lines of the text, disputed ones with the other side."""
    disputes = disputes_with_quotes([one.memory.id for one in recalled.results], now=now)
    entries = []
    for one in recalled.results:
        dispute = disputes.get(one.memory.id, UNDISPUTED)
        other = dispute.contradicted_by
        kind = one.memory.kind if one.memory.kind == Kind.CONSTRAINT else ""
        entries.append(
            BriefingEntry(
                kind,
                one.memory.content,
                bool(dispute.conflicts),
                other.content if other else "",
            )
        )
    return entries


def _count_injected(memory_ids: Collection[UUID]) -> None:
    """Count memories as injected, which is neither recall nor use."""
    if memory_ids:
        with connection.cursor() as cursor:
            cursor.execute(_COUNT, {"workspace": current_workspace_id(), "ids": list(memory_ids)})
