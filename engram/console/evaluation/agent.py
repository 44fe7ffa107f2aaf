"""Evaluate conflicts when writers answer the `nearby` questions.

`--conflicts STORIES --agent [--answers ANSWERS]`.

A simulated agent commits a story fact by fact and answers each `nearby` at once, through the
product, as a careful writer would (`label`): a change that the new fact announces is `replaces`,
a value that an expected conflict states again is `same`, two claims of an expected conflict that
exclude each other are `contradicts`, all else is `different`. Then the detective runs as for
`--conflicts`. Precision and recall are reported next to those without what commits ask; questions
are counted by pair of memories. An agent without errors is the upper bound: a real agent lies
between the two.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from conflicts.core.cues import Cue, cues
from conflicts.models import JudgedRelation
from conflicts.services.reports.judge import judge
from engram.console.evaluation import stories
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.evaluation.stories import StoryRow
from engram.console.evaluation.written_answers import NO_ANSWERS, FactAnswers, read_answers
from engram.console.scratch import EVALUATOR, commit_rows, scratch_workspace
from engram.kernel.models import Workspace
from memories.core.metrics import bootstrap_ratio
from memories.models import Memory
from memories.services.commit.draft import Draft

REVERSAL = "reversal"


@dataclass(slots=True)
class StoryCards:
    """The cards of a story that the agent committed, and the questions that it answered."""

    conflicts: list[dict[str, Any]] = field(default_factory=list)
    questions: list[dict[str, str]] = field(default_factory=list)


def run(
    path: Path, *, seed: int, advance: Callable[[int], object], answers: Path | None = None
) -> ModeResult:
    """Commit every story with and without the agent; compare both with the expected conflicts.

    With `answers` each fact is committed with what its writer says that it answers, both times.
    """
    story_rows = stories.read(path)
    told = read_answers(answers, path) if answers else NO_ANSWERS
    alone, with_agent = [], []
    for story in story_rows:
        alone.append({"id": story.id, "conflicts": stories.find(story, told)})
        with_agent.append(commit_story(story, told))
        advance(1)
    return score(story_rows, alone, with_agent, seed=seed)


def commit_story(story: StoryRow, answers: FactAnswers = NO_ANSWERS) -> StoryCards:
    """Commit a story fact by fact, answer each `nearby`, and return the cards and questions."""
    committed = StoryCards()
    with scratch_workspace() as workspace:
        facts: dict[UUID, list[str]] = defaultdict(list)
        for fact in story.facts:
            draft = Draft(
                content=fact.content,
                scope=fact.scope,
                agent=fact.agent,
                session_key=fact.session,
                observed_at=fact.committed_at,
                answers=answers.get((story.id, fact.id), ()),
            )
            [result] = commit_rows(workspace, [draft], now=story.now)
            if result is None or result.memory is None:
                continue
            facts[result.memory.id].append(fact.id)
            for near in (one.memory for one in result.nearby):
                relation = label(story, fact.id, facts[near.id])
                outcome = _answer(workspace, story, result.memory, near, relation)
                committed.questions.append(
                    {"fact": fact.id, "other": ",".join(facts[near.id]), "relation": relation,
                     "outcome": outcome}
                )  # fmt: skip
        committed.conflicts = stories.cards(workspace, facts, now=story.now)
    return committed


# Cues by which a text says itself that something changed.
_ANNOUNCING = frozenset({Cue.SWITCH, Cue.SUCCESSOR, Cue.SETTLE, Cue.RETURN})


def label(story: StoryRow, fact: str, others: Sequence[str]) -> JudgedRelation:
    """Return how a fact relates to an earlier memory, which may stand for several facts.

    The facts of an expected reversal are the old value, the change (with what follows from it) and
    the old value again, in this order. Outside of expected conflicts only the cues of the new text
    tell that it announces a change; which memory it is about, the question says.
    """
    for conflict in story.expected:
        shared = [one for one in others if one in conflict.fact_ids]
        if fact not in conflict.fact_ids or not shared:
            continue
        if conflict.kind != REVERSAL:
            return JudgedRelation.CONTRADICTS
        first, *_, last = conflict.fact_ids
        if fact == last:
            return JudgedRelation.SAME if shared == [first] else JudgedRelation.CONTRADICTS
        return JudgedRelation.REPLACES if first in shared else JudgedRelation.DIFFERENT
    text = next(one.content for one in story.facts if one.id == fact)
    found = cues(text)
    is_change = bool(found & _ANNOUNCING) and Cue.UNREAL not in found
    return JudgedRelation.REPLACES if is_change else JudgedRelation.DIFFERENT


def _answer(
    workspace: Workspace, story: StoryRow, memory: Memory, near: Memory, relation: JudgedRelation
) -> str:
    return judge(
        workspace, memory.id, other_id=near.id, relation=relation, reason="",
        actor=EVALUATOR, now=story.now,
    ).outcome  # fmt: skip


def score(
    story_rows: Sequence[StoryRow],
    alone: Sequence[Mapping[str, Any]],
    with_agent: Sequence[StoryCards],
    *,
    seed: int,
) -> ModeResult:
    """Return the figures of both runs, with the number of questions."""
    rows = [
        {"id": story.id, "conflicts": one.conflicts, "questions": one.questions}
        for story, one in zip(story_rows, with_agent, strict=True)
    ]
    found, without = (
        stories.score(story_rows, rows, seed=seed),
        stories.score(story_rows, alone, seed=seed),
    )
    question_counts = [len(one.questions) for one in with_agent]
    commits = [len(story.facts) for story in story_rows]
    questions_per_commit = bootstrap_ratio(
        question_counts, commits, rng=np.random.default_rng(seed)
    )
    questions = {"questions_per_commit": Figure(questions_per_commit, is_lower_better=True)}
    unasked = {f"{name} without asking": figure for name, figure in without.figures.items()}
    answers = Counter(question["relation"] for one in with_agent for question in one.questions)
    details = {
        **found.details,
        "commits": sum(commits),
        "questions": sum(question_counts),
        "answers": dict(answers),
        "matched without asking": without.details["matched"],
    }
    figures = {**found.figures, **questions, **unasked}
    return ModeResult("conflicts with an agent", figures, rows, details)
