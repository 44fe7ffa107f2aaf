"""Find the waiting cards that ask which answer to a question holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Final
from uuid import UUID

from django.db.models import F, Q, QuerySet

from conflicts.models import ConflictMember
from conflicts.models.card import WAITING, ConflictKind
from engram.kernel.planning import Among
from memories.core.answer_values import compare_values, mentions
from memories.core.spelling import same_letters
from memories.models import MemoryAnswer
from memories.services.index.given_answers import given_answers, readable_at

# Cards that ask whether a statement still holds, whatever the others say about it.
_OF_ONE: Final = frozenset({ConflictKind.REVERSAL, ConflictKind.STALE})
_Given = Sequence[tuple[UUID, str]]  # memories with what they answer to one question
_Questions = Mapping[UUID, _Given]


def disputing_cards(
    groups: Collection[UUID] | None = None, *, now: datetime, as_of: datetime | None = None
) -> dict[UUID, list[UUID]]:
    """Return the waiting cards of disputed questions, by group; of all questions without `groups`.

    A card is about the questions that two of its members answer differently; if there is none,
    about those whose answer is at stake in it (`_is_at_stake`). With `as_of`, the cards that waited
    then, of questions that a member answered then.
    """
    cards = ConflictMember.objects.filter(_waiting(as_of))
    if groups is not None:
        asked = MemoryAnswer.objects.filter(question_group__in=list(groups))
        own = cards.filter(memory__in=asked.values("memory"))
        cards = cards.filter(conflict__in=own.values("conflict"))
    answers = _answers(cards.filter(memory__in=readable_at(now, as_of).order_by()))
    about = {
        card: [group for group, given in questions.items() if _differ(given)]
        for card, questions in answers.items()
    }
    agreed = {card: answers[card] for card, differing in about.items() if not differing}
    about |= _at_stake(agreed) if agreed else {}
    told = None if as_of is None else _told(cards, now, as_of)
    found: dict[UUID, list[UUID]] = defaultdict(list)
    for card, disputed in sorted(about.items()):
        for group in disputed:
            if (told is None or (card, group) in told) and (groups is None or group in groups):
                found[group].append(card)
    return dict(found)


def _answers(members: QuerySet[ConflictMember]) -> dict[UUID, _Questions]:
    """Return what the members answer, by card and question."""
    rows = members.exclude(memory__answers=None).order_by()
    found: dict[UUID, dict[UUID, list[tuple[UUID, str]]]] = defaultdict(lambda: defaultdict(list))
    names = ("conflict_id", "memory__answers__question_group", "memory_id")
    for card, group, memory, answer in rows.values_list(*names, "memory__answers__answer"):
        found[card][group].append((memory, answer))
    return {card: dict(questions) for card, questions in found.items()}


def _differ(given: _Given) -> bool:
    """Return whether two memories answer differently; that one says more makes no difference."""
    return any(
        memory != other and not _agree(answer, theirs)
        for (memory, answer), (other, theirs) in combinations(given, 2)
    )


def _agree(a: str, b: str) -> bool:
    return same_letters(a, b) or compare_values(a, b) == "same"


def _at_stake(agreed: Mapping[UUID, _Questions]) -> dict[UUID, list[UUID]]:
    """Return the questions whose answer is at stake in each card; one query."""
    rows = ConflictMember.objects.filter(Among(F("conflict_id"), agreed)).order_by()
    kind_of: dict[UUID, str] = {}
    texts: dict[UUID, dict[UUID, str]] = defaultdict(dict)
    names = ("conflict_id", "conflict__kind", "memory_id", "memory__content")
    for card, kind, memory, content in rows.values_list(*names):
        kind_of[card] = kind
        texts[card][memory] = content
    return {
        card: [
            group
            for group, given in questions.items()
            if _is_at_stake(given, texts[card], of_one=kind_of[card] in _OF_ONE)
        ]
        for card, questions in agreed.items()
        if card in texts
    }


def _is_at_stake(given: _Given, texts: Mapping[UUID, str], *, of_one: bool) -> bool:
    """Return whether a card may be about an answer that some of its members give, and agree on.

    A member that does not answer the question may speak against the answer, unless its text has
    the same; with `of_one` even then.
    """
    answering = {memory for memory, _ in given}
    silent = [text for memory, text in texts.items() if memory not in answering]
    if of_one:
        return bool(silent)
    return any(not any(mentions(text, answer) for _, answer in given) for text in silent)


def _told(
    cards: QuerySet[ConflictMember], now: datetime, as_of: datetime
) -> set[tuple[UUID, UUID]]:
    """Return the cards of these members with the questions that the members answered then."""
    given = cards.filter(memory__answers__in=given_answers(now, as_of)).order_by()
    return set(given.values_list("conflict_id", "memory__answers__question_group"))


def _waiting(as_of: datetime | None) -> Q:
    """Return the condition that a member's card waits for an answer, or waited at `as_of`."""
    waits = Q(conflict__status__in=WAITING)
    if as_of is None:
        return waits
    decided = Q(conflict__decisions__undone_at=None, conflict__decisions__decided_at__gt=as_of)
    lapsed = Q(conflict__is_lapsed=True, conflict__updated_at__gt=as_of)
    return Q(conflict__created_at__lte=as_of) & (waits | decided | lapsed)
