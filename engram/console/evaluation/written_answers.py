"""Read what the writers of a story file's facts say that these answer: `--answers ANSWERS`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import Field

from engram.console.evaluation.lines import InputError, InputRow, read_rows
from memories.core.answers import ANSWER_MAX_CHARS, MAX_ANSWERS, QUESTION_MAX_CHARS, Answer

FactKey = tuple[str, str]  # ids of story and fact
FactAnswers = Mapping[FactKey, tuple[Answer, ...]]

NO_ANSWERS: Final[FactAnswers] = {}


class AnswerRow(InputRow):
    """A question with its answer, and the answer before, if it changed."""

    q: str = Field(min_length=1, max_length=QUESTION_MAX_CHARS)
    a: str = Field(min_length=1, max_length=ANSWER_MAX_CHARS)
    was: str | None = Field(default=None, max_length=ANSWER_MAX_CHARS)


class FactAnswersRow(InputRow):
    """The answers of one fact; `file` is the name of its story file, if the rows are of several."""

    story: str
    fact: str
    file: str = ""
    answers: tuple[AnswerRow, ...] = Field(max_length=MAX_ANSWERS)


def read_answers(path: Path, stories: Path) -> FactAnswers:
    """Return the answers of the facts of a story file, in the order of the file.

    Rows of other story files are left out; rows that name none count for any.

    Raises
    ------
    InputError
        When a row cannot be read, or none is about the story file.
    """
    rows = read_rows(path, FactAnswersRow)
    own = [row for row in rows if row.file in ("", stories.name)]
    if not own:
        raise InputError(f"{path.name} has no answers for the facts of {stories.name}")
    return {
        (row.story, row.fact): tuple(Answer(one.q, one.a, one.was or None) for one in row.answers)
        for row in own
    }
