"""Questions with and without an answer, by the kind of text that they are about.

Each group is a workspace: its memories, and questions with the memories that answer them. The
questions without an answer are those of other groups of the same kind, so that nothing but the
answer is missing: of other stories, of other sessions, of another conversation (with the names of
this one's speakers), of another set of passages.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from engram.console.evaluation.retrieval import MemoryRow, QuestionRow, read
from engram.kernel.embedding import embed_query

STORIES_TOGETHER = 5
SESSIONS_TOGETHER = 6
ALIKE, SAME = 0.65, 0.8  # cosine of two questions that may have one answer, and that surely do
RELEVANT = 0.5  # of a memory judged for a session
STRANGERS = 40  # questions without an answer in a group, at most

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `gold` is empty where no memory answers it, `unsure` may answer it as well."""

    text: str
    gold: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Group:
    """The memories of one workspace, and questions about them."""

    memories: Sequence[MemoryRow]
    questions: list[Question] = field(default_factory=list)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def story_groups(stories: Path, answers: Path, rng: random.Random) -> list[Group]:
    """Return groups of five stories, asked what their writers say that each fact answers."""
    questions: dict[str, list[str]] = defaultdict(list)
    for row in read_rows(answers):
        if row["file"] == stories.name:
            name = f"{row['story']}/{row['fact']}"
            questions[name] += [answer["q"] for answer in row["answers"]]
    rows = read_rows(stories)
    rng.shuffle(rows)
    facts = [
        [(f"{story['id']}/{fact['id']}", fact) for story in part for fact in story["facts"]]
        for part in batches(rows, STORIES_TOGETHER)
    ]
    vectors = {text: embed_query(text) for texts in questions.values() for text in texts}
    return [
        _story_group(part, [name for other in facts if other is not part for name, _ in other],
                     questions, vectors, rng)
        for part in facts
    ]  # fmt: skip


def _story_group(
    part: Sequence[tuple[str, Row]],
    foreign: Sequence[str],
    questions: dict[str, list[str]],
    vectors: dict[str, np.ndarray],
    rng: random.Random,
) -> Group:
    rows = [
        MemoryRow(id=name, conv="-", content=fact["content"], speaker="") for name, fact in part
    ]
    known = [(name, vectors[text]) for name, _ in part for text in questions[name]]
    owners, stored = [name for name, _ in known], np.stack([vector for _, vector in known])
    group = Group(rows)
    for name, _ in part:
        for text in questions[name][:2]:
            alike = np.flatnonzero(stored @ vectors[text] >= ALIKE)
            unsure = frozenset(owners[place] for place in alike) - {name}
            group.questions.append(Question(text, frozenset({name}), unsure))
    others = [text for name in foreign for text in questions[name][:1]]
    strange = [text for text in others if (stored @ vectors[text]).max() < SAME]
    group.questions.extend(map(Question, rng.sample(strange, min(STRANGERS, len(strange)))))
    return group


def session_groups(sessions: Path, rng: random.Random) -> list[Group]:
    """Return groups of six sessions' memories, asked the contexts of these and other sessions."""
    rows = read_rows(sessions)
    rng.shuffle(rows)
    groups = []
    for part in batches(rows, SESSIONS_TOGETHER):
        named = [
            (f"{session['id']}/{place}", session, memory)
            for session in part
            for place, memory in enumerate(session["memories"])
        ]
        group = Group([MemoryRow(id=name, conv="-", text=m["text"]) for name, _, m in named])
        for session in part:
            gold = {
                name
                for name, owner, memory in named
                if owner is session and memory["relevance"] >= RELEVANT
            }
            group.questions.append(Question(session["context"], frozenset(gold)))
        others = [session["context"] for session in rows if session not in part]
        group.questions.extend(map(Question, others))
        groups.append(group)
    return groups


def public_groups(memories: Path, questions: Path, rng: random.Random) -> list[Group]:
    """Return conversations or sets of passages, also asked the questions of the others."""
    corpus, asked = read(memories, questions)
    groups = []
    for name, rows in corpus.items():
        group = Group(rows)
        group.questions.extend(
            Question(one.question, frozenset(one.gold)) for one in asked[name] if one.is_scored
        )
        others = [
            _rename(one, corpus[other], rows)
            for other, some in asked.items()
            if other != name
            for one in some
            if one.is_scored
        ]
        strange = rng.sample(others, min(STRANGERS, len(others)))
        group.questions.extend(map(Question, strange))
        groups.append(group)
    return groups


def _rename(question: QuestionRow, of: Iterable[MemoryRow], to: Iterable[MemoryRow]) -> str:
    """Return a question with the speakers of one conversation replaced by those of another."""
    text = question.question
    speakers = (sorted({row.speaker for row in rows if row.speaker}) for rows in (of, to))
    for before, after in zip(*speakers, strict=False):
        text = re.sub(rf"\b{re.escape(before)}\b", after, text)
    return text


def batches(rows: Sequence[Any], most: int) -> list[Sequence[Any]]:
    """Return the rows in batches."""
    return [rows[start : start + most] for start in range(0, len(rows), most)]
