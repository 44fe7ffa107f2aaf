"""Evaluate recall with and without links, reranked and not: `--matrix MEMORIES QUESTIONS`.

Each group is a workspace of its own, as in `--retrieval`, and what is written in the background is
written before the first question. Each question is asked in four cells, {links} × {reranking}. A
cell with links is refused where no memory has a link or an entity: it would measure nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import numpy as np

from engram.console.evaluation.lines import InputError
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.evaluation.retrieval import (
    MEASURES,
    RANKED_MAX,
    UNDATED,
    MemoryRow,
    QuestionRow,
    read,
    store,
)
from engram.console.scratch import refresh_statistics, scratch_workspace
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.graph_effect import (
    RELEVANT,
    Structure,
    structure_of,
    verdict_of,
)
from memories.core.metrics import Interval, bootstrap, bootstrap_difference, recall_at
from memories.models import CoRecall, Derivation, NoteLink
from memories.services.index.answers import embed_questions
from memories.services.index.entities import has_any, read_due
from memories.services.recall.log import count_recalls
from memories.services.recall.recall import Query, recall

EFFECT_K = 5


@dataclass(frozen=True, slots=True)
class Cell:
    """One way to recall."""

    has_graph: bool
    is_reranked: bool

    @property
    def name(self) -> str:
        """Return the name in figures and predictions."""
        graph = "graph" if self.has_graph else "plain"
        return f"{graph}+rerank" if self.is_reranked else graph


CELLS = tuple(Cell(graph, rerank) for rerank in (False, True) for graph in (False, True))


@dataclass(slots=True)
class Asked:
    """What was recalled: ids by cell and question, and how often links led out of the list."""

    ranked: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    walked: int = 0  # memories that links led to
    outside: int = 0  # of those, not in the scored list


def run(
    memories: Path,
    questions: Path,
    *,
    categories: Collection[str] = (),
    seed: int,
    advance: Callable[[int], object],
) -> ModeResult:
    """Store every group, ask its questions in the four cells, and compare."""
    corpus, questions_of = _read(memories, questions, categories)
    asked = Asked()
    for group, rows in corpus.items():
        with scratch_workspace() as workspace:
            now = max((row.time for row in rows if row.time), default=UNDATED) + timedelta(hours=1)
            names = store(workspace, rows, now=now, advance=advance)
            _write_pending(workspace)
            _refuse_without_links(workspace, group)
            for question in questions_of.get(group, ()):
                for cell in CELLS:
                    _ask(workspace, question, cell, names, asked, now=now)
                advance(1)
    everything = [question for group in questions_of.values() for question in group]
    return score(everything, asked, seed=seed)


def size(memories: Path, questions: Path, categories: Collection[str] = ()) -> int:
    """Return the number of steps of `run`."""
    corpus, questions_of = _read(memories, questions, categories)
    return sum(map(len, corpus.values())) + sum(map(len, questions_of.values()))


def _read(
    memories: Path, questions: Path, categories: Collection[str]
) -> tuple[dict[str, list[MemoryRow]], dict[str, list[QuestionRow]]]:
    """Read both files; keep the questions that are scored, of these categories or all."""
    corpus, questions_of = read(memories, questions)
    kept = {
        group: [q for q in found if q.is_scored and (not categories or _is_of(q, categories))]
        for group, found in questions_of.items()
    }
    kept = {group: found for group, found in kept.items() if found}
    if not kept:
        raise InputError("no question of these categories has gold")
    return {group: rows for group, rows in corpus.items() if group in kept}, kept


def _is_of(question: QuestionRow, categories: Collection[str]) -> bool:
    """Return whether a question's label, structure or data set is one of the categories."""
    return not {question.label, structure(question), question.ds}.isdisjoint(categories)


def structure(question: QuestionRow) -> Structure:
    """Return what the answer to a question takes."""
    return structure_of(question.question, len(question.gold), question.label)


def _write_pending(workspace: Workspace) -> None:
    """Write what the background would write later: no worker sees these rows."""
    embed_questions(workspace)
    read_due(workspace)
    count_recalls(workspace)
    refresh_statistics()


