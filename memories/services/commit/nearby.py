"""Select memories on the same subject that no rule could judge, to ask the writer about them.

Answering costs the agent a turn, so few pairs are selected: of a new memory the nearest are
estimated as the gate estimates pairs, and `memories/core/asking.py` scores what comes out. The more
a writer was asked lately, the higher a score must be.
Only memories created by this commit are selected: they have no verdict or judgement yet, and only
a very quick detection run gives them a card. What is asked is recorded, so that the writer can
fetch it later and nobody is asked about the same two statements again (`memories/services/asks`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import Error

from engram.kernel.actors import Actor
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.asking import (
    LATELY,
    WORTH_ASKING,
    explain,
    nearness,
    rarities,
    score,
    threshold,
    words_of,
)
from memories.core.comparing import Comparer
from memories.core.likelihood import MAX_ESTIMATED, UNKNOWN, Likelihood
from memories.models import Memory
from memories.services.asks.record import AskedPair, count_asks, record_asks
from memories.services.commit.transaction import CREATED, Committed, NearbyMemory
from memories.services.gate.neighbours import ELSEWHERE_COSINE, NearMemory
from memories.services.index.postings import Vocabulary, vocabulary_of
from memories.services.index.search_index import WordIndex
from memories.services.index.tokens import word_states_of

log = logging.getLogger(__name__)
MOST = 3  # questions per commit
ESTIMATED = 5  # neighbours of a new memory whose relation is estimated
# A crash may lose what was asked last; no commit waits for the disk because of it.
UNHURRIED = {"synchronous_commit": "off"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A new memory and a neighbour of it, with the words that they share."""

    statement: Memory
    memory: Memory
    shared: frozenset[str]
    cosine: float


