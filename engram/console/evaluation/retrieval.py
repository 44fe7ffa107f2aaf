"""Evaluate recall on memories and questions: `--retrieval MEMORIES QUESTIONS`.

Each group (a conversation or a data set) is a workspace of its own; gate and detection are off,
because recall must find every row by its own id. `now` is the group's last time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import numpy as np
from pydantic import Field, field_validator, model_validator

from engram.console.evaluation.lines import InputError, InputRow, read_rows, refuse_repeated_ids
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.scratch import commit_rows, refresh_statistics, scratch_workspace
from engram.kernel.models import Workspace
from memories.core.metrics import bootstrap, ndcg_at, precision_at, recall_at, reciprocal_rank
from memories.services.commit.draft import Draft
from memories.services.index.answers import embed_questions
from memories.services.recall.recall import Query, recall

RANKED_MAX = 50
COMMITTED_AT_ONCE = 200
UNDATED = datetime(2025, 1, 1, tzinfo=UTC)
UNANSWERABLE = "adversarial"
TIME_FORMATS = ("%I:%M %p on %d %B, %Y", "%d %B, %Y", "%d %B %Y")

Measure = Callable[[Sequence[str], frozenset[str]], float]
MEASURES: dict[str, Measure] = {
    "recall@5": lambda ranked, gold: recall_at(ranked, gold, 5),
    "recall@10": lambda ranked, gold: recall_at(ranked, gold, 10),
    "ndcg@10": lambda ranked, gold: ndcg_at(ranked, dict.fromkeys(gold, 1.0), 10),
    "mrr": reciprocal_rank,
    "p@1": lambda ranked, gold: precision_at(ranked, gold, 1),
}


class Grouped(InputRow):
    """A row of one conversation (`conv`) or data set (`ds`)."""

    id: str = Field(min_length=1)
    conv: str = ""
    ds: str = ""

    @property
    def group(self) -> str:
        """Return the name of the workspace that the row belongs to."""
        return self.conv or self.ds


class MemoryRow(Grouped):
    """A turn of a conversation or a passage with a title."""

    text: str = ""
    content: str = ""
    title: str = ""
    session: str = ""
    seq: float | None = None
    time: datetime | None = None
    speaker: str = ""
    caption: str = ""

    @field_validator("session", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return str(value) if isinstance(value, int) else value

    @field_validator("time", mode="before")
    @classmethod
    def _read_time(cls, value: object) -> object:
        return parse_time(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _says_something(self) -> MemoryRow:
        if not (self.text or self.content).strip():
            raise ValueError("text or content is missing")
        return self

    @property
    def stored_text(self) -> str:
        """Return the text to store: a turn with speaker and picture, a passage with its title."""
        text = self.text or self.content
        if self.speaker:
            picture = f" [shares image: {self.caption}]" if self.caption else ""
            return f"{self.speaker}: {text}{picture}"
        return f"{self.title}. {text}" if self.title else text


class QuestionRow(Grouped):
    """A question with the ids of the memories that answer it."""

    question: str = Field(min_length=1)
    gold: tuple[str, ...] = ()
    category: str = ""
    type: str = ""

    @property
    def label(self) -> str:
        """Return the kind of question."""
        return self.category or self.type

    @property
    def is_scored(self) -> bool:
        """Return whether the question has an answer in the file."""
        return bool(self.gold) and self.label != UNANSWERABLE


def parse_time(text: str) -> datetime:
    """Read ISO 8601 or "1:56 pm on 8 May, 2023"; a time without a zone is UTC."""
    for shape in (None, *TIME_FORMATS):
        try:
            found = datetime.strptime(text, shape) if shape else datetime.fromisoformat(text)  # noqa: DTZ007
        except ValueError:
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    raise ValueError(f"this is no time that can be read: {text!r}")


def run(
    memories: Path, questions: Path, *, seed: int, advance: Callable[[int], object]
) -> ModeResult:
    """Store every group, recall its questions, and score the results."""
    corpus, questions_of = read(memories, questions)
    predictions: list[dict[str, object]] = []
    refused: list[str] = []
    for group, rows in corpus.items():
        with scratch_workspace() as workspace:
            now = max((row.time for row in rows if row.time), default=UNDATED) + timedelta(hours=1)
            names = store(workspace, rows, now=now, advance=advance)
            refused += not_stored(rows, names)
            embed_questions(workspace)  # no worker sees these rows
            refresh_statistics()
            for question in questions_of.get(group, ()):
                ranked = ask(workspace, question.question, names, now=now)
                predictions.append({"id": question.id, "ranked": ranked})
                advance(1)
    everything = [question for group in questions_of.values() for question in group]
    outcome = score(everything, predictions, seed=seed)
    return replace(outcome, details={**outcome.details, **losses(refused, corpus, questions_of)})


def not_stored(rows: Sequence[MemoryRow], names: Mapping[UUID, Sequence[str]]) -> list[str]:
    """Return the ids of the rows that the product refused: credentials and too long texts."""
    stored = {i for ids in names.values() for i in ids}
    return [row.id for row in rows if row.id not in stored]


def losses(
    refused: Sequence[str],
    corpus: Mapping[str, Sequence[MemoryRow]],
    questions_of: Mapping[str, Sequence[QuestionRow]],
) -> dict[str, list[str]]:
    """Return what no recall can find, where there is any: it lowers every figure.

    Refused memories by id, and ids of gold that no memory of the question's group has.
    """
    unknown = [
        i
        for group, questions in questions_of.items()
        for i in sorted(
            {i for question in questions if question.is_scored for i in question.gold}
            - {row.id for row in corpus[group]}
        )
    ]
    found = {"memories refused": list(refused), "gold that no memory has": unknown}
    return {name: ids for name, ids in found.items() if ids}


def read(
    memories: Path, questions: Path
) -> tuple[dict[str, list[MemoryRow]], dict[str, list[QuestionRow]]]:
    """Read both files by group; every question must belong to a group that has memories."""
    stored, question_rows = read_rows(memories, MemoryRow), read_rows(questions, QuestionRow)
    refuse_repeated_ids(memories, [row.id for row in stored])
    refuse_repeated_ids(questions, [row.id for row in question_rows])
    corpus: dict[str, list[MemoryRow]] = defaultdict(list)
    for row in stored:
        corpus[row.group].append(row)
    by_group: dict[str, list[QuestionRow]] = defaultdict(list)
    for question in question_rows:
        if question.group not in corpus:
            raise InputError(f"{questions.name}: {question.id} asks of a group without memories")
        by_group[question.group].append(question)
    return dict(corpus), dict(by_group)


def size(memories: Path, questions: Path) -> int:
    """Return the number of steps of `run`."""
    corpus, questions_of = read(memories, questions)
    return sum(map(len, corpus.values())) + sum(map(len, questions_of.values()))


def store(
    workspace: Workspace,
    rows: Sequence[MemoryRow],
    *,
    now: datetime,
    advance: Callable[[int], object],
) -> dict[UUID, list[str]]:
    """Commit a group's rows in order; return their ids by memory (equal texts share one)."""
    ordered = sorted(rows, key=lambda row: row.seq if row.seq is not None else 0)
    names: dict[UUID, list[str]] = defaultdict(list)
    for start in range(0, len(ordered), COMMITTED_AT_ONCE):
        batch = ordered[start : start + COMMITTED_AT_ONCE]
        # Turns of a session share its time; milliseconds keep their order.
        drafts = [
            Draft(
                content=row.stored_text,
                agent=row.speaker,
                session_key=f"{row.group}/{row.session}" if row.session else "",
                observed_at=(row.time or now) + timedelta(milliseconds=start + position),
            )
            for position, row in enumerate(batch)
        ]
        results = commit_rows(workspace, drafts, now=now, is_gated=False, is_detected=False)
        for row, result in zip(batch, results, strict=True):
            if result and result.memory:
                names[result.memory.id].append(row.id)
        advance(len(batch))
    return names


