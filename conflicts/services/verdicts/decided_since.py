"""List recent decisions for a starting session; `ENGRAM_SESSION_BRIEFERS` names `decided_since`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from conflicts.core.outcomes import outcome
from conflicts.models.decision import Verdict
from conflicts.services.cards.erase import ERASED
from conflicts.services.cards.queue import withheld
from engram.kernel.binary import prepared_cursor
from engram.kernel.tenancy import current_workspace_id
from memories.models import Memory
from memories.services.sessions.offer import DECIDED_MAX, DecidedConflict

READ_MAX = 50
SUCCESSORS_MAX = 20  # of one memory, each replaced by the next

_DECISIONS = """
    SELECT made.conflict_id, card.question, made.verdict, made.kept, made.answer_id
    FROM conflicts_decision AS made JOIN conflicts_conflict AS card ON card.id = made.conflict_id
    WHERE made.workspace_id = %(workspace)s AND made.undone_at IS NULL
        AND made.verdict <> 'dismiss'
        AND made.decided_at > %(since)s AND made.decided_at <= %(until)s
    ORDER BY made.decided_at DESC, made.id DESC LIMIT %(most)s
"""
# Each memory with its chain of successors: the last step is the current one.
_SUCCESSORS = """
    WITH RECURSIVE step AS (
        SELECT id AS first, id, superseded_by_id, 0 AS depth FROM memories_memory
        WHERE workspace_id = %(workspace)s AND id = ANY(%(ids)s::uuid[])
        UNION ALL
        SELECT step.first, next.id, next.superseded_by_id, step.depth + 1
        FROM step JOIN memories_memory AS next ON next.id = step.superseded_by_id
        WHERE next.workspace_id = %(workspace)s AND step.depth < %(most)s
    )
    SELECT DISTINCT ON (first) first, id FROM step ORDER BY first, depth DESC
"""


class _Decision(NamedTuple):
    """The columns of a decision that are read."""

    conflict: UUID
    question: str
    verdict: str
    kept: Sequence[UUID]
    answer: UUID | None


def decided_since(*, since: datetime, until: datetime, now: datetime) -> list[DecidedConflict]:
    """Return the decisions made in a period and not undone, newest first, with their outcome.

    Cards with a forgotten memory or an erased question are left out, and so are dismissals. Only
    recallable memories are quoted, by their current text; a superseded one by its successor.
    """
    made = _decisions(since, until)
    hidden = withheld([one.conflict for one in made]) if made else frozenset()
    shown = [one for one in made if one.conflict not in hidden and one.question != ERASED]
    shown = shown[:DECIDED_MAX]
    contents = _contents({i for one in shown for i in _quotable(one)}, now)
    return [
        DecidedConflict(
            conflict=one.conflict,
            question=one.question,
            verdict=one.verdict,
            outcome=outcome(
                one.verdict,
                list(dict.fromkeys(contents[i] for i in _quotable(one) if i in contents)),
            ),
        )
        for one in shown
    ]


def _decisions(since: datetime, until: datetime) -> list[_Decision]:
    params: dict[str, Any] = {
        "workspace": current_workspace_id(),
        "since": since,
        "until": until,
        "most": READ_MAX,
    }
    with prepared_cursor() as cursor:
        cursor.execute(_DECISIONS, params)
        return [
            _Decision(conflict, question, verdict, [UUID(i) for i in json.loads(kept)], answer)
            for conflict, question, verdict, kept, answer in cursor.fetchall()
        ]


def _quotable(made: _Decision) -> Sequence[UUID]:
    """Return the ids of the memories that a verdict kept, or of the answer that replaced them."""
    if made.verdict == Verdict.NONE_VALID:
        return [made.answer] if made.answer else []
    return made.kept


def _contents(memory_ids: Collection[UUID], now: datetime) -> dict[UUID, str]:
    """Return the text of each memory, or of its last successor, where it is recallable."""
    if not memory_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            _SUCCESSORS,
            {
                "workspace": current_workspace_id(),
                "ids": list(memory_ids),
                "most": SUCCESSORS_MAX,
            },
        )
        last = dict(cursor.fetchall())
    readable = Memory.objects.recallable(now).filter(pk__in=set(last.values()))
    contents = dict(readable.values_list("pk", "content"))
    return {first: contents[i] for first, i in last.items() if i in contents}
