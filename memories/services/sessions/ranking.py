"""Rank a session's candidates by the baseline and the learned ranker.

Until they are recorded, candidates are identified by their index in the baseline's order, which is
much faster than ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from random import Random
from uuid import UUID

from memories.core import injection
from memories.core.baseline import age_days
from memories.core.drafting import PROPENSITY
from memories.models import Provenance
from memories.services.disputes import UNDISPUTED, Dispute
from memories.services.sessions.candidates import CandidateMemory, SessionCandidates
from memories.services.sessions.ranker_hook import CandidateFacts, RankerAnswer
from memories.services.sessions.record import CandidateRow


def facts_of(
    found: SessionCandidates, disputes: Mapping[UUID, Dispute], now: datetime
) -> list[CandidateFacts]:
    """Return the features of the candidates, in the baseline's order."""
    answer = []
    for fact, vector, score in zip(found.facts, found.vectors, found.scores, strict=True):
        answer.append(
            CandidateFacts(
                id=fact.id,
                content=fact.content,
                vector=vector,
                age_days=age_days(fact.observed_at, now),
                importance=fact.importance,
                access_count=fact.recall_count,
                is_superseded=disputes.get(fact.id, UNDISPUTED).is_by_a_later_one(fact.observed_at),
                baseline_score=score.total,
                effectiveness=score.effectiveness,
            )
        )
    return answer


def rank_candidates(
    found: SessionCandidates,
    answer: RankerAnswer,
    budget: injection.InjectionBudget,
    disputes: Mapping[UUID, Dispute],
    *,
    least: float,
    rng: Random,
) -> list[CandidateRow]:
    """Return the records of all candidates in their final order, and which are injected.

    `least` is the relevance by the learned ranker from which a candidate is promising. The quote of
    a memory's opposing side counts towards the character budget as well.
    """
    ids = [fact.id for fact in found.facts]
    scores = dict(enumerate(answer.scores[i] for i in ids)) if answer.scores else {}
    signals = [answer.signals.get(i, ()) for i in ids] if answer.signals else [()] * len(ids)
    placed = injection.inject(
        [
            injection.Contender(
                place,
                len(fact.content) + disputes.get(fact.id, UNDISPUTED).chars,
                always,
                _precedence(fact),
                found.relevant[place],
                answer.relevance.get(fact.id, -1.0) >= least,
            )
            for place, (fact, always) in enumerate(zip(found.facts, found.always, strict=True))
        ],
        injection.LearnedScores(
            scores, answer.alpha, answer.rrf_k, answer.exploration_rate, answer.draft_share
        ),
        {place: vector for place, vector in enumerate(found.vectors) if vector is not None},
        budget,
        rng=rng,
    )
    return [
        CandidateRow(
            memory_id=ids[one.id],
            source=one.source,
            baseline_score=found.scores[one.id].total,
            baseline_rank=one.baseline_rank,
            recall_score=found.scores[one.id].recall,
            effectiveness=found.scores[one.id].effectiveness,
            cosine=found.cosines[one.id],
            relevance=found.relevances[one.id],
            predictor_score=scores.get(one.id),
            linear_score=answer.linear.get(ids[one.id]),
            predictor_rank=one.predictor_rank,
            fused_score=one.fused,
            diversity=one.diversity,
            final_score=one.final,
            rank=one.rank,
            was_injected=one.is_injected,
            is_always=bool(one.always),
            revision=found.facts[one.id].revision,
            is_relevant=one.is_relevant,
            drafted_by=one.drafted_by,
            propensity=PROPENSITY if one.drafted_by else None,
            signals=signals[one.id],
        )
        for one in placed
    ]


def _precedence(fact: CandidateMemory) -> tuple[float, ...]:
    """Return the sort key of constraints and of pins: provenance, then importance."""
    return (-Provenance(fact.provenance).trust, -fact.importance)
