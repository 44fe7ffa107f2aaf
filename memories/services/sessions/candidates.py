"""Gather the candidates of a session: at most 100, in any workspace.

What recall finds for the session's context, the best by decayed importance, memories linked to
these, the best of the session's project or scope among the workspace's best thousand, and the
constraints and pins that apply there. They are in the order of `memories.core.baseline`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, zip_longest
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from engram.kernel.binary import binary_cursor, pack_ids
from engram.kernel.embedding import QueryReading
from engram.kernel.models import Workspace
from engram.kernel.plain_sql import Selection
from engram.kernel.planning import by_index_in_order
from engram.kernel.tenancy import current_workspace_id
from memories.core.baseline import (
    GAIN_A_SECOND,
    LEAST_IMPORTANCE,
    BaselineScore,
    age_days,
    effectiveness,
    order_key,
    score_for_context,
)
from memories.core.injection import Always
from memories.core.relevance import select_for_context
from memories.core.text import terms
from memories.models import Memory, Provenance
from memories.services.recall.context import recall_context
from memories.services.recall.pool import WordMatches, match_words
from memories.services.recall.query import Query, select_recallable
from memories.services.sessions.vectors import cosine_of, read_windows, relevances_of

POOL_MAX = 100
BEST = 50  # by decayed importance, where the context says nothing
BEST_BESIDE = 30  # the same, beside what recall finds
PLACED_MAX, PLACED_AMONG = 10, 1000
LINKED_MAX = 10
CONSTRAINTS_MAX = 30
CONSTRAINTS_READ = 100  # to list those that are not injected
PINS_MAX = 20

# The expression of the index `memory_standing`; see `memories.core.baseline.order_key`. Includes
# pins, though those that apply here are found by `_ALWAYS`.
_STANDING = f"""(ln(greatest(importance, {LEAST_IMPORTANCE!r}::float8))
    + {GAIN_A_SECOND!r}::float8 * date_part('epoch', observed_at AT TIME ZONE 'UTC'))"""
_HERE = """((project <> '' AND project = %(project)s) OR (scope <> '' AND (
    scope = ANY(%(scopes)s::text[]) OR starts_with(scope, %(below)s)
)))"""
_BEST = f"""
    SELECT id, is_here, place, (
        SELECT memories FROM memories_corpussize WHERE workspace_id = %(workspace)s
    )
    FROM (
        SELECT id, {_HERE} AS is_here, row_number() OVER (ORDER BY {_STANDING} DESC, id) AS place
        FROM memories_memory WHERE {{condition}}
        ORDER BY {_STANDING} DESC, id LIMIT %(most)s
    ) AS ranked
    WHERE place <= %(best)s OR is_here
    ORDER BY place
"""  # noqa: S608  constants only
_HOLDS = f"((project = '' AND scope = '') OR {_HERE})"
# The order of the index `memory_always`. By provenance first, because an agent may claim any
# importance and any number of constraints; not by age, so that old constraints stay.
_BY_TRUST = " ".join(f"WHEN '{one.value}' THEN {one.trust}" for one in Provenance)
_TRUST = f"(CASE provenance {_BY_TRUST} END)"
_ALWAYS = f"""
    SELECT * FROM (
        SELECT id, true FROM memories_memory
        WHERE {{condition}} AND (kind = 'constraint' OR is_pinned) AND kind = 'constraint'
            AND {_HOLDS}
        ORDER BY {_TRUST} DESC, importance DESC, id LIMIT %(constraints)s
    ) AS constraints
    UNION ALL SELECT * FROM (
        SELECT id, false FROM memories_memory
        WHERE {{condition}} AND (kind = 'constraint' OR is_pinned) AND kind <> 'constraint'
            AND {_HOLDS}
        ORDER BY {_TRUST} DESC, importance DESC, id LIMIT %(pins)s
    ) AS pins
