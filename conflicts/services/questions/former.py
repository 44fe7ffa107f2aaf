"""Read the former answers to a question: of memories that are hidden now, and not forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from conflicts.core.answers.index import MAX_STATED
from conflicts.core.answers.standing import AnswerState
from conflicts.services.questions.sources import find_sources
from engram.kernel.planning import by_index
from memories.core.answer_sources import AnswerSource
from memories.models import Memory
from memories.services.index.given_answers import answers_by_memory, former_answers

FormerState = Literal["superseded", "retired", "culled", "expired"]
FORMER_STATES: Final[tuple[FormerState, ...]] = ("superseded", "retired", "culled", "expired")


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One answer of a question's history, with the memory that gives or gave it.

    `until` is when it was replaced or its memory hidden, `replaced_by` the memory that did so.
    """

    answer: str
    was: str | None
    question: str
    memory: UUID
    content: str
    scope: str
    agent: str
    source: AnswerSource
    observed_at: datetime
    state: AnswerState | Literal["disputed"] | FormerState
    until: datetime | None = None
    replaced_by: UUID | None = None


def read_former(group: UUID, *, now: datetime, as_of: datetime | None) -> list[GivenAnswer]:
    """Return the newest `MAX_STATED` former answers to a question; the same queries for any number.

    Of a memory that answers it in two wordings, the first.
    """
    rows = former_answers(now, as_of).filter(question_group=group)
    rows = rows.select_related("memory__superseded_by").defer("embedding")
    with by_index():
        newest = list(rows.order_by("-memory__observed_at", "-memory", "position")[:MAX_STATED])
    memories = {row.memory_id: row.memory for row in newest}
    told = answers_by_memory(memories)
    sources = find_sources((str(pk), memory.content, told[pk]) for pk, memory in memories.items())
    found: dict[UUID, GivenAnswer] = {}
    for row in newest:
        memory = row.memory
        ends = [end for end in _ends(memory) if as_of is None or end[0] <= as_of]
        if memory.pk in found or not ends:
            continue  # hidden then for another reason: it was merged, and split later
        until, state = min(ends)
        found[memory.pk] = GivenAnswer(
            answer=row.answer,
            was=row.was,
            question=row.question,
            memory=memory.pk,
            content=memory.content,
            scope=memory.scope,
            agent=memory.agent,
            source=sources[str(memory.pk), row.question_hash],
            observed_at=memory.observed_at,
            state=state,
            until=until,
            replaced_by=_successor(memory) if state == "superseded" else None,
        )
    return list(found.values())


def _ends(memory: Memory) -> Iterator[tuple[datetime, FormerState]]:
    """Yield when a hidden memory ceased to be readable, and why, as `recallable_then` counts it."""
    if memory.culled_at is not None:
        yield memory.culled_at, "culled"
    if memory.retired_at is not None:
        yield memory.retired_at, "retired"
    if memory.superseded_at is not None:
        successor = memory.superseded_by
        if successor is not None and successor.observed_at > memory.observed_at:
            yield successor.observed_at, "superseded"
        else:
            yield memory.superseded_at, "superseded"
    if memory.expires_at is not None:
        yield memory.expires_at, "expired"


def _successor(memory: Memory) -> UUID | None:
    """Return the memory that replaced it, unless that is forgotten."""
    successor = memory.superseded_by
    return None if successor is None or successor.forgotten_at else successor.pk
