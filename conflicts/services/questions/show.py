"""Show questions with the answers that hold, and one question with its history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber

from conflicts.core.answers.index import MAX_STATED, AnswerIndex, StatedAnswer
from conflicts.core.answers.standing import Standing, read_standing
from conflicts.core.facts import DetectiveSettings
from conflicts.core.timeline import Timeline
from conflicts.models import ConflictMember
from conflicts.services.detection.story import Story, add_answers, load_facts
from conflicts.services.questions.disputing import disputing_cards
from conflicts.services.questions.former import GivenAnswer, read_former
from conflicts.services.questions.sources import find_sources
from engram.kernel.models import Workspace
from engram.kernel.planning import by_index
from memories.core.answer_sources import AnswerSource
from memories.models import MemoryAnswer
from memories.services.index.given_answers import given_answers

READ_OF_EACH = 12  # answers, the newest, where many questions are listed
ALSO_SHOWN = 5


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question with the answer that holds; of a disputed one, the newest."""

    id: UUID
    question: str
    answer: str
    since: datetime
    agent: str
    memory: UUID
    source: AnswerSource
    scope: str
    disputed: bool
    conflicts: list[UUID]
    also: list[str]
    answers_count: int


@dataclass(slots=True)
class _Given:
    """The answers to one question as they are stored: memories with question hashes."""

    total: int = 0
    keys: set[tuple[str, str]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The answers to one question as facts, and which of them hold."""

    story: Story
    timeline: Timeline
    standing: Standing
    total: int
    sources: Mapping[tuple[str, str], AnswerSource]  # by memory and question

    def source_of(self, one: StatedAnswer) -> AnswerSource:
        memory = self.story.memory_of[self.timeline.facts[one.position].id]
        return self.sources[memory, one.answer.identity]

    def memory_of(self, one: StatedAnswer) -> UUID:
        return UUID(self.story.memory_of[self.timeline.facts[one.position].id])


def show_questions(
    workspace: Workspace, rows: Sequence[MemoryAnswer], *, now: datetime, as_of: datetime | None
) -> list[KnownQuestion]:
    """Return the questions of the newest answers, in their order; the same queries for any number.

    The newest `READ_OF_EACH` answers are read.
    """
    groups = [row.question_group for row in rows]
    with by_index():
        readings = _read(workspace, groups, READ_OF_EACH, now, as_of)
        cards = disputing_cards(groups, now=now, as_of=as_of)
    return [
        _show(group, readings[group], cards.get(group, [])) for group in groups if group in readings
    ]


def show_question(
    workspace: Workspace, group: UUID, *, now: datetime, as_of: datetime | None
) -> tuple[KnownQuestion, list[GivenAnswer]] | None:
    """Return a question with its newest answers, newest first; None if nothing answers it now.

    They are at most `MAX_STATED` of memories that can be recalled, and as many former ones.
    """
    with by_index():
        reading = _read(workspace, [group], MAX_STATED, now, as_of).get(group)
        cards = disputing_cards([group], now=now, as_of=as_of).get(group, [])
    if reading is None:
        return None
    members = ConflictMember.objects.filter(conflict__in=cards)
    disputed = set(members.values_list("memory_id", flat=True)) if cards else set()
    former = read_former(group, now=now, as_of=as_of)
    return _show(group, reading, cards), _history(reading, disputed, former)


def _show(group: UUID, reading: _Reading, cards: list[UUID]) -> KnownQuestion:
    standing, facts = reading.standing, reading.timeline.facts
    current = standing.current
    newest, _ = standing.stated[-1]
    return KnownQuestion(
        id=group,
        question=newest.answer.question,
        answer=current.answer.answer,
        since=standing.since,
        agent=facts[current.position].agent,
        memory=reading.memory_of(current),
        source=reading.source_of(current),
        scope=facts[current.position].scope,
        disputed=bool(cards),
        conflicts=cards,
        also=[one.answer.answer for one in standing.also[:ALSO_SHOWN]],
        answers_count=reading.total,
    )


def _history(
    reading: _Reading, disputed: Collection[UUID], former: Iterable[GivenAnswer]
) -> list[GivenAnswer]:
    found = []
    for one, state in reversed(reading.standing.stated):
        fact, memory = reading.timeline.facts[one.position], reading.memory_of(one)
        change = reading.standing.changed_by.get(one)
        found.append(
            GivenAnswer(
                answer=one.answer.answer,
                was=one.answer.was,
                question=one.answer.question,
                memory=memory,
                content=fact.content,
                scope=fact.scope,
                agent=fact.agent,
                source=reading.source_of(one),
                observed_at=fact.observed_at,
                state="disputed" if state == "holds" and memory in disputed else state,
                until=reading.timeline.facts[change.position].observed_at if change else None,
                replaced_by=reading.memory_of(change) if change else None,
            )
        )
    return sorted([*found, *former], key=lambda one: one.observed_at, reverse=True)


def _read(
    workspace: Workspace,
    groups: Collection[UUID],
    most: int,
    now: datetime,
    as_of: datetime | None,
) -> dict[UUID, _Reading]:
    """Read the newest answers to each question as the detective does."""
    given = _given(groups, most, now, as_of)
    ids = {UUID(memory) for one in given.values() for memory, _ in one.keys}
    story = load_facts(list(ids), workspace.embedding_model)
    story = add_answers(story, workspace, now, as_of=as_of)
    rows: dict[str, list[int]] = defaultdict(list)
    for row, fact in enumerate(story.facts):
        if as_of is None or fact.observed_at <= as_of:  # a repetition may be later
            rows[story.memory_of[fact.id]].append(row)
    sources = find_sources((story.memory_of[f.id], f.content, f.answers) for f in story.facts)
    readings: dict[UUID, _Reading] = {}
    for group, one in given.items():
        own = [row for memory in sorted({m for m, _ in one.keys}) for row in rows[memory]]
        timeline = Timeline([story.facts[r] for r in own], story.vectors[own], DetectiveSettings())
        if stated := _stated(timeline, story, one):
            index = AnswerIndex(timeline, story.questions)
            standing = read_standing(timeline, index, stated)
            readings[group] = _Reading(story, timeline, standing, one.total, sources)
    return readings


def _given(
    groups: Collection[UUID], most: int, now: datetime, as_of: datetime | None
) -> dict[UUID, _Given]:
    own = [F("question_group")]
    newest_first = [F("memory__observed_at").desc(), F("pk").desc()]
    rows = (
        given_answers(now, as_of)
        .filter(question_group__in=groups)
        .annotate(
            rank=Window(RowNumber(), partition_by=own, order_by=newest_first),
            total=Window(Count("pk"), partition_by=own),
        )
        .filter(rank__lte=most)
        .values_list("question_group", "memory_id", "question_hash", "total")
    )
    found: dict[UUID, _Given] = defaultdict(_Given)
    for group, memory, question, total in rows:
        found[group].keys.add((str(memory), question))
        found[group].total = total
    return dict(found)


def _stated(timeline: Timeline, story: Story, given: _Given) -> list[StatedAnswer]:
    """Return the answers to a question, oldest first; of one fact, the first."""
    found = []
    for position, fact in enumerate(timeline.facts):
        memory = story.memory_of[fact.id]
        own = [one for one in fact.answers if (memory, one.identity) in given.keys]
        found += [StatedAnswer(position, one) for one in own[:1]]
    return found