def _refuse_without_links(workspace: Workspace, group: str) -> None:
    with in_workspace(workspace):
        links = (
            Derivation.objects.all(),
            NoteLink.objects.filter(memory__isnull=False, note__isnull=False),
            CoRecall.objects.all(),
        )
        if not (has_any() or any(rows.exists() for rows in links)):
            raise InputError(
                f"no memory{f' of {group}' if group else ''} has a link or names an entity: "
                "recall with links would be recall without them"
            )


def _ask(
    workspace: Workspace,
    question: QuestionRow,
    cell: Cell,
    names: Mapping[UUID, Sequence[str]],
    asked: Asked,
    *,
    now: datetime,
) -> None:
    query = Query(
        question.question,
        k=RANKED_MAX,
        min_score=None,
        is_recorded=False,
        uses_graph=cell.has_graph,
        is_reranked=cell.is_reranked,
    )
    answer = recall(workspace, query, now=now)
    listed = [result.memory.id for result in answer.results]
    walked = {association.memory.id for association in answer.associations}
    asked.walked += len(walked)
    asked.outside += len(walked.difference(listed))
    ids = [i for memory_id in listed for i in names[memory_id]]
    asked.ranked[cell.name, question.id] = ids[:RANKED_MAX]


def score(questions: Sequence[QuestionRow], asked: Asked, *, seed: int) -> ModeResult:
    """Return the figures of each cell, the effect of links and the verdict."""
    figures = {}
    for cell in CELLS:
        for name, measure in MEASURES.items():
            values = [measure(asked.ranked[cell.name, q.id], frozenset(q.gold)) for q in questions]
            interval = bootstrap(values, rng=np.random.default_rng(seed))
            figures[f"{cell.name} {name}"] = Figure(interval)
    by_structure: dict[Structure, list[QuestionRow]] = defaultdict(list)
    for question in questions:
        by_structure[structure(question)].append(question)
    relevant = [q for kind in sorted(RELEVANT) for q in by_structure[kind]]
    effect_on = partial(_effect, asked=asked, seed=seed)
    effect, aggregate = effect_on(relevant), effect_on(questions)
    is_inside = asked.outside == 0
    details = {
        "verdict": str(verdict_of(effect, aggregate, is_inside=is_inside)),
        f"graph_effect (recall@{EFFECT_K}, multi_hop and temporal)": asdict(effect),
        "graph_effect of all questions": asdict(aggregate),
        "graph_effect by reranking": {
            "rerank": asdict(effect_on(relevant, reranked=(True,))),
            "plain": asdict(effect_on(relevant, reranked=(False,))),
        },
        "graph_effect by group": {
            group: asdict(effect_on([q for q in questions if q.group == group]))
            for group in sorted({q.group for q in questions})
        },
        "graph_effect by structure": {
            str(kind): asdict(effect_on(found)) for kind, found in sorted(by_structure.items())
        },
        "invariant": {"walked": asked.walked, "outside the scored list": asked.outside},
        "questions asked": len(questions),
    }
    rows = [
        {"id": question.id, "cell": cell.name, "ranked": asked.ranked[cell.name, question.id]}
        for question in questions
        for cell in CELLS
    ]
    return ModeResult("matrix", figures, rows, details)


def _effect(
    questions: Sequence[QuestionRow],
    asked: Asked,
    *,
    seed: int,
    reranked: Sequence[bool] = (False, True),
) -> Interval:
    """Return the mean effect over questions; that of one question is its mean over reranking."""
    if not questions:
        return Interval(0.0, 0.0, 0.0, 0)

    def found(*, has_graph: bool) -> list[float]:
        return [
            float(
                np.mean(
                    [
                        recall_at(
                            asked.ranked[Cell(has_graph, is_reranked).name, question.id],
                            frozenset(question.gold),
                            EFFECT_K,
                        )
                        for is_reranked in reranked
                    ]
                )
            )
            for question in questions
        ]

    rng = np.random.default_rng(seed)
    return bootstrap_difference(found(has_graph=True), found(has_graph=False), rng=rng)
