"""Evaluate the detective's precision and recall on stories: `--conflicts STORIES [--answers …]`.

Each story is a workspace of its own. Its facts are committed in order through the gate, then the
detective runs once, at its `now`. A memory of several facts (merged, repeated) counts for
all of them. A language model reads the stories only with `--model`, also where one is configured:
figures of the rules do not depend on who runs them, and nobody pays by accident.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from pydantic import AwareDatetime, Field

from conflicts.core.rules.reported import UNKNOWN
from conflicts.models import Conflict, DetectionRun
from conflicts.models.detection import Narrative
from conflicts.services.detection.detect import detect_due
from conflicts.services.detection.narrate import narrate_due
from engram.console.evaluation.lines import InputError, InputRow, read_rows, refuse_repeated_ids
from engram.console.evaluation.model_cost import ModelCost
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.evaluation.written_answers import NO_ANSWERS, FactAnswers, read_answers
from engram.console.scratch import commit_rows, scratch_workspace
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.metrics import Interval, bootstrap_ratio, wilson
from memories.services.commit.draft import Draft


class FactRow(InputRow):
    """One fact of a story."""

    id: str
    content: str = Field(min_length=1)
    scope: str = ""
    agent: str = ""
    session: str = ""
    committed_at: AwareDatetime


class ExpectedRow(InputRow):
    """A conflict that a person sees in the story."""

    fact_ids: tuple[str, ...] = Field(min_length=2)
    kind: str = ""


class StoryRow(InputRow):
    """A story with its facts in order; `expected` is empty for a story without conflicts."""

    id: str
    kind: str = ""
    now: AwareDatetime
    facts: tuple[FactRow, ...] = Field(min_length=1)
    expected: tuple[ExpectedRow, ...] = ()


def run(
    path: Path,
    *,
    seed: int,
    advance: Callable[[int], object],
    answers: Path | None = None,
    with_model: bool = False,
) -> ModeResult:
    """Commit every story to the product and compare its cards with the expected conflicts.

    With `answers` each fact is committed with what its writer says that it answers; with
    `with_model` the configured language model answers for the others, and reads the stories too;
    what it took is reported.
    """
    cost = ModelCost.begin() if with_model else None
    stories = read(path)
    told = read_answers(answers, path) if answers else NO_ANSWERS
    predictions = []
    for story in stories:
        predictions.append({"id": story.id, "conflicts": find(story, told, cost)})
        advance(1)
    found = score(stories, predictions, seed=seed)
    return found if cost is None else cost.added_to(found)


def read(path: Path) -> list[StoryRow]:
    """Read the stories; expected conflicts must name facts of their story."""
    stories = read_rows(path, StoryRow)
    refuse_repeated_ids(path, [story.id for story in stories])
    for story in stories:
        known = {fact.id for fact in story.facts}
        named = {i for conflict in story.expected for i in conflict.fact_ids}
        if named - known:
            raise InputError(f"{path.name}: {story.id} expects unknown facts {named - known}")
    return stories


def find(
    story: StoryRow, answers: FactAnswers = NO_ANSWERS, cost: ModelCost | None = None
) -> list[dict[str, Any]]:
    """Return the cards that the product opens for a story; with a model if `cost` is given."""
    with scratch_workspace() as workspace:
        drafts = [
            Draft(
                content=fact.content,
                scope=fact.scope,
                agent=fact.agent,
                session_key=fact.session,
                observed_at=fact.committed_at,
                answers=answers.get((story.id, fact.id), ()),
            )
            for fact in story.facts
        ]
        results = commit_rows(workspace, drafts, now=story.now)
        facts: dict[UUID, list[str]] = defaultdict(list)
        for fact, result in zip(story.facts, results, strict=True):
            if result and result.memory:
                facts[result.memory.id].append(fact.id)
        return cards(workspace, facts, now=story.now, cost=cost)


def cards(
    workspace: Workspace,
    facts: Mapping[UUID, Sequence[str]],
    *,
    now: datetime,
    cost: ModelCost | None = None,
) -> list[dict[str, Any]]:
    """Run detection and return the cards, with the ids that the file gave their memories.

    With `cost` a language model reads the story as well, and what it took is added.

    Raises
    ------
    RuntimeError
        When a run failed or reached its cap: its stories would seem to have no conflicts.
    """
    _check(detect_due(workspace, clock=lambda: now))
    # What the model answers is read by the rules again, then the model reads the story.
    while cost is not None and (by_model := narrate_due(workspace, clock=lambda: now)):
        cost.add(by_model)
        _check([*by_model, *detect_due(workspace, clock=lambda: now)])
    with in_workspace(workspace):
        return [
            {
                "fact_ids": [i for m in card.members.all() for i in facts[m.memory_id]],
                "kind": card.kind,
                "detected_by": ",".join(card.detected_by),
                "rule": card.rule,
                "question": card.question,
                **({"reasoning": card.model_reasoning} if card.model_reasoning else {}),
            }
            for card in Conflict.objects.waiting()
            .prefetch_related("members")
            .order_by("created_at", "pk")
        ]


def _check(runs: Sequence[DetectionRun]) -> None:
    for run in runs:
        if run.status != "done" or run.narrative == Narrative.CAPPED:
            raise RuntimeError(f"detection failed: {run.error or run.narrative}")


def pair_off(
    predicted: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]
) -> frozenset[int]:
    """Return the positions of predicted conflicts that match an expected one, as many as possible.

    They match when the prediction names at least two of the expected facts and at most one other;
    each is used once (maximum bipartite matching by augmenting paths).
    """
    fits = [
        [
            j
            for j, facts in enumerate(expected)
            if len(set(named) & set(facts)) >= 2 and len(set(named) - set(facts)) <= 1
        ]
        for named in predicted
    ]
    taken_by: dict[int, int] = {}

    def place(i: int, tried: set[int]) -> bool:
        for j in fits[i]:
            if j not in tried:
                tried.add(j)
                if j not in taken_by or place(taken_by[j], tried):
                    taken_by[j] = i
                    return True
        return False

    for i in range(len(predicted)):
        place(i, set())
    return frozenset(taken_by.values())


def score(
    stories: Sequence[StoryRow], predictions: Sequence[Mapping[str, Any]], *, seed: int
) -> ModeResult:
    """Return precision and recall over conflicts, and the share of coherent stories with cards."""
    found = {row["id"]: [c["fact_ids"] for c in row["conflicts"]] for row in predictions}
    paired = {s.id: pair_off(found[s.id], [c.fact_ids for c in s.expected]) for s in stories}
    hits = {story: len(positions) for story, positions in paired.items()}
    coherent = [bool(found[s.id]) for s in stories if not s.expected]

    def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Interval:
        return bootstrap_ratio(parts, wholes, rng=np.random.default_rng(seed))

    hit_counts = [hits[s.id] for s in stories]
    figures = {
        "precision": Figure(ratio(hit_counts, [len(found[s.id]) for s in stories])),
        "recall": Figure(ratio(hit_counts, [len(s.expected) for s in stories])),
        "coherent_flagged": Figure(wilson(sum(coherent), len(coherent)), is_lower_better=True),
    }
    details = {
        "stories": len(stories),
        "predicted": sum(map(len, found.values())),
        "expected": sum(len(s.expected) for s in stories),
        "matched": sum(hits.values()),
        "recall by kind of story": _by_kind(stories, hits),
        "precision by rule": _by_rule(predictions, paired),
    }
    return ModeResult("conflicts", figures, predictions, details)


def _by_kind(stories: Sequence[StoryRow], hits: Mapping[str, int]) -> dict[str, str]:
    """Return for each kind of story how many of its conflicts were found."""
    kinds = sorted({s.kind for s in stories if s.expected})
    of_kind = {kind: [s for s in stories if s.kind == kind] for kind in kinds}
    return {
        kind: _share(sum(hits[s.id] for s in them), sum(len(s.expected) for s in them))
        for kind, them in of_kind.items()
    }


def _share(part: int, whole: int) -> str:
    """Return a share with its Wilson interval: "12/14 [0.60, 0.96]"."""
    interval = wilson(part, whole)
    return f"{part}/{whole} [{interval.low:.2f}, {interval.high:.2f}]"


def _by_rule(
    predictions: Sequence[Mapping[str, Any]], paired: Mapping[str, Collection[int]]
) -> dict[str, str]:
    """Return for each rule how many of its cards were expected."""
    right: Counter[str] = Counter()
    opened: Counter[str] = Counter()
    for row in predictions:
        for i, card in enumerate(row["conflicts"]):
            rule = card.get("rule", UNKNOWN.id)
            opened[rule] += 1
            right[rule] += i in paired[row["id"]]
    return {rule: _share(right[rule], opened[rule]) for rule in sorted(opened)}
