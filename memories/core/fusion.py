"""Fuse vectors, words, questions, neighbours and trust into one score.

`fuse` keeps each factor, so that a score can be computed again. For one query, and for each
candidate memory:

    first   = w·text + (1 - w)·vector       text: `bm25.share`, vector: max(0, cosine); missing: 0
    said    = (1 - l)·first + l·late        late: `memories.core.late`; l is 0 where late is None
    own     = max(said, q·question^1.5)     question: cosine of the nearest question it answers
    context = (P·own(previous)·lent(previous) + N·own(next)·lent(next)) · taken
                                            previous, next: the turns around it in its session
    turn    = (own + (1 - own) · context) · agent        agent: A when the query names another agent
    fused   = (1 - s·taken)·turn + s·taken·session       session: the largest of its own turn and
                                            turn · lent of the others of its session nearby
    score   = fused · provenance weight · weight factor · confidence term · freshness
              confidence term = max(0.2, (0.5 + 0.5 · confidence) · confidence factor)
    taken   = min(1, 20 / words)^½          words: index terms of the memory
    lent    = min(1, 30 / words)

A question that the memory's writer said it answers is another text of it. q is small, so that a
memory without answers keeps its place before those whose question is merely of the same kind
(`benchmarks/expansion.py`).

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
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Id = TypeVar("Id", bound=Hashable)
Floats = NDArray[np.float64]

MIN_FRESHNESS = 0.85
FRESHNESS_HALF_LIFE_DAYS = 365.0
MIN_CONFIDENCE_TERM = 0.2
SESSION_REACH_HOURS = 1.0  # a session key may be reused for other conversations later
TAKEN_WORDS = 20
LENT_WORDS = 30
QUESTION_POWER = 1.5  # two questions on one subject have a cosine of .5, whatever they ask


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Weights of the parts, each in [0, 1]; previous and next at most 1 together."""

    text: float = 0.6
    late: float = 0.65
    question: float = 0.6
    previous: float = 0.4
    next: float = 0.2
    session: float = 0.25
    other_agent: float = 0.7  # factor of memories by others when the query names an agent


_CHOSEN = FusionWeights()


class Candidate(NamedTuple, Generic[Id]):
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
    question: float | None = None  # None: no question of it is embedded, or not the query


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
    question: float | None
    question_weight: float
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

    def join(self, fused: float) -> None:
        """Set `fused`, and the score that follows from it."""
        trust = self.provenance_weight * self.weight_factor * self.confidence_term
        self.fused = fused
        self.score = fused * trust * self.freshness


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
    if not candidates:
        return []
    weights = weights or _CHOSEN
    text_weight = _text_weight(weights, has_vector=has_vector, has_terms=has_terms)
    scores = _score(candidates, frozenset(named_agents), text_weight, weights)
    rows = zip(*(column.tolist() for column in scores), strict=True)
    factors = [
        Factors(
            **dict(zip(_Scores._fields, one, strict=True)),
            id=c.id,
            text_weight=text_weight,
            late=c.late,
            late_weight=0.0 if c.late is None else weights.late,
            question=None if c.question is None else max(0.0, c.question),
            question_weight=0.0 if c.question is None else weights.question,
            provenance_weight=c.provenance_weight,
            weight_factor=c.weight_factor,
            confidence=c.confidence,
            confidence_factor=c.confidence_factor,
            freshness=c.freshness,
        )
        for c, one in zip(candidates, rows, strict=True)
    ]
    return sorted(factors, key=lambda f: -f.score)


def choose_leading(
    candidates: Sequence[Candidate[Id]],
    limit: int,
    *,
    named_agents: Iterable[str] = (),
    has_vector: bool = True,
    has_terms: bool = True,
) -> list[Id]:
    """Return the ids of the best candidates, in the order of `fuse`; their factors are not kept."""
    if not candidates:
        return []
    text_weight = _text_weight(_CHOSEN, has_vector=has_vector, has_terms=has_terms)
    scores = _score(candidates, frozenset(named_agents), text_weight, _CHOSEN)
    order = np.argsort(-scores.score, kind="stable")[:limit]
    return [candidates[place].id for place in order.tolist()]


