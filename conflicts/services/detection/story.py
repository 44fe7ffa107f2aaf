"""Load the facts that a detection run reads: all live memories, or the neighbours of new ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db.models import F

from conflicts.core.answers.index import AnswerIndex, QuestionVectors
from conflicts.core.answers.questions import MIN_COSINE
from conflicts.core.answers.wordings import find_wordings
from conflicts.core.facts import DetectiveSettings, Fact, Finding
from conflicts.core.timeline import Timeline
from conflicts.models import JudgedRelation, Judgement
from engram.kernel.models import Workspace
from engram.kernel.planning import by_index_sorted
from memories.core.answers import Answer
from memories.models import Memory, MemoryVector, Observation, Posting, TermCount
from memories.services.index.answers import load_answers
from memories.services.index.near_questions import memories_of_near_questions
from memories.services.index.nearest import corpus_size, nearest

# Up to here every run reads all memories; the vectors of so many load in half a second.
WHOLE_STORY_FACTS = 2000
# Of more memories a run reads at most so many: the triggers, then the nearest to them.
FACTS_A_RUN = 5000
NEIGHBOURS_BY_MEANING = 60
NEIGHBOURS_BY_WORDS = 40
# A term in more memories than this is not specific to a subject.
RARE_TERM_MEMORIES = 60
_RESTATED = "@"  # in the id of a fact, between its memory and the observation


def is_short(now: datetime) -> bool:
    """Return whether every run reads all live memories."""
    some = Memory.objects.recallable(now).order_by()[: WHOLE_STORY_FACTS + 1]
    return some.count() <= WHOLE_STORY_FACTS


def story_ids(triggers: Collection[UUID], model: str, now: datetime) -> list[UUID]:
    """Return the ids of the live memories that a run reads: all, or the nearest to the triggers."""
    recallable = Memory.objects.recallable(now)
    if is_short(now):
        return list(recallable.values_list("pk", flat=True))
    nearest_first = dict.fromkeys(
        [
            *sorted(triggers),
            *sorted(memories_of_near_questions(triggers, model, min_cosine=MIN_COSINE, now=now)),
            *_near(triggers, model, now),
            *sorted(_sharing_rare_words(triggers)),
        ]
    )
    live = set(recallable.filter(pk__in=list(nearest_first)).values_list("pk", flat=True))
    return [memory_id for memory_id in nearest_first if memory_id in live][:FACTS_A_RUN]


def _near(triggers: Collection[UUID], model: str, now: datetime) -> list[UUID]:
    """Return the nearest memories of each trigger by meaning, across scopes, nearest first."""
    size = corpus_size()
    recallable = Memory.objects.recallable(now).order_by()
    own = MemoryVector.objects.filter(memory__in=triggers, model=model, position=0)
    best: dict[UUID, float] = {}
    for vector in own.order_by("memory").values_list("embedding", flat=True):
        found = nearest(recallable, np.asarray(vector), model, NEIGHBOURS_BY_MEANING, size=size)
        for memory_id, cosine in found.items():
            best[memory_id] = max(cosine, best.get(memory_id, cosine))
    return sorted(best, key=lambda memory_id: (-best[memory_id], memory_id))


def _sharing_rare_words(triggers: Collection[UUID]) -> set[UUID]:
    """Return memories that share a rare term with a trigger.

    The terms are parameters of the second statement: a join of two sets of postings could be
    planned as a scan of all that the workspace has.
    """
    terms = Posting.objects.filter(memory__in=triggers).order_by().values_list("term", flat=True)
    with by_index_sorted():
        counted = TermCount.objects.filter(term__in=set(terms), memories__lte=RARE_TERM_MEMORIES)
        rare = list(counted.values_list("term", flat=True))
        sharing = Posting.objects.filter(term__in=rare).order_by()
        most = NEIGHBOURS_BY_WORDS * max(len(triggers), 1)
        return set(sharing.values_list("memory_id", flat=True).distinct()[:most])


@dataclass(frozen=True, slots=True)
class Story:
    """The facts that a run reads, oldest first, with their unit vectors (n, dim).

    A memory that was stated again later is a fact at both times; `memory_of` maps each fact to its
    memory, `revisions` each memory to the revision that was read. A fact without an embedding has a
    vector of zeros. `questions` are the unit vectors (dim,) of what the facts answer. A past fact
    (`Fact.is_past`) is in no finding, but may have led to one.
    """

    facts: list[Fact]
    vectors: np.ndarray
    memory_of: dict[str, str]
    revisions: dict[UUID, int] = field(default_factory=dict)
    questions: QuestionVectors = field(default_factory=dict)

    def time_of_reading(self, now: datetime) -> datetime:
        """Return `now`, or the time of the latest fact.

        What is observed later than a story is read is left out of it. A memory may be, when it was
        committed after the runner looked at the clock, or by a server whose clock is ahead.
        """
        return max([now, *(fact.observed_at for fact in self.facts)])

    def facts_of(self, memory_ids: Collection[UUID]) -> set[str]:
        """Return the ids of all facts of the memories."""
        wanted = {str(memory_id) for memory_id in memory_ids}
        return {fact for fact, memory in self.memory_of.items() if memory in wanted}

    def facts_in_order(self, memory_ids: Sequence[UUID]) -> list[str]:
        """Return the ids of all facts of the memories, in the order of the memories."""
        rank = {str(memory_id): place for place, memory_id in enumerate(memory_ids)}
        return sorted(
            self.facts_of(memory_ids), key=lambda fact: (rank[self.memory_of[fact]], fact)
        )

    def wordings_of(self, fact_ids: Collection[str]) -> dict[str, str]:
        """Return for each question of the facts the known one that it is a wording of."""
        if not any(fact.answers for fact in self.facts if fact.id in fact_ids):
            return {}
        timeline = Timeline(self.facts, self.vectors, DetectiveSettings())
        fresh = {timeline.position[fact_id] for fact_id in fact_ids}
        return find_wordings(timeline, AnswerIndex(timeline, self.questions), fresh)

    def in_memories(self, finding: Finding) -> Finding | None:
        """Return a finding in terms of memories; None when only one memory takes part."""
        past = {fact.id for fact in self.facts if fact.is_past}
        ids, keeps, unlisted = (
            tuple(dict.fromkeys(self.memory_of[fact] for fact in named if fact not in past))
            for named in (finding.fact_ids, finding.yes_keeps, finding.unlisted)
        )
        further = tuple(i for i in unlisted if i not in ids)
        told = {self.memory_of[fact]: answer for fact, answer in finding.answers}
        answers = tuple((i, told[i]) for i in ids if i in told)
        found = replace(finding, fact_ids=ids, yes_keeps=keeps, unlisted=further, answers=answers)
        return found if len(ids) > 1 else None


def load_facts(ids: Sequence[UUID], model: str, *, with_past: bool = False) -> Story:
    """Load memories as facts, and with them, as past facts, what they replaced by a relation."""
    read = [*ids, *(_replaced_by(ids) if with_past else ())]
    memories = list(Memory.objects.filter(pk__in=read).order_by("observed_at", "created_at", "pk"))
    again = _later_statements(ids)
    live = set(ids)
    facts = [_as_fact(memory, is_past=memory.id not in live) for memory in memories]
    memory_of = {fact.id: fact.id for fact in facts}
    for fact in list(facts):
        if (observation := again.get(UUID(fact.id))) is not None:
            restated = _restate(fact, observation)
            facts.append(restated)
            memory_of[restated.id] = fact.id
    facts.sort(key=lambda fact: fact.observed_at)
    revisions = {memory.id: memory.revision for memory in memories}
    return Story(facts, _vectors(facts, memory_of, model), memory_of, revisions)


def _replaced_by(ids: Sequence[UUID]) -> list[UUID]:
    """Return the memories that writers replaced by these: a return to one of them is a reversal."""
    said = Judgement.objects.filter(relation=JudgedRelation.REPLACES, memory__in=ids)
    past = Memory.objects.filter(superseded_by__in=ids, pk__in=said.values("other"))
    superseded = past.filter(forgotten_at=None, culled_at=None, retired_at=None)
    return list(superseded.values_list("pk", flat=True))


def add_answers(
    story: Story, workspace: Workspace, now: datetime, *, as_of: datetime | None = None
) -> Story:
    """Return a story with what its facts answer, and the vectors of the questions."""
    memory_ids = list(map(UUID, set(story.memory_of.values())))
    answers = load_answers(workspace, memory_ids, now=now, as_of=as_of)
    told = {
        str(memory_id): tuple(answer for answer, _ in found) for memory_id, found in answers.items()
    }
    facts = [_with_answers(fact, told.get(story.memory_of[fact.id], ())) for fact in story.facts]
    return replace(
        story,
        facts=facts,
        questions={
            answer.question: vector
            for found in answers.values()
            for answer, vector in found
            if vector is not None
        },
    )


def _with_answers(fact: Fact, answers: tuple[Answer, ...]) -> Fact:
    """Return a fact with answers; who repeats a statement announces no change."""
    if _RESTATED in fact.id:
        answers = tuple(replace(answer, was=None) for answer in answers)
    return replace(fact, answers=answers) if answers else fact


def _later_statements(ids: Sequence[UUID]) -> dict[UUID, Observation]:
    """Return the latest observation of each memory after its first: repeated or merged into it.

    Of A, then B, then A again, the gate only observes the second A, but it is a reversal here.
    """
    later = Observation.objects.filter(
        memory__in=ids,
        outcome__in=["duplicate", "merged"],
        observed_at__gt=F("memory__observed_at"),
    )
    return {row.memory_id: row for row in later.order_by("observed_at", "created_at")}


def _restate(fact: Fact, observation: Observation) -> Fact:
    return replace(
        fact,
        id=f"{fact.id}{_RESTATED}{observation.pk}",
        lineage=f"{fact.lineage}{_RESTATED}{observation.pk}",
        agent=observation.agent,
        session_key=observation.session_key,
        observed_at=observation.observed_at,
        provenance=observation.provenance,
        writer=str(observation.key_id or ""),
    )


def _vectors(facts: Sequence[Fact], memory_of: dict[str, str], model: str) -> np.ndarray:
    stored = MemoryVector.objects.filter(
        memory__in=set(memory_of.values()), model=model, position=0
    )
    of_memory = {str(row[0]): row[1] for row in stored.values_list("memory_id", "embedding")}
    width = len(next(iter(of_memory.values()), (0.0,)))
    vectors = np.zeros((len(facts), width), dtype=np.float32)
    for row, fact in enumerate(facts):
        if (embedding := of_memory.get(memory_of[fact.id])) is not None:
            vectors[row] = embedding
    return vectors


def _as_fact(memory: Memory, *, is_past: bool) -> Fact:
    return Fact(
        id=str(memory.id),
        lineage=str(memory.lineage),
        content=memory.content,
        scope=memory.scope,
        project=memory.project,
        agent=memory.agent,
        session_key=memory.session_key,
        observed_at=memory.observed_at,
        provenance=memory.provenance,
        kind=memory.kind,
        writer=str(memory.key_id or ""),
        is_past=is_past,
    )
