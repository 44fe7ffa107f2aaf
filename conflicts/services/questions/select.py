"""Select the questions that a workspace can answer: filtered, each by its newest answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db.models import F, Q, QuerySet

from conflicts.services.questions.disputing import disputing_cards
from conflicts.services.questions.newest import find_newest
from engram.kernel.planning import by_index, without_nested_loops
from memories.models import Memory, MemoryAnswer
from memories.models.memory import in_scope
from memories.services.index.given_answers import given_answers

WORDS_MAX = 12
TEXT_MAX_CHARS = 200
AS_OF_MEANING = (
    "What was known then, as far as it reads the same now: memories that were reworded or moved"
    " since, answers that were given since, and what was forgotten are left out."
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters of questions; empty means any.

    `text` is words that a question and one of its answers must have, with what that answer
    replaced; `scope` is that of an answer.
    """

    text: str = ""
    scope: str = ""
    is_disputed: bool | None = None
    as_of: datetime | None = None


def refuse_many_words(text: str) -> None:
    """Refuse a search for more words than are looked for."""
    if len(text.split()) > WORDS_MAX:
        raise ValidationError(f"Search for at most {WORDS_MAX} words.")


def select_questions(wanted: Wanted, *, now: datetime) -> QuerySet[MemoryAnswer]:
    """Return the newest answer to each matching question, with the time it was `observed_at`."""
    given = given_answers(now, wanted.as_of)
    newest = given.filter(_matching(given, wanted, now))
    newest = newest.order_by("question_group", "-memory__observed_at", "-pk")
    newest = newest.distinct("question_group")
    return _in_order(MemoryAnswer.objects.filter(pk__in=newest.values("pk")))


def select_first(wanted: Wanted, count: int, *, now: datetime) -> QuerySet[MemoryAnswer] | None:
    """Return at least the first `count` rows of `select_questions` from the newest memories.

    None where filters, or few answers among them, need all answers to be read.
    """
    if wanted != Wanted() or (newest := find_newest(count, now=now)) is None:
        return None
    return _in_order(MemoryAnswer.objects.filter(pk__in=newest))


@contextmanager
def first_or_all(wanted: Wanted, count: int, *, now: datetime) -> Iterator[QuerySet[MemoryAnswer]]:
    """Provide the rows of `select_questions`, or only the first; to be read within the block.

    Only the first `count` are needed; 0: any may be.
    """
    first = select_first(wanted, count, now=now) if count else None
    if first is not None:
        with by_index():
            yield first
    else:
        with without_nested_loops():
            yield select_questions(wanted, now=now)


def _in_order(rows: QuerySet[MemoryAnswer]) -> QuerySet[MemoryAnswer]:
    rows = rows.annotate(observed_at=F("memory__observed_at"))
    return rows.defer("embedding").order_by("-observed_at", "-pk")


def _matching(given: QuerySet[MemoryAnswer], wanted: Wanted, now: datetime) -> Q:
    """Return the condition of an answer's question."""
    matching = Q()
    if words := wanted.text.split()[:WORDS_MAX]:
        matching &= _asked_in(given.filter(*map(_has, words)))
    if scope := wanted.scope.strip("/"):
        inside = Memory.objects.filter(in_scope(scope)).order_by()
        matching &= _asked_in(given.filter(memory__in=inside))
    if wanted.is_disputed is not None:
        disputed = Q(question_group__in=list(disputing_cards(now=now, as_of=wanted.as_of)))
        matching &= disputed if wanted.is_disputed else ~disputed
    return matching


def _has(word: str) -> Q:
    told = Q(answer__icontains=word) | Q(was__icontains=word)
    return Q(question__icontains=word) | told


def _asked_in(answers: QuerySet[MemoryAnswer]) -> Q:
    """Return the condition that an answer's question is that of one of the answers."""
    return Q(question_group__in=answers.values("question_group"))