def first_scorer(
    *, has_vector: bool, has_terms: bool
) -> Callable[[float | None, float | None], float]:
    """Return the function of cosine and text that is `first` of the module's formula."""
    text_weight = _text_weight(_CHOSEN, has_vector=has_vector, has_terms=has_terms)
    return partial(_first, text_weight)


def freshness(age_days: float) -> float:
    """Return a factor in (0.85, 1] that halves its distance to 0.85 every 365 days."""
    faded = math.exp2(-max(0.0, age_days) / FRESHNESS_HALF_LIFE_DAYS)
    return MIN_FRESHNESS + (1 - MIN_FRESHNESS) * faded


def _text_weight(weights: FusionWeights, *, has_vector: bool, has_terms: bool) -> float:
    return weights.text if has_vector and has_terms else float(has_terms)


def _first(text_weight: float, cosine: float | None, text: float | None) -> float:
    return text_weight * (text or 0.0) + (1 - text_weight) * max(0.0, cosine or 0.0)


class _Scores(NamedTuple):
    """The computed factors of all candidates, named as in `Factors`."""

    score: Floats
    fused: Floats
    turn: Floats
    own: Floats
    text: Floats
    vector: Floats
    context: Floats
    agent: Floats
    session: Floats
    session_weight: Floats
    confidence_term: Floats


def _score(
    candidates: Sequence[Candidate[Id]],
    named: frozenset[str],
    text_weight: float,
    weights: FusionWeights,
) -> _Scores:
    """Compute the module's formula, for all candidates at once."""
    of: Any = Candidate._make(zip(*candidates, strict=True))  # each field holds the values of all
    text, vector = _numbers(of.text), np.maximum(_numbers(of.cosine), 0.0)
    first = text_weight * text + (1 - text_weight) * vector
    late = np.array(of.late, np.float64)  # NaN where it is None
    own = np.where(np.isnan(late), first, (1 - weights.late) * first + weights.late * late)
    asked = np.maximum(_numbers(of.question), 0.0) ** QUESTION_POWER
    own = np.maximum(own, weights.question * asked)
    words = np.maximum(_numbers(of.words), 1.0)
    taken, lent = np.sqrt(np.minimum(1.0, TAKEN_WORDS / words)), np.minimum(1.0, LENT_WORDS / words)
    places = {memory_id: place for place, memory_id in enumerate(of.id)}
    lendable = np.append(own * lent, 0.0)  # the last is of a missing neighbour
    previous = lendable[[places.get(i, -1) for i in of.previous]]
    following = lendable[[places.get(i, -1) for i in of.next]]
    context = taken * (weights.previous * previous + weights.next * following)
    is_other = np.array([bool(named) and name not in named for name in of.agent])
    agent = np.where(is_other, weights.other_agent, 1.0)
    turn = (own + (1 - own) * context) * agent
    session = _best_nearby(of.session, _numbers(of.hour), turn, turn * lent)
    session_weight = weights.session * taken
    fused = (1 - session_weight) * turn + session_weight * session
    confidence = (0.5 + 0.5 * _numbers(of.confidence)) * _numbers(of.confidence_factor)
    confidence_term = np.maximum(MIN_CONFIDENCE_TERM, confidence)
    trust = _numbers(of.provenance_weight) * _numbers(of.weight_factor) * confidence_term
    return _Scores(
        score=fused * trust * _numbers(of.freshness),
        fused=fused,
        turn=turn,
        own=own,
        text=text,
        vector=vector,
        context=context,
        agent=agent,
        session=session,
        session_weight=session_weight,
        confidence_term=confidence_term,
    )


def _numbers(values: Any) -> Floats:
    """Return values as an array, 0 for None."""
    found = np.array(values, np.float64)
    found[np.isnan(found)] = 0.0
    return found


def _best_nearby(sessions: Any, hours: Floats, turn: Floats, lends: Floats) -> Floats:
    """Return each candidate's `session`: the best of its session within an hour, or its own."""
    members: dict[str, list[int]] = defaultdict(list)
    for place, session in enumerate(sessions):
        if session:
            members[session].append(place)
    best = turn.copy()
    for found in members.values():
        own, at = lends[found], hours[found]
        is_near = np.abs(at - at[:, None]) <= SESSION_REACH_HOURS
        best[found] = np.maximum(turn[found], np.where(is_near, own, 0.0).max(axis=1))
    return best
