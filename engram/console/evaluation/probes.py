"""Evaluate recall with questions on the demo's story: `--probes [FILE]`.

The story (corrections, open contradictions, forgotten and expired memories) is replayed in a
scratch workspace, then recall gets every question. A memory is named by its first label. p@1 and
p@3 are the shares of probes with an answer among the first one or three results; `forbidden` labels
are counted at any rank. Pins in a probe's scope come first for any question, so ranks are counted
after them, unless a pin is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from pydantic import Field, model_validator

from engram.console.demo.story import STORY, AnyStep, CommitStep, embed_story, play, read_story
from engram.console.evaluation.lines import InputError, InputRow, read_rows, refuse_repeated_ids
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.scratch import refresh_statistics, scratch_workspace
from engram.kernel.models import Workspace
from memories.core.metrics import Interval, bootstrap, reciprocal_rank
from memories.services.index.answers import embed_questions
from memories.services.recall.recall import Query, RecalledMemory, recall

PROBES = STORY.with_name("probes.jsonl")
NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
RANKED_MAX = 50

Measure = Callable[[Sequence[str], Sequence[str]], float]
MEASURES: dict[str, Measure] = {
    "p@1": lambda ranked, gold: float(not set(gold).isdisjoint(ranked[:1])),
    "p@3": lambda ranked, gold: float(not set(gold).isdisjoint(ranked[:3])),
    "mrr": reciprocal_rank,
}


class ProbeRow(InputRow):
    """A question, the labels of its answers, and of what must not be returned."""

    id: str = Field(min_length=1)
    category: str = ""
    question: str = Field(min_length=1)
    scope: str = ""
    project: str = ""
    gold: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _asks_for_something(self) -> ProbeRow:
        if not (self.gold or self.forbidden):
            raise ValueError("neither gold nor forbidden")
        return self


@dataclass(frozen=True, slots=True)
class ProbeWorkspace:
    """The story in a workspace: the memory of each label, and the first label of each memory."""

    workspace: Workspace
    memories: Mapping[str, UUID]
    names: Mapping[UUID, str]

    def name(self, label: str) -> str:
        """Return the first label of the memory of `label`."""
        return self.names[self.memories[label]]

    def ask(self, probe: ProbeRow, *, k: int) -> tuple[RecalledMemory, ...]:
        """Return what recall finds, without pins; record nothing."""
        query = Query(
            probe.question,
            k=k,
            scope=probe.scope,
            project=probe.project,
            min_score=None,
            is_recorded=False,
        )
        results = recall(self.workspace, query, now=NOW).results
        wanted = {self.memories[label] for label in probe.gold}
        has_pins = bool(probe.scope or probe.project)
        return tuple(
            result
            for result in results
            if result.memory.id in wanted or not (has_pins and result.memory.is_pinned)
        )


def run(path: Path, *, seed: int, advance: Callable[[int], object]) -> ModeResult:
    """Replay the story, recall every probe, and score the results."""
    probes, steps = read(path), read_story()
    predictions = []
    with load_story(path, probes, steps, advance=advance) as story:
        for probe in probes:
            predictions.append(
                {
                    "id": probe.id,
                    "ranked": [
                        story.names[result.memory.id] for result in story.ask(probe, k=RANKED_MAX)
                    ],
                    "gold": [story.name(label) for label in probe.gold],
                    "forbidden": [story.name(label) for label in probe.forbidden],
                }
            )
            advance(1)
    return score(probes, predictions, seed=seed)


def read(path: Path) -> list[ProbeRow]:
    """Read the probes."""
    probes = read_rows(path, ProbeRow)
    refuse_repeated_ids(path, [probe.id for probe in probes])
    return probes


def size(path: Path) -> int:
    """Return the number of steps of `run`."""
    return len(read(path)) + len(read_story())


@contextmanager
def load_story(
    path: Path,
    probes: Sequence[ProbeRow],
    steps: list[AnyStep],
    *,
    advance: Callable[[int], object],
) -> Iterator[ProbeWorkspace]:
    """Replay the story in a scratch workspace; refuse probes with unknown labels."""
    named = {label for probe in probes for label in (*probe.gold, *probe.forbidden)}
    _refuse(path, named - {step.label for step in steps if isinstance(step, CommitStep)})
    with scratch_workspace(detection_enabled=False) as workspace:
        embedded = embed_story(workspace, steps)
        memories = play(workspace, steps, embedded, now=NOW, advance=advance)
        _refuse(path, named - set(memories))  # what was suppressed has no memory
        embed_questions(workspace)  # no worker sees these rows
        refresh_statistics()
        names: dict[UUID, str] = {}
        for label, memory in memories.items():
            names.setdefault(memory, label)
        yield ProbeWorkspace(workspace, memories, names)


def _refuse(path: Path, unknown: set[str]) -> None:
    if unknown:
        raise InputError(f"{path.name}: the story has no {', '.join(sorted(unknown)[:5])}")


def score(
    probes: Sequence[ProbeRow], predictions: Sequence[Mapping[str, Any]], *, seed: int
) -> ModeResult:
    """Average over the probes that have an answer, and count returned `forbidden` labels."""
    answered = [row for row in predictions if row["gold"]]
    figures = {
        name: Figure(
            bootstrap(
                [measure(row["ranked"], row["gold"]) for row in answered],
                rng=np.random.default_rng(seed),
            )
        )
        for name, measure in MEASURES.items()
        if answered
    }
    leaks = {row["id"]: sorted(set(row["ranked"]) & set(row["forbidden"])) for row in predictions}
    wary = sum(bool(row["forbidden"]) for row in predictions)
    # A count, not a sample: one more than before is a regression.
    count = float(sum(map(len, leaks.values())))
    figures["forbidden_returned"] = Figure(Interval(count, count, count, wary), True)
    details = {
        "probes": len(probes),
        "by category": _by_category(probes, predictions),
        "not among the first three": [
            row["id"] for row in answered if not MEASURES["p@3"](row["ranked"], row["gold"])
        ],
        "returned though forbidden": {i: found for i, found in leaks.items() if found},
    }
    return ModeResult("probes", figures, predictions, details)


def _by_category(
    probes: Sequence[ProbeRow], predictions: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, float]]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for probe, row in zip(probes, predictions, strict=True):
        if row["gold"]:
            groups.setdefault(probe.category, []).append(row)
    return {
        category: {"n": float(len(rows))}
        | {
            name: float(np.mean([measure(row["ranked"], row["gold"]) for row in rows]))
            for name, measure in MEASURES.items()
        }
        for category, rows in sorted(groups.items())
    }
