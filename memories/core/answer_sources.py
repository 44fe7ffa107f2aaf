"""Tell where the answers of a memory come from: its writers, a typed rule, or a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from memories.core.answers import MAX_ANSWERS, Answer, answers_digest
from memories.core.typed_answers import typed_answers

AnswerSource = Literal["written", "rule", "model"]
SOURCES: Final[tuple[AnswerSource, ...]] = ("written", "rule", "model")


def sources_of(
    answers: Sequence[Answer], content: str, *, model_digest: str = "", is_set: bool = False
) -> list[AnswerSource]:
    """Return the source of each answer of a memory, in order.

    `model_digest` is `answers_digest` of what a model wrote: answers that others add come after
    it. `is_set` says that a writer set all of them. What the rules read from the statement is
    theirs, also where its writer sent the same.
    """
    if is_set or not answers:
        return ["written"] * len(answers)
    by_model = _count_of_model(answers, model_digest)
    read = typed_answers(content)
    return [
        "model" if position < by_model else "rule" if answer in read else "written"
        for position, answer in enumerate(answers)
    ]


def _count_of_model(answers: Sequence[Answer], digest: str) -> int:
    """Return how many of the first answers are those with the digest."""
    if not digest:
        return 0
    counts = range(1, min(len(answers), MAX_ANSWERS) + 1)
    return next((n for n in counts if answers_digest(answers[:n]) == digest), 0)
