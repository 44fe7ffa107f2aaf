"""Select what the judge of a session reads: memories in shuffled order, and the transcript."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memories.models import CandidateSource, Memory, Revision, Session, SessionCandidate
from predictor.core.comparison import TOP, select_judged_pool
from predictor.core.judging import shuffle_pool


@dataclass(frozen=True, slots=True)
class JudgingPool:
    """The memories in the order of the prompt, worded as they were offered to the session."""

    session: Session
    ids: Sequence[UUID]
    contents: Sequence[str]
    reworded: frozenset[UUID]  # changed since, so that their stored vectors do not fit


def read_pool(session_id: UUID) -> JudgingPool | None:
    """Return what the judge of a session is shown; None when the session was deleted.

    The pool holds the top of both rankings and the injected memories, without those that only a
    prompt matched and those forgotten since. Called inside the workspace.
    """
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        return None
    candidates = session.candidates.exclude(source=CandidateSource.FTS_ONLY)
    rows = list(candidates.order_by("rank", "pk"))
    pool = select_judged_pool(
        order_by_rank(rows, "baseline_rank")[:TOP],
        order_by_rank(rows, "predictor_rank")[:TOP],
        [row.memory_id for row in rows if row.was_injected],
    )
    # Superseded or retired memories stay, because they were offered; forgotten ones are not shown.
    memories = Memory.objects.filter(pk__in=pool, forgotten_at=None).in_bulk()
    order = shuffle_pool([i for i in pool if i in memories], random.Random(session_id.int))
    offered = {row.memory_id: row.revision for row in rows}
    former = _former({i: offered[i] for i in order if memories[i].revision != offered[i]})
    return JudgingPool(
        session=session,
        ids=order,
        contents=[former.get(i, memories[i].content) for i in order],
        reworded=frozenset(former),
    )


def order_by_rank(rows: Iterable[SessionCandidate], rank: str) -> list[UUID]:
    """Return the candidates' ids by one of the two rankings, `rank` its column.

    Pins and constraints are left out: every session is given them, whatever the ranking.
    """
    placed = [row for row in rows if getattr(row, rank) is not None and not row.is_always]
    return [row.memory_id for row in sorted(placed, key=lambda row: (getattr(row, rank), row.pk))]


def _former(wanted: Mapping[UUID, int]) -> dict[UUID, str]:
    """Return the texts of former revisions that are kept."""
    rows = Revision.objects.filter(memory__in=wanted).order_by()
    return {
        memory_id: content
        for memory_id, number, content in rows.values_list("memory_id", "number", "content")
        if wanted[memory_id] == number
    }
