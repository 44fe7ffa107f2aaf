"""Fuse vectors, words, neighbours and trust into one score, and two rankings into one.

`fuse` keeps each factor, so that a score can be computed again. For one query, and for each
candidate memory:

    first   = w·text + (1 - w)·vector       text: `bm25.share`, vector: max(0, cosine); missing: 0
    own     = (1 - l)·first + l·late        late: `memories.core.late`; l is 0 where late is None
    context = (P·own(previous)·lent(previous) + N·own(next)·lent(next)) · taken
                                            previous, next: the turns around it in its session
    turn    = (own + (1 - own) · context) · agent        agent: A when the query names another agent
    fused   = (1 - s·taken)·turn + s·taken·session       session: the largest of its own turn and
                                            turn · lent of the others of its session nearby
    score   = fused · provenance weight · weight factor · confidence term · freshness
              confidence term = max(0.2, (0.5 + 0.5 · confidence) · confidence factor)
    taken   = min(1, 20 / words)^½          words: index terms of the memory
    lent    = min(1, 30 / words)

A short turn ("Yes, in May") is understood from those around it; a long one stands for itself, and
that it matches says little about its neighbours.

w is `text_weight`; it is 1 when the query could not be embedded and 0 when it has no index terms.
The weight and confidence factors are 1 until the janitor lowers them. Every value lies in [0, 1];
a score depends on the query, the memory and the turns around it, not on the other candidates, so
that scores of different queries can be compared (`min_score`) and recomputed from `Factors`. When
all factors after `fused` are 1, the order is that of `fused`.

Chosen on six kinds of text, with recall@10 / nDCG@10 (passages @5) of BM25 + cosine alone and of
this: single turns .695 / .563, .809 / .647; turns joined by 6 .793 / .683, .856 / .737, and by 20
.859 / .738, .899 / .784; facts within texts of up to 6,000 characters .629 / .494, .699 / .584; the
same in sessions .629 / .494, .662 / .547; passages .692 / .697, .690 / .697. The texts are LoCoMo's
development half and passages, composed by `benchmarks/ground/texts.py`. The weights lie in the
middle of ranges (w .5-.7, l .6-.8, P .2-.5, s .15-.35) within which no kind loses .02.

`rrf` is reciprocal rank fusion (Cormack et al. 2009) with a weight for either ranking. Session
start fuses the baseline and the learned ranker by it, because their scores have different scales.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

Id = TypeVar("Id", bound=Hashable)

MIN_FRESHNESS = 0.85
FRESHNESS_HALF_LIFE_DAYS = 365.0
MIN_CONFIDENCE_TERM = 0.2
SESSION_REACH_HOURS = 1.0  # a session key may be reused for other conversations later
RRF_K = 12
TAKEN_WORDS = 20
LENT_WORDS = 30
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Weights of the parts, each in [0, 1]; previous and next at most 1 together."""

    text: float = 0.6
    late: float = 0.65
    previous: float = 0.4
    next: float = 0.2
    session: float = 0.25
    other_agent: float = 0.7  # factor of memories by others when the query names an agent


_CHOSEN = FusionWeights()


@dataclass(slots=True)  # not frozen: a recall makes hundreds, frozen ones take three times as long
class Candidate(Generic[Id]):
    """A memory from the first stage, with its inputs to the score for this query."""

    id: Id
    cosine: float | None = None  # best of its windows; None: not embedded
    text: float | None = None  # `bm25.share`; None: it has no term of the query
    previous: Id | None = None  # the memory before it in the same session
    next: Id | None = None
    agent: str = ""
    provenance_weight: float = 1.0
    confidence: float = 1.0
    freshness: float = 1.0
    late: float | None = None  # None: not scored by the second stage
    session: str = ""
    hour: float = 0.0  # time of observation, in hours since any fixed time
    words: int = 0  # its length in index terms
    weight_factor: float = 1.0  # lowered by the janitor
    confidence_factor: float = 1.0


@dataclass(slots=True)
class Factors(Generic[Id]):
    """A candidate's score and all its factors, named as in the module's formula."""

    id: Id
    score: float
    fused: float
    turn: float
    own: float
    text: float
    vector: float
    text_weight: float
    late: float | None
    late_weight: float
    context: float
    agent: float
    session: float
    session_weight: float
    provenance_weight: float
    weight_factor: float
    confidence: float
    confidence_factor: float
    confidence_term: float
    freshness: float


