"""Find the wordings of one question: a new question that asks what a known one asks."""

from __future__ import annotations

from collections.abc import Collection

from conflicts.core.answers.index import AnswerIndex, StatedAnswer
from conflicts.core.timeline import Timeline


def find_wordings(timeline: Timeline, index: AnswerIndex, fresh: Collection[int]) -> dict[str, str]:
    """Return for each question of the ``fresh`` facts the known one that it is a wording of.

    Both by identity. A question that was asked before, or that matches none strictly, is its own.
    Of several matches the nearest counts, of equally near ones the oldest.
    """
    first: dict[str, int] = {}
    for position, fact in enumerate(timeline.facts):
        for answer in fact.answers:
            first.setdefault(answer.identity, position)
    wordings: dict[str, str] = {}
    for position in sorted(fresh):
        for answer in timeline.facts[position].answers:
            identity = answer.identity
            if identity not in wordings:
                is_new = first[identity] == position
                asked = StatedAnswer(position, answer)
                known = _find_known(index, asked, fresh) if is_new else None
                wordings[identity] = wordings.get(known, known) if known else identity
    return wordings


def _find_known(index: AnswerIndex, asked: StatedAnswer, fresh: Collection[int]) -> str | None:
    """Return the identity of the nearest question that surely is the same one, if it is known."""
    known = [
        (-index.cosine(asked.answer, other.answer), other.position, other.answer.identity)
        for other in index.same_question(asked)
        if (other.position < asked.position or other.position not in fresh)
        and other.position != asked.position
        and index.are_one(asked, other)
    ]
    return min(known)[-1] if known else None
