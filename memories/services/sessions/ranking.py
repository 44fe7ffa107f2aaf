"""Ranking a session's candidates: what the baseline and the learned ranker make of each of them.

Until they are recorded, candidates go by their place in the baseline's order: numbers cost a
ranking much less than ids do.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from random import Random
from uuid import UUID

from memories.core import injection
from memories.core.baseline import age_days, effectiveness
from memories.models import Provenance
from memories.services.disputes import UNDISPUTED, Dispute
from memories.services.sessions.candidates import Candidates, Fact
from memories.services.sessions.ranker_hook import Asked, CandidateFacts, Opinion
from memories.services.sessions.record import CandidateRow


def facts_of(found: Candidates, now: datetime) -> list[CandidateFacts]:
    """Return what a ranker may know of the candidates, in the baseline's order."""
    answer = []
    for fact, vector in zip(found.facts, found.vectors, strict=True):
        days = age_days(fact.observed_at, now)
        answer.append(
            CandidateFacts(
                id=fact.id,
                content=fact.content,
                vector=vector,
                age_days=days,
                importance=fact.importance,
                access_count=fact.recall_count,
                is_superseded=False,  # what is superseded cannot be recalled
                baseline_score=effectiveness(fact.importance, days, is_pinned=fact.leads),
            )
        )
    return answer


def ranked(
    found: Candidates,
    asked: Asked,
    opinion: Opinion,
    room: injection.Room,
    disputes: Mapping[UUID, Dispute],
    *,
    rng: Random,
) -> list[CandidateRow]:
    """Return the records of all candidates in their order, and which of them are given.

    What the other side of a dispute says is told with a memory, and takes room like it.
    """
    ids = [fact.id for fact in found.facts]
    scores = dict(enumerate(opinion.scores[i] for i in ids)) if opinion.scores else {}
    signals = [opinion.signals.get(i, ()) for i in ids] if opinion.signals else [()] * len(ids)
    placed = injection.inject(
        [
            injection.Contender(
                place,
                len(fact.content) + disputes.get(fact.id, UNDISPUTED).chars,
                always,
                _precedence(fact),
            )
            for place, (fact, always) in enumerate(zip(found.facts, found.always, strict=True))
        ],
        injection.Opinion(scores, opinion.alpha, opinion.rrf_k, opinion.exploration_rate),
        {place: vector for place, vector in enumerate(found.vectors) if vector is not None},
        room,
        rng=rng,
    )
    return [
        CandidateRow(
            memory_id=ids[one.id],
            source=one.source,
            baseline_score=asked.candidates[one.id].baseline_score,
            baseline_rank=one.baseline_rank,
            cosine=found.cosines[one.id],
            predictor_score=scores.get(one.id),
            predictor_rank=one.predictor_rank,
            fused_score=one.fused,
            diversity=one.diversity,
            final_score=one.final,
            rank=one.rank,
            was_injected=one.is_injected,
            is_always=bool(one.always),
            revision=found.facts[one.id].revision,
            signals=signals[one.id],
        )
        for one in placed
    ]


def _precedence(fact: Fact) -> tuple[float, ...]:
    """Return what orders constraints, and pins, among themselves: who said it, then importance."""
    return (-Provenance(fact.provenance).trust, -fact.importance)