def fuse(
    candidates: Sequence[Candidate[Id]],
    *,
    named_agents: Iterable[str] = (),
    has_vector: bool = True,
    has_terms: bool = True,
    weights: FusionWeights | None = None,
) -> list[Factors[Id]]:
    """Score candidates, best first; ties keep the input order.

    Neighbours count only when they are among the candidates: callers add the neighbours of the
    best ones, with their cosine and text, before they call.

    Parameters
    ----------
    named_agents : agents that the query names (`find_named_agents`).
    has_vector, has_terms : whether the query was embedded, and has index terms.
    """
    weights = weights or _CHOSEN
    text_weight = _text_weight(weights, has_vector=has_vector, has_terms=has_terms)
    own = [_own(c, text_weight, weights) for c in candidates]
    named = frozenset(named_agents)
    agent = [weights.other_agent if named and c.agent not in named else 1.0 for c in candidates]
    taken = [math.sqrt(min(1.0, TAKEN_WORDS / max(c.words, 1))) for c in candidates]
    lent = [min(1.0, LENT_WORDS / max(c.words, 1)) for c in candidates]
    lendable: dict[Id | None, float] = {
        c.id: of * share for c, of, share in zip(candidates, own, lent, strict=True)
    }
    context = [
        share
        * (
            weights.previous * lendable.get(c.previous, 0.0)
            + weights.next * lendable.get(c.next, 0.0)
        )
        for c, share in zip(candidates, taken, strict=True)
    ]
    turn = [(o + (1 - o) * c) * a for o, c, a in zip(own, context, agent, strict=True)]
    session = _best_nearby(candidates, turn, lent)
    factors = []
    for n, c in enumerate(candidates):
        session_weight = weights.session * taken[n]
        fused = (1 - session_weight) * turn[n] + session_weight * session[n]
        confidence_term = max(MIN_CONFIDENCE_TERM, (0.5 + 0.5 * c.confidence) * c.confidence_factor)
        trust = c.provenance_weight * c.weight_factor * confidence_term
        factors.append(
            Factors(
                id=c.id,
                score=fused * trust * c.freshness,
                fused=fused,
                turn=turn[n],
                own=own[n],
                text=c.text or 0.0,
                vector=max(0.0, c.cosine or 0.0),
                text_weight=text_weight,
                late=c.late,
                late_weight=0.0 if c.late is None else weights.late,
                context=context[n],
                agent=agent[n],
                session=session[n],
                session_weight=session_weight,
                provenance_weight=c.provenance_weight,
                weight_factor=c.weight_factor,
                confidence=c.confidence,
                confidence_factor=c.confidence_factor,
                confidence_term=confidence_term,
                freshness=c.freshness,
            )
        )
    return sorted(factors, key=lambda f: -f.score)


def first_scorer(
    *, has_vector: bool, has_terms: bool
) -> Callable[[float | None, float | None], float]:
    """Return the function of cosine and text that is `first` of the module's formula."""
    text_weight = _text_weight(_CHOSEN, has_vector=has_vector, has_terms=has_terms)
    return partial(_first, text_weight)


def rrf(
    baseline: Sequence[Id], predictor: Sequence[Id], *, alpha: float, k: int = RRF_K
) -> dict[Id, float]:
    """Fuse two rankings, best first: α/(k + rank in baseline) + (1 - α)/(k + rank in predictor).

    Ranks start at 1; an id that a ranking of n ids lacks has rank n + 1 there. The result is in
    fused order; ties keep the baseline's order.

    Parameters
    ----------
    alpha : the baseline's weight in [0, 1]; 1 gives the baseline's order exactly.
    """
    ranks_b = {i: rank for rank, i in enumerate(dict.fromkeys(baseline), 1)}
    ranks_p = {i: rank for rank, i in enumerate(dict.fromkeys(predictor), 1)}
    fused = {
        i: alpha / (k + ranks_b.get(i, len(ranks_b) + 1))
        + (1 - alpha) / (k + ranks_p.get(i, len(ranks_p) + 1))
        for i in [*ranks_b, *ranks_p]
    }
    return dict(sorted(fused.items(), key=lambda item: -item[1]))


def find_named_agents(query: str, agents: Iterable[str]) -> frozenset[str]:
    """Return those of ``agents`` that the query names.

    All words of the name must be in the query. A name of a single word might be an ordinary
    word ("build"), so there it must be capitalised ("Build", "Caroline") or marked ("@build").
    """
    words = frozenset(_name_words(query))
    return frozenset(
        agent
        for agent in agents
        if (name := _name_words(agent))
        and words.issuperset(name)
        and (len(name) > 1 or _is_written_as_name(name[0], query))
    )


def freshness(age_days: float) -> float:
    """Return a factor in (0.85, 1] that halves its distance to 0.85 every 365 days."""
    faded = math.exp2(-max(0.0, age_days) / FRESHNESS_HALF_LIFE_DAYS)
    return MIN_FRESHNESS + (1 - MIN_FRESHNESS) * faded


def _text_weight(weights: FusionWeights, *, has_vector: bool, has_terms: bool) -> float:
    return weights.text if has_vector and has_terms else float(has_terms)


def _first(text_weight: float, cosine: float | None, text: float | None) -> float:
    return text_weight * (text or 0.0) + (1 - text_weight) * max(0.0, cosine or 0.0)


def _own(candidate: Candidate[Id], text_weight: float, weights: FusionWeights) -> float:
    first = _first(text_weight, candidate.cosine, candidate.text)
    if candidate.late is None:
        return first
    return (1 - weights.late) * first + weights.late * candidate.late


def _best_nearby(
    candidates: Sequence[Candidate[Id]], turn: Sequence[float], lent: Sequence[float]
) -> list[float]:
    """Return each candidate's `session`: the best of its session within an hour, or its own."""
    sessions: dict[str, list[int]] = defaultdict(list)
    for n, candidate in enumerate(candidates):
        if candidate.session:
            sessions[candidate.session].append(n)
    best = list(turn)
    for members in sessions.values():
        hours = [candidates[n].hour for n in members]
        lends = [turn[n] * lent[n] for n in members]
        if max(hours) - min(hours) <= SESSION_REACH_HOURS:  # all of them are near each other
            most = max(lends)
            for n in members:
                best[n] = max(best[n], most)
            continue
        for n, hour in zip(members, hours, strict=True):
            nearby = (
                lend
                for lend, other in zip(lends, hours, strict=True)
                if abs(other - hour) <= SESSION_REACH_HOURS
            )
            best[n] = max(best[n], *nearby)
    return best


def _name_words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _is_written_as_name(name: str, query: str) -> bool:
    return any(
        match.group().casefold() == name
        and (match.group()[0].isupper() or query[: match.start()].endswith("@"))
        for match in _WORD.finditer(query)
    )
