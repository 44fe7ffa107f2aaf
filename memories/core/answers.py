"""What a memory answers: plain questions of its writer, each with the answer.

Two questions are the same one when they differ only in what `letters()` removes and in closing
question marks. Stored identities are hashes of that; a change of it needs a migration.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Self
from uuid import UUID

from memories.core.content import content_hash
from memories.core.spelling import same_letters, without_invisible

MAX_ANSWERS = 3  # that a caller may send
MAX_KEPT = 12  # that a memory keeps, with those of repetitions and merged statements
QUESTION_MAX_CHARS = 300
_KEPT = 8192  # hashes
ANSWER_MAX_CHARS = 500

_WORD = re.compile(r"\w+")
# Question marks of scripts in use, and the marks that `letters()` removes at the end.
_CLOSING = " ?\uff1f\u061f\u037e\u2e2e\u055e\u1367.!,;:\u2026\u3002\uff01"


@dataclass(frozen=True, slots=True)
class Answer:
    """One question that a memory answers; `was` is the earlier answer if the memory names it."""

    question: str
    answer: str
    was: str | None = None

    @property
    def identity(self) -> str:
        """Return the hash that all spellings of this question share."""
        return question_hash(self.question)

    def as_record(self) -> dict[str, Any]:
        """Return the fields, JSON serialisable; `from_record` reads them back."""
        return {"question": self.question, "answer": self.answer, "was": self.was}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the answer that `as_record` wrote."""
        return cls(record["question"], record["answer"], record.get("was"))


@lru_cache(maxsize=_KEPT)  # a detection run asks for those of a whole story
def question_hash(question: str) -> str:
    """Return the identity of a question: the SHA-256 hex digest of what is asked."""
    return content_hash(_asked(question))


def first_group(workspace: UUID, identity: str) -> UUID:
    """Return the group of a question until it joins that of another wording.

    Equal wordings of a workspace share it without a look-up. A change needs a migration.
    """
    return UUID(sha256(f"{workspace}:{identity}".encode()).hexdigest()[:32])


def _asked(text: str) -> str:
    """Return a text in one line, without closing marks, if more remains than marks."""
    line = " ".join(without_invisible(text).split())
    return line.rstrip(_CLOSING) or line


def is_answer_to_itself(answer: Answer) -> bool:
    """Return whether the answer, or the earlier answer, repeats the question."""
    asked = _asked(answer.question)
    return any(same_letters(asked, _asked(text)) for text in (answer.answer, answer.was or ""))


def is_unchanged(answer: Answer) -> bool:
    """Return whether the earlier answer and the present one are the same."""
    return answer.was is not None and same_letters(answer.was, answer.answer)


def find_contradiction(answers: Sequence[Answer]) -> tuple[int, int] | None:
    """Return the positions of two answers to one question that differ, or None."""
    first: dict[str, int] = {}
    for position, answer in enumerate(answers):
        known = first.setdefault(answer.identity, position)
        if not _agree(answers[known], answer):
            return known, position
    return None


def _agree(a: Answer, b: Answer) -> bool:
    return same_letters(a.answer, b.answer) and same_letters(a.was or "", b.was or "")


def unite(own: Iterable[Answer], others: Iterable[Answer]) -> tuple[Answer, ...]:
    """Return one answer a question: the `own` ones, then what only `others` answer, to MAX_KEPT."""
    kept: dict[str, Answer] = {}
    for answer in (*own, *others):
        kept.setdefault(answer.identity, answer)
    return tuple(kept.values())[:MAX_KEPT]


def carry_over(
    answers: Sequence[Answer], before: Sequence[Answer], after: Sequence[Answer]
) -> tuple[tuple[Answer, ...], bool]:
    """Return `answers` with the changes from `before` to `after`, question by question.

    The flag says that a changed question had another answer than in `before`, so that the change
    could not be separated from it.
    """
    kept, was, now = ({one.identity: one for one in some} for some in (answers, before, after))
    is_mixed = False
    for identity in {**was, **now}:
        if was.get(identity) == now.get(identity):
            continue
        is_mixed |= kept.get(identity) != was.get(identity)
        if identity in now:
            kept[identity] = now[identity]
        else:
            kept.pop(identity, None)
    return tuple(kept.values()), is_mixed


def from_records(records: Iterable[Mapping[str, Any]]) -> tuple[Answer, ...]:
    """Return stored records as answers."""
    return tuple(Answer.from_record(record) for record in records)


def as_records(answers: Iterable[Answer]) -> list[dict[str, Any]]:
    """Return answers, JSON serialisable."""
    return [answer.as_record() for answer in answers]


def answers_digest(answers: Iterable[Answer]) -> str:
    """Return a hash by which a memory's answers are recognised as those that a model wrote."""
    return hashlib.sha256(json.dumps(as_records(answers)).encode()).hexdigest()


def still_told(answers: Iterable[Answer], content: str) -> tuple[Answer, ...]:
    """Return the answers of an earlier wording that a new one still has, word by word."""
    words = set(_WORD.findall(content.casefold()))
    return tuple(
        answer for answer in answers if words.issuperset(_WORD.findall(answer.answer.casefold()))
    )
