"""What is worth asking the writer: memories on the same subject that no rule could judge.

An ask costs its reader a turn, so few pairs pass. The weights come from a logistic regression over
the pairs of 250 labelled stories (three authors, each checked on the other two), rounded; figures
stand in `benchmarks/results/evaluate_conflicts_agent_*.json`. Only what was written now is asked
about: nobody has put it on a card, decided or judged it yet.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from uuid import UUID

from memories.core.claims import Reading, compare
from memories.core.reading import read_cached
from memories.core.text import terms
from memories.models import Memory
from memories.services.neighbours import ELSEWHERE_COSINE, Row
from memories.services.words import vocabulary_of

MOST = 2  # asks a commit
WORTH_ASKING = 7.1
RARE, OLD, FULL = 0.8, 0.5, 0.5  # beside a cosine of weight 1
OLD_DAYS = 90.0  # beyond, age tells no more
FULL_WORDS = 6  # who says little contradicts little
# A workspace counts as this much larger than it is, so that no word of a small one is common.
PRIOR_MEMORIES = 16.0


@dataclass(frozen=True, slots=True)
class Said:
    """The statement whose writer may be asked."""

    content: str
    session_key: str
    key_id: UUID | None
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class _Pair:
    memory: Memory
    cosine: float
    shared: frozenset[str]
    age: timedelta

    def score(self, said: Reading, rare: float) -> float:
        """Return how much asking is worth, by how telling the shared words are."""
        stored = read_cached(self.memory.content)
        score = self.cosine + RARE * rare
        score += OLD * math.log2(1 + min(self.age / timedelta(days=1), OLD_DAYS))
        score += FULL * min(len(said.keys), len(stored.keys), FULL_WORDS)
        return score


def worth_asking(said: Said, around: Sequence[Row]) -> tuple[Memory, ...]:
    """Return the neighbours whose relation to a new statement its writer should tell, best first.

    Where nothing shares enough words with it the database is not asked.
    """
    words = frozenset(terms(said.content))
    pairs = [pair for row in around if (pair := _pair(said, words, row)) is not None]
    if not pairs:
        return ()
    reading = read_cached(said.content)
    pairs = [pair for pair in pairs if pair.score(reading, len(pair.shared)) >= WORTH_ASKING]
    if not pairs:
        return ()
    vocabulary = vocabulary_of(frozenset[str]().union(*(pair.shared for pair in pairs)))
    scored = []
    for pair in pairs:
        rare = rarity(pair.shared, vocabulary.frequencies, vocabulary.memories)
        if (score := pair.score(reading, rare)) >= WORTH_ASKING:
            scored.append((-score, pair.memory.id, pair.memory))
    ranked = [memory for *_, memory in sorted(scored, key=lambda row: row[:2])]
    return tuple(islice(filter(partial(_is_open, reading), ranked), MOST))


def _is_open(said: Reading, memory: Memory) -> bool:
    """Tell whether the rules leave open how a memory relates to what was said."""
    return compare(read_cached(memory.content), said).relation == "different"


def _pair(said: Said, words: frozenset[str], row: Row) -> _Pair | None:
    """Return what two statements share; None when they are one conversation or share nothing."""
    memory, cosine = row
    own = (said.session_key, said.key_id)
    if said.session_key and own == (memory.session_key, memory.key_id):
        return None
    if math.isnan(cosine) or cosine < ELSEWHERE_COSINE:
        return None
    shared = words & terms(memory.content).keys()
    age = abs(said.observed_at - memory.observed_at)
    return _Pair(memory, cosine, shared, age) if shared else None


def rarity(shared: Collection[str], frequencies: Mapping[str, int], memories: int) -> float:
    """Add up how telling shared words are: each from about 0 (everybody's) to 1 (of these two).

    Inverse document frequency; the new statement is not counted yet, so each word stands in one
    memory more.
    """
    total = memories + 1 + PRIOR_MEMORIES
    counts = [max(frequencies.get(word, 0) + 1, 2) for word in shared]
    return math.fsum(math.log(total / count) for count in counts) / math.log(total / 2)
