"""What a judge reads of a session: the pool in its drawn order, and the transcript."""

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
    """The memories in the order in which the judge sees them, worded as they were offered."""

    session: Session
    ids: Sequence[UUID]
    contents: Sequence[str]
    reworded: frozenset[UUID]  # say something else today: their vectors are others'


def read_pool(session_id: UUID) -> JudgingPool | None:
    """Read what the judge of a session is shown, None when it is gone; called inside the workspace.

    Both tops and what was injected, nothing that only a prompt matched, and nothing that was
    forgotten since.
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
    # Whatever else became of them since, they were offered; the forgotten are shown to nobody.
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
    """Return the candidates in the order of one of the two rankings, `rank` its column.

    Without pins and constraints: every session is given them, whoever ranks.
    """
    placed = [row for row in rows if getattr(row, rank) is not None and not row.is_always]
    return [row.memory_id for row in sorted(placed, key=lambda row: (getattr(row, rank), row.pk))]


def _former(wanted: Mapping[UUID, int]) -> dict[UUID, str]:
    """Return the wordings of then, where they are kept."""
    rows = Revision.objects.filter(memory__in=wanted).order_by()
    return {
        memory_id: content
        for memory_id, number, content in rows.values_list("memory_id", "number", "content")
        if wanted[memory_id] == number
    }
