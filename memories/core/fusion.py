"""One score from vectors, words, neighbours and trust, each factor kept so that it can be redone.

For one query, and for each candidate memory:

    own     = w·text + (1 - w)·vector       text: `bm25.share`, vector: max(0, cosine); missing: 0
    context = own(previous) · P + own(next) · N          turns before and after in its session
    fused   = (own + (1 - own) · context) · agent        agent: A when the query names another agent
    score   = fused · provenance weight · (0.5 + 0.5 · confidence) · freshness

w is `text_weight`; it is 1 when the query could not be embedded and 0 when it has no index terms.
Every value lies in [0, 1], nothing depends on which other candidates there are, so that a score
means the same from one query to the next (`min_score`) and a person can recompute it from its
`Factors`. When provenance weight, confidence and freshness are 1, the order is that of `fused`.

Chosen on LoCoMo's development half (760 questions with gold, recall@10 / nDCG@10, a pool of the
100 best by vector and by text and their neighbours): cosine .493 / .334, BM25 .637 / .510,
reciprocal ranks .594 / .442, sums of min-max .690 / .538, `own` alone .685 / .542, with neighbours
.723 / .543, with the agent named in the query .752 / .604 (`fused`), with freshness .750 / .603.
w = .65 gains .006 there; passages of 2Wiki, HotpotQA and MuSiQue (334 questions, recall@5) are best
between .3 and .5 and lose up to .03 at .65, so .55 stands between.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Id = TypeVar("Id", bound=Hashable)

MIN_FRESHNESS = 0.85
FRESHNESS_HALF_LIFE_DAYS = 365.0
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """How much each part counts; every weight in [0, 1], previous and next at most 1 together."""

    text: float = 0.55
    previous: float = 0.5
    next: float = 0.25
    other_agent: float = 0.7  # factor of memories by others when the query names an agent


@dataclass(frozen=True, slots=True)
class Candidate(Generic[Id]):
    """One memory that a first stage found, with what is known of it for this query."""

    id: Id
    cosine: float | None = None  # best of its windows; None: not embedded
    text: float | None = None  # `bm25.share`; None: no term of the query stands in it
    previous: Id | None = None  # the memory before it in the same session
    next: Id | None = None
    agent: str = ""
    provenance_weight: float = 1.0
    confidence: float = 1.0
    freshness: float = 1.0


@dataclass(frozen=True, slots=True)
class Factors(Generic[Id]):
    """A candidate's score and every factor of it, as the module's formula names them."""

    id: Id
    score: float
    fused: float
    own: float
    text: float
    vector: float
    text_weight: float
    context: float
    agent: float
    provenance_weight: float
    confidence: float
    freshness: float


def fuse(
    candidates: Sequence[Candidate[Id]],
    *,
    named_agents: Iterable[str] = (),
    has_vector: bool = True,
    has_terms: bool = True,
    weights: FusionWeights | None = None,
) -> list[Factors[Id]]:
    """Score candidates, best first; ties stay in the order they came in.

    Neighbours count only when they are among the candidates: callers add the neighbours of the
    best ones, with their cosine and text, before they call.

    Parameters
    ----------
    named_agents : agents the query names (`agents_named`); empty when it names none.
    has_vector, has_terms : whether the query could be embedded, and has index terms.
    """
    weights = weights or FusionWeights()
    text_weight = weights.text if has_vector and has_terms else float(has_terms)
    own = {
        c.id: text_weight * (c.text or 0.0) + (1 - text_weight) * max(0.0, c.cosine or 0.0)
        for c in candidates
    }
    named = frozenset(named_agents)
    factors = [
        _factors(
            candidate,
            own[candidate.id],
            text_weight,
            weights.previous * _of(own, candidate.previous)
            + weights.next * _of(own, candidate.next),
            weights.other_agent if named and candidate.agent not in named else 1.0,
        )
        for candidate in candidates
    ]
    return sorted(factors, key=lambda f: -f.score)


def agents_named(query: str, agents: Iterable[str]) -> frozenset[str]:
    """Which of ``agents`` the query names.

    All words of the name must stand in the query. A name of a single word might be an ordinary
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
    """Factor in (0.85, 1] that falls with age and halves the way to 0.85 in each 365 days."""
    faded = math.exp2(-max(0.0, age_days) / FRESHNESS_HALF_LIFE_DAYS)
    return MIN_FRESHNESS + (1 - MIN_FRESHNESS) * faded


def _factors(
    candidate: Candidate[Id], own: float, text_weight: float, context: float, agent: float
) -> Factors[Id]:
    fused = (own + (1 - own) * context) * agent
    trust = candidate.provenance_weight * (0.5 + 0.5 * candidate.confidence)
    return Factors(
        id=candidate.id,
        score=fused * trust * candidate.freshness,
        fused=fused,
        own=own,
        text=candidate.text or 0.0,
        vector=max(0.0, candidate.cosine or 0.0),
        text_weight=text_weight,
        context=context,
        agent=agent,
        provenance_weight=candidate.provenance_weight,
        confidence=candidate.confidence,
        freshness=candidate.freshness,
    )


def _of(own: Mapping[Id, float], neighbour: Id | None) -> float:
    return own.get(neighbour, 0.0) if neighbour is not None else 0.0


def _name_words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _is_written_as_name(name: str, query: str) -> bool:
    return any(
        match.group().casefold() == name
        and (match.group()[0].isupper() or query[: match.start()].endswith("@"))
        for match in _WORD.finditer(query)
    )