"""  # noqa: S608  constants only
_STILL = "SELECT id FROM memories_memory WHERE {condition} AND id = ANY(%(ids)s::uuid[])"
_LINKED = f"""
    SELECT id FROM memories_memory
    WHERE {{condition}} AND NOT id = ANY(%(ids)s::uuid[]) AND id = ANY(ARRAY(
        SELECT source_id FROM memories_derivation
        WHERE workspace_id = %(workspace)s AND derived_id = ANY(%(ids)s::uuid[])
        UNION SELECT derived_id FROM memories_derivation
        WHERE workspace_id = %(workspace)s AND source_id = ANY(%(ids)s::uuid[])
    ))
    ORDER BY {_STANDING} DESC, id LIMIT %(linked)s
"""  # noqa: S608  constants only
# Share-locked, because session records will refer to them.
_FACTS = f"""
    SELECT id, content, kind, provenance, importance, is_pinned AND {_HOLDS}, observed_at,
        recall_count, revision
    FROM memories_memory WHERE {{condition}} AND id = ANY(%(ids)s::uuid[])
    ORDER BY id FOR KEY SHARE
"""  # noqa: S608  constants only


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """The project, scope and context of a session.

    `reading` is the embedding of the context; None without one.
    """

    project: str
    scope: str
    context: str = ""
    reading: QueryReading | None = None

    @property
    def vector(self) -> NDArray[np.float32] | None:
        """Return the unit vector of the context."""
        return None if self.reading is None else self.reading.vector


class CandidateMemory(NamedTuple):
    """A candidate, as read now."""

    id: UUID
    content: str
    kind: str
    provenance: str
    importance: float
    leads: bool  # a pin that applies in the session's place
    observed_at: datetime
    recall_count: int
    revision: int


@dataclass(frozen=True, slots=True)
class SessionCandidates:
    """The candidates in the baseline's order; all sequences have the same order."""

    facts: Sequence[CandidateMemory]
    scores: Sequence[BaselineScore]
    always: Sequence[Always]
    vectors: Sequence[NDArray[np.float32] | None]  # of the first window
    cosines: Sequence[float | None]  # of the nearest window
    relevances: Sequence[float | None]  # for the context; None without a cosine
    relevant: Sequence[bool]
    constraints: Sequence[UUID]  # all that apply here, at most `CONSTRAINTS_READ`


class PlaceReading(NamedTuple):
    """What can be read for a session before its context is embedded."""

    ranked: Sequence[tuple[UUID, bool, int, int | None]]  # see `_BEST`
    words: WordMatches | None  # of the context; None where it says nothing to search for

    @property
    def ids(self) -> set[UUID]:
        """Return the memories that were read."""
        by_words = () if self.words is None else self.words.best
        return {*(i for i, *_ in self.ranked), *by_words}

    def among(self, ids: Collection[UUID]) -> PlaceReading:
        """Return what was read of these memories."""
        words = self.words
        return PlaceReading(
            [row for row in self.ranked if row[0] in ids],
            words and words._replace(best=[i for i in words.best if i in ids]),
        )


def read_place(place: SessionPlace, *, now: datetime) -> PlaceReading:
    """Return the memories that a session's place, and the words of its context, lead to."""
    recallable = select_recallable(Query(""), now)
    parameters = _parameters(place)
    is_meaningful = Query(place.context).is_meaningful
    with by_index_in_order():
        return PlaceReading(
            _rows(_BEST, recallable, parameters),
            match_words(recallable, terms(place.context)) if is_meaningful else None,
        )


