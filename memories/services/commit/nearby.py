"""Select memories on the same subject that no rule could judge, to ask the writer about them.

Answering costs the agent a turn, so few pairs are selected. The weights come from a logistic
regression over the pairs of 250 labelled stories (three authors, cross-validated by author),
rounded; results are in `benchmarks/results/evaluate_conflicts_agent_*.json`. Only memories created
by this commit are selected: they are on no card and have no verdict or judgement yet.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from itertools import islice

from django.db import Error

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.claims import Reading
from memories.core.comparing import CHARS_A_CALL, Comparer
from memories.core.reading import read_cached
from memories.core.relations import Relation
from memories.core.text import terms
from memories.models import Memory
from memories.services.commit.transaction import Committed
from memories.services.gate.neighbours import ELSEWHERE_COSINE, NearMemory
from memories.services.index.postings import Vocabulary, vocabulary_of
from memories.services.index.search_index import WordIndex

log = logging.getLogger(__name__)
MOST = 2  # questions per commit
READ_CHARS = 1_000  # of each text
WORTH_ASKING = 7.1
RARE, OLD, FULL = 0.8, 0.5, 0.5  # the cosine has weight 1
OLD_DAYS = 90.0  # an older memory counts as this old
FULL_WORDS = 6  # shorter statements rarely contradict
# A workspace counts as this much larger than it is, so that no word of a small one is common.
PRIOR_MEMORIES = 16.0


@dataclass(frozen=True, slots=True)
class _Pair:
    statement: Memory
    memory: Memory
    shared: frozenset[str]
    score: float  # without the rarity of the shared words
    relation: Relation | None  # None if the gate did not compare the two


@dataclass(frozen=True, slots=True)
class NearbyPairs:
    """The pairs that may be selected, by the position of the result, and their shared words."""

    pairs: Mapping[int, Sequence[_Pair]]
    vocabulary: Vocabulary


def find_nearby(results: Sequence[Committed], words: WordIndex) -> NearbyPairs | None:
    """Return the pairs of new memories and neighbours that share enough words; None without any.

    Reads the first 1,000 characters of each text; a longer pair is selected only if the gate
    compared it. Runs one query for all results, none if there is no pair. `words` are changes
    that are not written yet: writing locks rows that all writers share.
    """
    found = {n: pairs for n, result in enumerate(results) if (pairs := _pairs(result))}
    if not found:
        return None
    shared = frozenset[str]().union(*(pair.shared for pairs in found.values() for pair in pairs))
    return NearbyPairs(found, words.foresee(vocabulary_of(shared)))


def find_nearby_again(workspace: Workspace, results: Sequence[Committed]) -> NearbyPairs | None:
    """Return the pairs of results that changed after their transaction."""
    try:
        with in_workspace(workspace):
            return find_nearby(results, WordIndex())
    except Error as error:  # the commit stays; its writer is asked nothing
        log.warning("nothing is asked about a commit: %s", type(error).__name__)
        return None


def add_nearby(results: Sequence[Committed], found: NearbyPairs | None) -> list[Committed]:
    """Return the results with the neighbours whose relation the writer should report.

    Pairs beyond the character budget of `comparer` are left out.
    """
    if found is None:
        return list(results)
    comparer = Comparer(CHARS_A_CALL)
    asks = {n: _best(pairs, found.vocabulary, comparer) for n, pairs in found.pairs.items()}
    return [replace(result, nearby=asks.get(n, ())) for n, result in enumerate(results)]


def _pairs(result: Committed) -> list[_Pair]:
    """Return the pairs of a new memory and each neighbour that may be selected."""
    if result.memory is None or not result.gate.around or result.outcome == "merged":
        return []
    statement = result.memory
    words, reading = _words_of(statement.content[:READ_CHARS]), _reading_of(statement)
    found = [_pair(statement, words, reading, row, result) for row in result.gate.around]
    return [pair for pair in found if pair and pair.score + RARE * len(pair.shared) >= WORTH_ASKING]


def _pair(
    statement: Memory, words: frozenset[str], reading: Reading, row: NearMemory, result: Committed
) -> _Pair | None:
    """Return the pair with its shared words; None if both are of one session or share no word."""
    memory, cosine = row
    own = (statement.session_key, statement.key_id)
    if statement.session_key and own == (memory.session_key, memory.key_id):
        return None
    if math.isnan(cosine) or cosine < ELSEWHERE_COSINE:
        return None
    shared = words & _words_of(memory.content[:READ_CHARS])
    if not shared:
        return None
    age = abs(statement.observed_at - memory.observed_at)
    score = cosine + OLD * math.log2(1 + min(age / timedelta(days=1), OLD_DAYS))
    score += FULL * min(len(reading.keys), len(_reading_of(memory).keys), FULL_WORDS)
    return _Pair(statement, memory, shared, score, result.gate.relations.get(memory.id))


@lru_cache(maxsize=2048)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _reading_of(memory: Memory) -> Reading:
    return read_cached(memory.content[:READ_CHARS])


def _best(pairs: Sequence[_Pair], vocabulary: Vocabulary, comparer: Comparer) -> tuple[Memory, ...]:
    """Return the selected neighbours, highest score first."""
    scored = []
    for pair in pairs:
        # The counts include the new statement.
        others = {word: vocabulary.frequencies.get(word, 1) - 1 for word in pair.shared}
        rare = rarity(pair.shared, others, max(vocabulary.memories - 1, 0))
        if (score := pair.score + RARE * rare) >= WORTH_ASKING:
            scored.append((-score, pair.memory.id, pair))
    ranked = [pair for *_, pair in sorted(scored, key=lambda row: row[:2])]
    is_open = (pair for pair in ranked if _relation(pair, comparer) == "different")
    return tuple(pair.memory for pair in islice(is_open, MOST))


def _relation(pair: _Pair, comparer: Comparer) -> Relation | None:
    """Return the relation of the pair; None if it could not be compared."""
    stored, statement = pair.memory.content, pair.statement.content
    if pair.relation is not None or max(len(stored), len(statement)) > READ_CHARS:
        return pair.relation
    return (
        comparer.compare(stored, statement).relation
        if comparer.has_room([stored], statement)
        else None
    )


def rarity(shared: Collection[str], frequencies: Mapping[str, int], memories: int) -> float:
    """Return the summed rarity of shared words, each from about 0 (common) to 1 (rare).

    Inverse document frequency; `frequencies` do not count the new statement, so one is added.
    """
    total = memories + 1 + PRIOR_MEMORIES
    counts = [max(frequencies.get(word, 0) + 1, 2) for word in shared]
    return math.fsum(math.log(total / count) for count in counts) / math.log(total / 2)