@dataclass(frozen=True, slots=True)
class RatedPair:
    """A pair with the rarity of each shared word, and how many memories there are besides."""

    pair: Pair
    rare: Mapping[str, float]
    memories: int

    @property
    def rarity(self) -> float:
        """The summed rarity of the shared words."""
        return math.fsum(self.rare.values())

    @property
    def nearness(self) -> float:
        """Meaning and rare words together; -inf where the shared words are too common."""
        return nearness(self.pair.cosine, self.rarity)


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair that no rule judges, with its estimated relation and its score."""

    rated: RatedPair
    chances: Likelihood

    @property
    def score(self) -> float:
        """The log-odds of a contradiction."""
        return score(self.chances, self.rated.rarity, self.rated.memories)


NearbyPairs = Mapping[int, Sequence[RatedPair]]  # by the position of the result, the nearest first


def find_nearby(
    results: Sequence[Committed], words: WordIndex, comparer: Comparer, model: str
) -> NearbyPairs:
    """Return the pairs of new memories and their nearest neighbours that may be asked about.

    Runs one query for all results, none if there is no pair: the counts of the shared words; and
    one more where the gate has not read the token states of all, as after concurrent commits.
    `words` are changes that are not written yet: writing locks rows that all writers share.
    """
    found = {n: pairs for n, result in enumerate(results) if (pairs := _pairs(result))}
    if not found:
        return {}
    shared = frozenset[str]().union(*(pair.shared for pairs in found.values() for pair in pairs))
    vocabulary = words.foresee(vocabulary_of(shared))
    rated = {n: rate_pairs(pairs, vocabulary)[:ESTIMATED] for n, pairs in found.items()}
    both = [
        m for rows in rated.values() for one in rows for m in (one.pair.statement, one.pair.memory)
    ]
    new = {memory.id: memory for memory in both if memory.content not in comparer.states}
    comparer.states |= word_states_of(new.values(), model)
    return {n: rows for n, rows in rated.items() if rows}


def find_nearby_again(
    workspace: Workspace, results: Sequence[Committed], comparer: Comparer, model: str
) -> NearbyPairs:
    """Return the pairs of results that changed after their transaction."""
    try:
        with in_workspace(workspace):
            return find_nearby(results, WordIndex(), comparer, model)
    except Error as error:  # the commit stays; its writer is asked nothing
        log.warning("nothing is asked about a commit: %s", type(error).__name__)
        return {}


def add_nearby(
    workspace: Workspace,
    results: Sequence[Committed],
    found: NearbyPairs,
    comparer: Comparer,
    *,
    actor: Actor,
    now: datetime,
) -> list[Committed]:
    """Return the results with the neighbours whose relation the writer should report.

    Pairs beyond the character budget of `comparer` are left out. What was asked lately is counted,
    and the selected ones are recorded, by one statement each in a transaction of its own, which
    does not wait for the disk: claims are compared while no lock is held.
    """
    scored = {n: _worth(pairs, comparer) for n, pairs in found.items()}
    if not any(scored.values()):
        return list(results)
    try:
        with in_workspace(workspace, options=UNHURRIED):
            best = _select(results, scored)
            asked = [
                AskedPair(one.pair.statement, one.pair.memory, one.pair.cosine)
                for rated in best.values()
                for one in rated
            ]
            new = record_asks(asked, actor=actor, now=now)
    except Error as error:  # the commit stays; its writer is asked nothing
        log.warning("nothing is asked about a commit: %s", type(error).__name__)
        return list(results)
    asks = {
        n: tuple(
            _as_nearby(one) for one in rated if (one.pair.statement.id, one.pair.memory.id) in new
        )
        for n, rated in best.items()
    }
    return [replace(result, nearby=asks.get(n, ())) for n, result in enumerate(results)]


def _select(
    results: Sequence[Committed], scored: Mapping[int, Sequence[ScoredPair]]
) -> dict[int, list[RatedPair]]:
    """Return what is asked of each result, by the threshold for what this writer was asked lately.

    What is asked of one result counts for the next ones of the call.
    """
    created = {
        n: result.memory
        for n, result in enumerate(results)
        if result.memory and result.outcome in CREATED
    }
    key = next((memory.key_id for memory in created.values()), None)
    new = [memory.id for memory in created.values()]
    asked = float(count_asks(LATELY, key=key, excluding=new))
    best = {}
    for n in created:
        least = threshold(asked / LATELY)
        best[n] = [one.rated for one in scored.get(n, ()) if one.score >= least][:MOST]
        asked += len(best[n]) - asked / LATELY  # the oldest memory is counted no longer
    return best


def _as_nearby(one: RatedPair) -> NearbyMemory:
    why = explain(one.pair.statement.content, one.rare, one.pair.cosine)
    return NearbyMemory(one.pair.memory, why)


def _pairs(result: Committed) -> list[Pair]:
    """Return the pairs of a new memory and each neighbour that shares a word with it.

    Left out are texts too long to be estimated, and pairs that the gate judged by a rule.
    """
    if result.memory is None or not result.gate.around or result.outcome == "merged":
        return []
    statement, judged = result.memory, result.gate.relations
    if len(statement.content) > MAX_ESTIMATED:
        return []
    words = words_of(statement.content)
    open_rows = (
        row for row in result.gate.around if judged.get(row[0].id, "different") == "different"
    )
    found = [_pair(statement, words, row) for row in open_rows]
    return [pair for pair in found if pair]


def _pair(statement: Memory, words: frozenset[str], row: NearMemory) -> Pair | None:
    """Return the pair with its shared words; None if both are of one session or share no word."""
    memory, cosine = row
    own = (statement.session_key, statement.key_id)
    if statement.session_key and own == (memory.session_key, memory.key_id):
        return None
    if math.isnan(cosine) or cosine < ELSEWHERE_COSINE or len(memory.content) > MAX_ESTIMATED:
        return None
    shared = words & words_of(memory.content)
    return Pair(statement, memory, shared, cosine) if shared else None


def rate_pairs(pairs: Sequence[Pair], vocabulary: Vocabulary) -> list[RatedPair]:
    """Return the pairs of one new memory whose shared words are rare enough, the nearest first."""
    memories = max(vocabulary.memories - 1, 0)  # the counts include the new statement
    rated = []
    for pair in pairs:
        others = {word: vocabulary.frequencies.get(word, 1) - 1 for word in pair.shared}
        rated.append(RatedPair(pair, rarities(pair.shared, others, memories), memories))
    near = (one for one in rated if one.nearness > -math.inf)
    return sorted(near, key=lambda one: (-one.nearness, one.pair.memory.id))


def score_pairs(rated: Sequence[RatedPair], comparer: Comparer) -> list[ScoredPair]:
    """Return the pairs that no rule judges, the highest score first.

    Left out are those beyond the budget of `comparer`, and texts that claim nothing.
    """
    found = [
        ScoredPair(one, chances) for one in rated if (chances := _estimate(one.pair, comparer))
    ]
    return sorted(found, key=lambda one: (-one.score, one.rated.pair.memory.id))


def _estimate(pair: Pair, comparer: Comparer) -> Likelihood | None:
    stored, statement = pair.memory.content, pair.statement.content
    if not comparer.has_room([stored], statement):
        return None
    if comparer.compare(stored, statement).relation != "different":
        return None
    chances = comparer.estimate(stored, statement, pair.cosine)
    return None if chances == UNKNOWN else chances


def _worth(rated: Sequence[RatedPair], comparer: Comparer) -> list[ScoredPair]:
    """Return the pairs whose score is enough where little is asked, the highest first."""
    return [one for one in score_pairs(rated, comparer) if one.score >= WORTH_ASKING]
