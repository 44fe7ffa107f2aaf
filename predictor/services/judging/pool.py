"""Select what the judge of a session reads: memories in shuffled order, and the transcript.

The judge without a model reads the whole recorded pool, because that costs little more. A model
reads what is ranked first or was spoken of, and a few others, drawn with a known probability.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from memories.models import CandidateSource, Memory, Revision, Session, SessionCandidate
from memories.services.sessions.ranks import order_by_rank
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

    Called inside the workspace.
    """
    session = Session.objects.filter(pk=session_id).first()
    return None if session is None else read_pools([session])[session.pk]


def read_pools(sessions: Sequence[Session]) -> dict[UUID, JudgingPool]:
    """Return what the judge is shown, by session, with the same queries for one and for many.

    A pool holds the recorded candidates, without those that only a prompt matched and those
    forgotten since. Called inside the workspace.
    """
    candidates = SessionCandidate.objects.filter(session__in=[one.pk for one in sessions])
    candidates = candidates.exclude(source=CandidateSource.FTS_ONLY).order_by("rank", "pk")
    rows: dict[UUID, list[SessionCandidate]] = {one.pk: [] for one in sessions}
    for row in candidates:
        rows[row.session_id].append(row)
    # Superseded or retired memories stay, because they were offered; forgotten ones are not shown.
    recorded = {row.memory_id for own in rows.values() for row in own}
    memories = Memory.objects.filter(pk__in=recorded, forgotten_at=None).in_bulk()
    former = _former(row for own in rows.values() for row in own if _is_reworded(row, memories))
    used: dict[UUID, set[UUID]] = {one.pk: set() for one in sessions}
    for session_id, memory_id in reported_use(set(rows), recorded):
        used[session_id].add(memory_id)
    return {one.pk: _pool(one, rows[one.pk], memories, former, used[one.pk]) for one in sessions}


def _pool(
    session: Session,
    rows: Sequence[SessionCandidate],
    memories: Mapping[UUID, Memory],
    former: Mapping[tuple[UUID, int], str],
    used: Collection[UUID],
) -> JudgingPool:
    rng = random.Random(session.pk.int)
    order = shuffle_pool([row.memory_id for row in rows if row.memory_id in memories], rng)
    certain = [i for i in _first(rows, used) if i in memories]
    # What a prompt matched has a label by that, so it is none of those that stand for the rest.
    matched = {row.memory_id for row in rows if row.fts_hit_count}
    others = [i for i in order if i not in matched.union(certain)]
    offered = {row.memory_id: (row.memory_id, row.revision) for row in rows}
    return JudgingPool(
        session=session,
        ids=order,
        contents=[former.get(offered[i], memories[i].content) for i in order],
        reworded=frozenset(i for i in order if offered[i] in former),
        first=frozenset(certain),
        chosen=choose_for_model(certain, others, rng),
    )


def _is_reworded(row: SessionCandidate, memories: Mapping[UUID, Memory]) -> bool:
    """Return whether a memory that may be shown has changed since it was offered."""
    memory = memories.get(row.memory_id)
    return memory is not None and memory.revision != row.revision


def _first(rows: Sequence[SessionCandidate], used: Collection[UUID]) -> list[UUID]:
    """Return the top of both rankings, the injected memories and those that the agent spoke of."""
    named = [row.memory_id for row in rows if row.feedback is not None or row.memory_id in used]
    return select_judged_pool(
        order_by_rank(rows, "baseline_rank")[:TOP],
        order_by_rank(rows, "predictor_rank")[:TOP],
        [*(row.memory_id for row in rows if row.was_injected), *named],
    )


def _former(rows: Iterable[SessionCandidate]) -> dict[tuple[UUID, int], str]:
    """Return the texts, by memory and number, of the revisions offered that are kept."""
    wanted = {(row.memory_id, row.revision) for row in rows}
    found = Revision.objects.filter(memory__in={memory_id for memory_id, _ in wanted}).order_by()
    return {
        (memory_id, number): content
        for memory_id, number, content in found.values_list("memory_id", "number", "content")
        if (memory_id, number) in wanted
    }
