"""Select memories on the same subject that no rule could judge, to ask the writer about them.

Answering costs the agent a turn, so few pairs are selected; `memories/core/asking.py` scores them.
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
from itertools import islice

from django.db import Error

from engram.kernel.actors import Actor
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.asking import WORTH_ASKING, explain, rarities, score, words_of
from memories.core.comparing import CHARS_A_CALL, Comparer
from memories.core.relations import Relation
from memories.models import Memory
from memories.services.asks.record import AskedPair, record_asks
from memories.services.asks.waiting import READ_CHARS
from memories.services.commit.transaction import Committed, NearbyMemory
from memories.services.gate.neighbours import ELSEWHERE_COSINE, NearMemory
from memories.services.index.postings import Vocabulary, vocabulary_of
from memories.services.index.search_index import WordIndex

log = logging.getLogger(__name__)
MOST = 3  # questions per commit
# A crash may lose what was asked last; no commit waits for the disk because of it.
UNHURRIED = {"synchronous_commit": "off"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A new memory and a neighbour of it, with the words that they share."""

    statement: Memory
    memory: Memory
    shared: frozenset[str]
    cosine: float
    relation: Relation | None  # None if the gate did not compare the two


@dataclass(frozen=True, slots=True)
class RatedPair:
    """A pair with the rarity of each shared word, and its score."""

    pair: Pair
    rare: Mapping[str, float]
    score: float


@dataclass(frozen=True, slots=True)
class NearbyPairs:
    """The pairs that may be selected, by the position of the result, and their shared words."""

    pairs: Mapping[int, Sequence[Pair]]
    vocabulary: Vocabulary


def find_nearby(
    results: Sequence[Committed], words: WordIndex, *, least: float = WORTH_ASKING
) -> NearbyPairs | None:
    """Return the pairs of new memories and neighbours that share enough words; None without any.

    Reads the first 1,000 characters of each text; a longer pair is selected only if the gate
    compared it. Runs one query for all results, none if there is no pair. `words` are changes
    that are not written yet: writing locks rows that all writers share.
    """
    found = {n: pairs for n, result in enumerate(results) if (pairs := _pairs(result, least))}
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


def add_nearby(
    workspace: Workspace,
    results: Sequence[Committed],
    found: NearbyPairs | None,
    *,
    actor: Actor,
    now: datetime,
) -> list[Committed]:
    """Return the results with the neighbours whose relation the writer should report.

    Pairs beyond the character budget of `comparer` are left out. The selected ones are recorded
    by one statement in a transaction of its own, which does not wait for the disk: claims are
    compared while no lock is held.
    """
    if found is None:
        return list(results)
    comparer = Comparer(CHARS_A_CALL)
    best = {n: _best(pairs, found.vocabulary, comparer) for n, pairs in found.pairs.items()}
    asked = [
        AskedPair(one.pair.statement, one.pair.memory, one.pair.cosine)
        for rated in best.values()
        for one in rated
    ]
    if not asked:
        return list(results)
    try:
        with in_workspace(workspace, options=UNHURRIED):
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


def _as_nearby(one: RatedPair) -> NearbyMemory:
    text = one.pair.statement.content[:READ_CHARS]
    return NearbyMemory(one.pair.memory, explain(text, one.rare, one.pair.cosine))


def _pairs(result: Committed, least: float) -> list[Pair]:
    """Return the pairs of a new memory and each neighbour that may reach the score `least`."""
    if result.memory is None or not result.gate.around or result.outcome == "merged":
        return []
    statement = result.memory
    words = words_of(statement.content[:READ_CHARS])
    found = [_pair(statement, words, row, result) for row in result.gate.around]
    return [pair for pair in found if pair and _at_most(pair) >= least]


def _at_most(pair: Pair) -> float:
    """Return the score of a pair if all of its shared words are as rare as can be."""
    return score(pair.cosine, len(pair.shared))


def _pair(
    statement: Memory, words: frozenset[str], row: NearMemory, result: Committed
) -> Pair | None:
    """Return the pair with its shared words; None if both are of one session or share no word."""
    memory, cosine = row
    own = (statement.session_key, statement.key_id)
    if statement.session_key and own == (memory.session_key, memory.key_id):
        return None
    if math.isnan(cosine) or cosine < ELSEWHERE_COSINE:
        return None
    shared = words & words_of(memory.content[:READ_CHARS])
    if not shared:
        return None
    return Pair(statement, memory, shared, cosine, result.gate.relations.get(memory.id))


def _best(
    pairs: Sequence[Pair], vocabulary: Vocabulary, comparer: Comparer
) -> tuple[RatedPair, ...]:
    """Return the selected pairs, highest score first."""
    worth = (one for one in rate_pairs(pairs, vocabulary) if one.score >= WORTH_ASKING)
    is_open = (one for one in worth if relation_of(one.pair, comparer) == "different")
    return tuple(islice(is_open, MOST))


def rate_pairs(pairs: Sequence[Pair], vocabulary: Vocabulary) -> list[RatedPair]:
    """Return the pairs of one new memory with their scores, highest first."""
    rated = []
    for pair in pairs:
        # The counts include the new statement.
        others = {word: vocabulary.frequencies.get(word, 1) - 1 for word in pair.shared}
        rare = rarities(pair.shared, others, max(vocabulary.memories - 1, 0))
        rated.append(RatedPair(pair, rare, score(pair.cosine, math.fsum(rare.values()))))
    return sorted(rated, key=lambda one: (-one.score, one.pair.memory.id))


def relation_of(pair: Pair, comparer: Comparer) -> Relation | None:
    """Return the relation of the pair; None if it could not be compared."""
    stored, statement = pair.memory.content, pair.statement.content
    if pair.relation is not None or max(len(stored), len(statement)) > READ_CHARS:
        return pair.relation
    return (
        comparer.compare(stored, statement).relation
        if comparer.has_room([stored], statement)
        else None
    )