def ask(
    workspace: Workspace, question: str, names: Mapping[UUID, Sequence[str]], *, now: datetime
) -> list[str]:
    """Return the ids of the memories that recall finds, best first; record nothing."""
    answer = recall(
        workspace, Query(question, k=RANKED_MAX, min_score=None, is_recorded=False), now=now
    )
    return [i for result in answer.results for i in names[result.memory.id]][:RANKED_MAX]


def score(
    questions: Sequence[QuestionRow], predictions: Sequence[Mapping[str, object]], *, seed: int
) -> ModeResult:
    """Average over the questions that have an answer; `adversarial` ones are not scored."""
    ranked = {row["id"]: row["ranked"] for row in predictions}
    scored = [question for question in questions if question.is_scored]
    if not scored:
        raise InputError("no question has gold that could be found")
    values = {
        name: [measure(_ids(ranked[q.id]), frozenset(q.gold)) for q in scored]
        for name, measure in MEASURES.items()
    }
    return ModeResult(
        "retrieval",
        {
            name: Figure(bootstrap(found, rng=np.random.default_rng(seed)))
            for name, found in values.items()
        },
        predictions,
        {"questions asked": len(questions), "by category": _by_category(scored, values)},
    )


def _ids(ranked: object) -> list[str]:
    return [str(i) for i in ranked] if isinstance(ranked, list) else []


def _by_category(
    questions: Sequence[QuestionRow], values: Mapping[str, Sequence[float]]
) -> dict[str, dict[str, float]]:
    labels = sorted({q.label for q in questions})
    return {
        label: {"n": float(sum(q.label == label for q in questions))}
        | {
            name: float(
                np.mean([v for q, v in zip(questions, found, strict=True) if q.label == label])
            )
            for name, found in values.items()
            if name in {"recall@10", "ndcg@10"}
        }
        for label in labels
    }
