"""Compare what a memory says of a task with the box of its item.

An open item says what is to be done: it neither denies that this is still to do, nor says that it
is done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memories.core.claims import ClaimComparison
from memories.core.drift.parts import words_of
from memories.core.drift.passages import Statement
from memories.core.drift.support import Scored, Sentence, Support, standing
from memories.core.drift.task_boxes import Task
from memories.core.lexicon import concept_of
from memories.core.spelling import normalise
from memories.core.to_do import is_order, is_undone
from memories.core.tokeniser import tokenise

_OPEN: Final = re.compile(
    r"\b(?:still|yet|unfinished|outstanding|pending|to[ -]?do|due|remains?|missing|planned"
    r"|open (?:task|item|issue|point)s?|must|should|ought|will|(?:has|have|needs?|is|are) to)\b",
    re.IGNORECASE,
)
_DONE: Final = re.compile(
    r"\b(?:is|are|was|were|been|got|has|have|had)\b[^.;\n]{0,40}?"
    r"\b(?:\w{1,30}(?:ed|en)|done|paid|sent|bought|made|sold|built|set|put|cut|met|held|read)\b"
    r"|\b(?:done|finished|completed?|ready)\b",
    re.IGNORECASE,
)
_OF_TASKS: Final = re.compile(r"\b(?:task|to[ -]?do|done|finished|completed?)\b", re.IGNORECASE)
_LEAST_COMMON: Final = 0.5  # of an item's words, from which a memory may be about it
_OF_STATE: Final = frozenset(["negation", "denial", "opposites"])


@dataclass(frozen=True, slots=True)
class ChangedTask:
    """An item of a task list that a memory is about, as it was and as it is now."""

    before: Statement
    after: Statement

    @property
    def reason(self) -> str:
        """Return the reason for people."""
        return f"the task was {self.before.task}, and is {self.after.task} now"


def state_said(text: str) -> Task:
    """Return in which state a memory says that a task is, "" where it says nothing of it."""
    if _OPEN.search(text) or is_undone(text) or is_order(text):
        return "open"
    return "done" if _DONE.search(text) else ""


def changed_task(text: str, support: Support, present: Sequence[Scored]) -> ChangedTask | None:
    """Return the item that a memory is about of which the box was ticked or cleared against it."""
    said = state_said(text)
    for sentence in support.sentences:
        if sentence.task != said or not said or not _is_about(text, sentence):
            continue
        now = standing(sentence, (one.statement for one in present))
        if now and all(one.task not in (said, "") for one in now):
            return ChangedTask(sentence.statement, now[0])
    return None


def is_still_to_do(text: str, statement: Statement, found: ClaimComparison) -> bool:
    """Return whether an open task was found to contradict a memory that says it is not done."""
    is_of_state = found.contradiction in _OF_STATE
    return statement.task == "open" and is_of_state and state_said(text) == "open"


def _is_about(text: str, sentence: Sentence) -> bool:
    """Return whether a memory names what an item does, most of it, and not only its things."""
    item, own = words_of(sentence.text).keys(), words_of(text).keys()
    if not item & own or len(item & own) < _LEAST_COMMON * len(item):
        return False
    done = _concepts(sentence.text)[:1]
    return set(done) <= set(_concepts(text)) or _OF_TASKS.search(text) is not None


def _concepts(text: str) -> list[str]:
    return [concept_of(word.lower) for word in tokenise(normalise(text)) if word.kind == "word"]
