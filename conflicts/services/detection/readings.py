"""Choose what the model reads about new memories: each with its candidates, within the budget."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count

from conflicts.core.batches import cut_batches
from conflicts.core.facts import DetectiveSettings, Fact
from conflicts.core.forgetting import sample_to_budget
from conflicts.core.model_prompt import Reading, line_tokens
from conflicts.core.timeline import Timeline
from conflicts.models import ConflictMember, DetectionRun
from conflicts.models.card import WAITING
from conflicts.services.cards.decided import decided_pairs
from conflicts.services.detection.story import Story, load_facts, story_ids
from engram.kernel.models import Workspace
from engram.kernel.planning import without_nested_loops
from engram.kernel.tenancy import in_workspace

Pairs = frozenset[frozenset[str]]


def choose_readings(
    workspace: Workspace, run: DetectionRun, triggers: Collection[UUID], *, now: datetime
) -> tuple[Story, list[Reading]]:
    """Return the story around new memories, and what the model reads of it.

    A story within the token budget is read whole. Of a longer one each new memory is read with its
    candidates, those that the rules compare it with; members of open cards, and others by the
    forgetting curve, fill the room that is left. The run counts what was left out.
    """
    with in_workspace(workspace), without_nested_loops():
        ids = story_ids(triggers, workspace.embedding_model, now)
    with in_workspace(workspace), without_nested_loops():
        story = load_facts(ids, workspace.embedding_model)
        decided = _decided(story.facts)
        in_cards = _in_cards(ids)
        open_ids = story.facts_of(_in_open_cards(ids))
    new = frozenset(story.facts_of(triggers))
    budget = workspace.config.story_budget_tokens
    threads = _threads(story, new, decided)
    sample = sample_to_budget(
        story.facts,
        now=now,
        rng=random.Random(run.id.int),
        always={*new, *open_ids},
        conflicts={fact: in_cards.get(UUID(m), 0) for fact, m in story.memory_of.items()},
        budget_tokens=budget,
        size=line_tokens,
    )
    kept = [fact.id for fact in reversed(sample.kept)]
    batches = cut_batches(
        story.facts,
        threads,
        others=[*(i for i in kept if i in open_ids), *kept],
        budget_tokens=budget,
        size=line_tokens,
    )
    today = now.astimezone(ZoneInfo(workspace.config.time_zone)).date()
    readings = [Reading(batch, today, new, decided) for batch in batches]
    read = {fact.id for batch in batches for fact in batch}
    run.facts_considered, run.facts_forgotten = len(read), len(story.facts) - len(read)
    run.batches = len(batches)
    return story, readings


def memories_of(story: Story, readings: Iterable[Reading]) -> list[UUID]:
    """Return the distinct memories of what was read, by time."""
    shown = {fact.id for reading in readings for fact in reading.facts}
    facts = [fact.id for fact in story.facts if fact.id in shown]
    return list(dict.fromkeys(UUID(story.memory_of[i]) for i in facts))


def _threads(story: Story, triggers: Collection[str], decided: Pairs) -> list[list[str]]:
    """Return each trigger with the facts that the rules compare it with, the nearest first.

    Without those about which a person has decided.
    """
    timeline = Timeline(story.facts, story.vectors, DetectiveSettings())
    positions = [i for i, fact in enumerate(timeline.facts) if fact.id in triggers]
    timeline.prepare(positions)
    threads = []
    for i in positions:
        fact = timeline.facts[i]
        near = sorted(timeline.neighbours(i), key=lambda j: (-timeline.cosine(i, j), j))
        candidates = [timeline.facts[j] for j in near]
        threads.append([fact.id, *(f.id for f in candidates if not _is_decided(fact, f, decided))])
    return threads


def _is_decided(one: Fact, other: Fact, decided: Pairs) -> bool:
    return frozenset((one.lineage, other.lineage)) in decided


def _decided(facts: Sequence[Fact]) -> Pairs:
    """Return the pairs of lineages that a person decided, and whose texts are as they were then."""
    claim_of = {fact.lineage: fact.content for fact in facts}
    return frozenset(
        one.pair
        for one in decided_pairs(claim_of)
        if all(claim_of.get(lineage) == text for lineage, text in one.claims.items())
    )


def _in_cards(ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the number of cards of each memory."""
    rows = ConflictMember.objects.order_by().filter(memory__in=ids).values_list("memory")
    return dict(rows.annotate(cards=Count("conflict")))


def _in_open_cards(ids: Collection[UUID]) -> set[UUID]:
    """Return the memories on waiting cards."""
    members = ConflictMember.objects.order_by().filter(conflict__status__in=WAITING, memory__in=ids)
    return set(members.values_list("memory", flat=True))
