"""Tell where the answers of memories come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from memories.core.answer_sources import AnswerSource, sources_of
from memories.core.answers import Answer
from memories.models import AskedAnswers

Told = tuple[str, str, Sequence[Answer]]  # a memory, its statement, its answers in order


def find_sources(told: Iterable[Told]) -> dict[tuple[str, str], AnswerSource]:
    """Return the source of each answer, by memory and question; one query."""
    read = list(told)
    rows = AskedAnswers.objects.filter(memory__in={UUID(memory) for memory, _, _ in read})
    asked = {
        str(memory): (answers, content == "")
        for memory, answers, content in rows.values_list(
            "memory_id", "answers_hash", "content_hash"
        )
    }
    found: dict[tuple[str, str], AnswerSource] = {}
    for memory, content, answers in read:  # a repetition comes later, without earlier answers
        digest, is_set = asked.get(memory, ("", False))
        sources = sources_of(answers, content, model_digest=digest, is_set=is_set)
        for answer, source in zip(answers, sources, strict=True):
            found.setdefault((memory, answer.identity), source)
    return found
