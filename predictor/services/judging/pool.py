"""Select what the judge of a session reads: memories in shuffled order, and the transcript.

The judge without a model reads the whole recorded pool, because that costs little more. A model
reads what is ranked first or was spoken of, and a few others, drawn with a known probability.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from memories.models import CandidateSource, Memory, Revision, Session, SessionCandidate
from memories.services.sessions.reported import reported_use
from predictor.core.comparison import TOP, select_judged_pool
from predictor.core.judging import choose_for_model, shuffle_pool


@dataclass(frozen=True, slots=True)
class JudgingPool:
    """The memories in the order of the prompt, worded as they were offered to the session.

    Parameters
    ----------
    reworded : changed since, so that their stored vectors do not fit.
    first : the top of both rankings, what was injected and what the agent spoke of; None for all.
    chances : the probability with which each memory was chosen to be judged; 1 where not named.
    chosen : what a model reads, and its probability; None for all.
    """

    session: Session
    ids: Sequence[UUID]
    contents: Sequence[str]
    reworded: frozenset[UUID]
    first: frozenset[UUID] | None = None
    chances: Mapping[UUID, float] = field(default_factory=dict)
    chosen: Mapping[UUID, float] | None = None

    def for_model(self) -> JudgingPool:
        """Return the part that a language model reads."""
        chosen = self.chosen
        if chosen is None:
            return self
        read = [n for n, memory_id in enumerate(self.ids) if memory_id in chosen]
        return replace(
            self,
            ids=[self.ids[n] for n in read],
            contents=[self.contents[n] for n in read],
            chances=chosen,
        )


def read_pool(session_id: UUID) -> JudgingPool | None:
    """Return what the judge of a session is shown; None when the session was deleted.

    The pool holds the recorded candidates, without those that only a prompt matched and those
    forgotten since. Called inside the workspace.
    """
    session = Session.objects.filter(pk=session_id).first()
    if session is None:
        return None
    candidates = session.candidates.exclude(source=CandidateSource.FTS_ONLY)
    rows = list(candidates.order_by("rank", "pk"))
    # Superseded or retired memories stay, because they were offered; forgotten ones are not shown.
    recorded = [row.memory_id for row in rows]
    memories = Memory.objects.filter(pk__in=recorded, forgotten_at=None).in_bulk()
    rng = random.Random(session_id.int)
    order = shuffle_pool([i for i in recorded if i in memories], rng)
    certain = [i for i in _first(session, rows) if i in memories]
    # What a prompt matched has a label by that, so it is none of those that stand for the rest.
    matched = {row.memory_id for row in rows if row.fts_hit_count}
    others = [i for i in order if i not in matched.union(certain)]
    offered = {row.memory_id: row.revision for row in rows}
    former = _former({i: offered[i] for i in order if memories[i].revision != offered[i]})
    return JudgingPool(
        session=session,
        ids=order,
        contents=[former.get(i, memories[i].content) for i in order],
        reworded=frozenset(former),
        first=frozenset(certain),
        chosen=choose_for_model(certain, others, rng),
    )


def _first(session: Session, rows: Sequence[SessionCandidate]) -> list[UUID]:
    """Return the top of both rankings, the injected memories and those that the agent spoke of."""
    used = {memory_id for _, memory_id in reported_use({session.pk}, {r.memory_id for r in rows})}
    named = [row.memory_id for row in rows if row.feedback is not None or row.memory_id in used]
    return select_judged_pool(
        order_by_rank(rows, "baseline_rank")[:TOP],
        order_by_rank(rows, "predictor_rank")[:TOP],
        [*(row.memory_id for row in rows if row.was_injected), *named],
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