def candidates_of(
    workspace: Workspace, place: SessionPlace, read: PlaceReading, *, now: datetime
) -> SessionCandidates:
    """Return a session's candidates, share-locked until the transaction ends.

    `read` may be of an earlier transaction: what was forgotten since is left out. Constraints and
    pins are read here, so that none is missed that was written since.
    """
    recallable = select_recallable(Query(""), now)
    parameters = _parameters(place)
    with by_index_in_order():
        still = _rows(_STILL, recallable, parameters | {"ids": pack_ids(read.ids)})
        ranked, words = read.among({i for (i,) in still})
        named = _rows(_ALWAYS, recallable, parameters)
        found: dict[UUID, float] = {}
        if words is not None:
            found = recall_context(
                workspace, place.context, place.reading, recallable, words, now=now
            )
        best = [i for i, *_ in ranked[: BEST_BESIDE if found else BEST]]
        size = (ranked[0][3] or 0) if ranked else 0
        chosen = {*best, *found}
        linked = [
            row[0] for row in _rows(_LINKED, recallable, parameters | {"ids": pack_ids(chosen)})
        ]
        of_place = [i for i, is_here, *_ in ranked if is_here and i not in chosen][:PLACED_MAX]
        constraints = [i for i, must in named if must]
        always: dict[UUID, Always] = dict.fromkeys(constraints[:CONSTRAINTS_MAX], "constraint")
        always.update({i: "pin" for i, must in named if not must})
        parameters["ids"] = pack_ids(_cap(always, [*of_place, *linked], best, found))
        facts = [CandidateMemory._make(row) for row in _rows(_FACTS, recallable, parameters)]
        windows = read_windows(parameters["ids"], workspace.embedding_model, place.vector)
    scores = {fact.id: _score(fact, found, now) for fact in facts}
    facts.sort(key=lambda fact: _order(fact, scores[fact.id]))
    vectors = [windows.get(fact.id, []) for fact in facts]
    cosines = [cosine_of(rows, place.vector) for rows in vectors]
    relevances = relevances_of(cosines, memories=size, context=place.context)
    return SessionCandidates(
        facts=facts,
        scores=[scores[fact.id] for fact in facts],
        always=[always.get(fact.id, "") for fact in facts],
        vectors=[rows[0] if rows else None for rows in vectors],
        cosines=cosines,
        relevances=relevances,
        relevant=select_for_context(relevances, least=workspace.config.session_min_relevance),
        constraints=constraints,
    )


def constraints_at(project: str, scope: str, *, now: datetime) -> list[UUID]:
    """Return the constraints that apply in a place, at most `CONSTRAINTS_READ`, in their order."""
    parameters = _parameters(SessionPlace(project, scope)) | {"pins": 0}
    with by_index_in_order():
        return [i for i, _ in _rows(_ALWAYS, select_recallable(Query(""), now), parameters)]


def _parameters(place: SessionPlace) -> dict[str, Any]:
    parts = place.scope.split("/") if place.scope else []
    return {
        "workspace": current_workspace_id(),
        "project": place.project,
        "scopes": ["/".join(parts[:n]) for n in range(1, len(parts) + 1)],
        # A session without a scope gets a prefix that no scope has.
        "below": f"{place.scope}/",
        "best": BEST,
        "most": PLACED_AMONG if place.project or place.scope else BEST,
        "constraints": CONSTRAINTS_READ,
        "pins": PINS_MAX,
        "linked": LINKED_MAX,
    }


def _score(fact: CandidateMemory, found: Mapping[UUID, float], now: datetime) -> BaselineScore:
    worth = effectiveness(fact.importance, age_days(fact.observed_at, now), is_pinned=fact.leads)
    return score_for_context(found.get(fact.id, 0.0) if found else None, worth)


def _order(fact: CandidateMemory, score: BaselineScore) -> tuple[Any, ...]:
    """Return the sort key of the baseline: pins that apply, then by score."""
    about = 0.0 if score.recall is None else -score.total
    standing = order_key(fact.importance, fact.observed_at, is_pinned=fact.leads)
    return (not fact.leads, about, -standing, fact.id)


def _cap(
    always: Iterable[UUID],
    structural: Sequence[UUID],
    best: Sequence[UUID],
    near: Collection[UUID],
) -> list[UUID]:
    """Return at most `POOL_MAX` candidates, with an equal share of both rankings."""
    in_turn = chain.from_iterable(zip_longest(best, near))
    found = dict.fromkeys(i for i in chain(always, structural, in_turn) if i is not None)
    return list(found)[:POOL_MAX]


def _rows(statement: str, recallable: Selection[Memory], parameters: dict[str, Any]) -> list[Any]:
    condition = recallable.condition
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(statement.format(condition=condition.sql), condition.parameters | parameters)
        rows: list[Any] = cursor.fetchall()
        return rows
