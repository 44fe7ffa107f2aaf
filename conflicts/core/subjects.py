"""Decide whether two memories have different subjects, so that a card has one subject.

Only clear signs count; without one the texts may have the same subject:

- one sentence in which two places differ, one of them a name: "Tank of Etna holds 10 litres" and
  "Tank of Ural holds 20 litres" (when one place differs, it is the contradicted value);
- one noun with other names: "the tank of Etna", "the tank of Ural";
- one sentence without a name, noted in two places: "The tank holds 10 litres" in `plant/etna` and
  in `plant/ural`;
- different members of one kind in scopes and texts: `svc:billing`, "tenant Acme";
- values of two things or attributes: "The mother of X is …", "X died in …".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import combinations
from typing import Final, Protocol, TypeVar

from conflicts.core.comparable import other_entity, other_member
from conflicts.core.facts import Fact
from conflicts.core.labels import is_sentence, name_other_things, slots_of
from conflicts.core.statements import Statement, read
from memories.core.answer_values import compare_values, is_measured
from memories.core.lexicon import is_product
from memories.core.reading import read_cached
from memories.core.slot_comparison import align, are_other_slots
from memories.core.slots import slot_of
from memories.core.topic_words import MEASURES, stems

MAX_CHARS: Final = 600  # of a text whose sentence is laid beside another
# Statements of one field stay above it in the built-in model, whatever they say of it.
MIN_RELATED_COSINE: Final = 0.15
_DETERMINER: Final = re.compile(
    r"^\s*+(?:the|our|an?|all|each|every|this|these|its?|their)\b", re.IGNORECASE
)
_PART: Final = re.compile(r"[:/]")
_NO_TIME: Final = datetime.min.replace(tzinfo=UTC)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LocatedText:
    """A memory's text, scope and project, and what it answers to a question that is asked here."""

    content: str
    scope: str = ""
    project: str = ""
    answer: str = ""


class Noted(Protocol):
    """Protocol of facts and memories."""

    @property
    def content(self) -> str:
        """Return the text."""

    @property
    def scope(self) -> str:
        """Return the scope."""

    @property
    def project(self) -> str:
        """Return the project."""


def note_of(noted: Noted) -> LocatedText:
    """Return the text, scope and project of a fact or a memory."""
    return LocatedText(noted.content, noted.scope, noted.project)


IsOther = Callable[[LocatedText, LocatedText], bool]


def are_of_other_subjects(a: LocatedText, b: LocatedText) -> bool:
    """Return whether two memories clearly have different subjects; symmetric.

    Texts over MAX_CHARS are not compared. Memories that answer a question alike have one subject;
    of others the words of the answer name none: "*Otto* locks the rink", "*Ines* locks it".
    """
    if max(len(a.content), len(b.content)) > MAX_CHARS:
        return False
    if a.answer and b.answer and compare_values(a.answer, b.answer) == "same":
        return False
    return _clearly_differ(_without_answer(a), _without_answer(b))


@lru_cache(maxsize=2048)  # of the many pairs that one memory is in
def _without_answer(note: LocatedText) -> LocatedText:
    """Return a memory without the words of its answer; an amount is no subject and stays."""
    if not note.answer or is_measured(note.answer):
        return replace(note, answer="")
    told = frozenset(stems(note.answer))
    rest = (word for word in note.content.split() if told.isdisjoint(stems(word)))
    return replace(note, content=" ".join(rest), answer="")


@lru_cache(maxsize=4096)  # of short texts only
def _clearly_differ(a: LocatedText, b: LocatedText) -> bool:
    return (
        _fill_other_slots(a.content, b.content)
        or _name_other_things(a.content, b.content)
        or _are_of_other_places(a, b)
    )


def _fill_other_slots(a: str, b: str) -> bool:
    """Return whether the texts give values to two things, or to two attributes of a thing."""
    left, right = slot_of(a), slot_of(b)
    return left is not None and right is not None and are_other_slots(*align(left, right))


def are_of_one_subject(facts: Iterable[Noted]) -> bool:
    """Return whether no two facts clearly have different subjects."""
    notes = map(note_of, facts)
    return not any(are_of_other_subjects(a, b) for a, b in combinations(notes, 2))


def share_nothing(a: LocatedText, b: LocatedText, cosine: float) -> bool:
    """Return whether two memories have no significant word in common and a low cosine."""
    mine, theirs = (set(stems(note.content)) - MEASURES for note in (a, b))
    return mine.isdisjoint(theirs) and cosine < MIN_RELATED_COSINE


def group_by_subject(
    members: Sequence[T],
    note: Callable[[T], LocatedText],
    *,
    is_other: IsOther = are_of_other_subjects,
) -> list[list[T]]:
    """Group members by subject, in their order.

    Two members are in one group when the same other members have clearly different subjects from
    both: "Etna: 10" and "Ural: 10" may be one subject, but "Ural: 20" differs only from the first
    of them. A member that fits several groups forms one by itself.
    """
    groups: dict[frozenset[int], list[T]] = {}
    for one, others in zip(members, _others(members, note, is_other), strict=True):
        groups.setdefault(others, []).append(one)
    return list(groups.values())


def _others(
    members: Sequence[T], note: Callable[[T], LocatedText], is_other: IsOther
) -> list[frozenset[int]]:
    """Return for each member the positions of those with a clearly different subject."""
    found: list[set[int]] = [set() for _ in members]
    for (i, one), (j, other) in combinations(enumerate(members), 2):
        if is_other(note(one), note(other)):
            found[i].add(j)
            found[j].add(i)
    return [frozenset(others) for others in found]


def _name_other_things(a: str, b: str) -> bool:
    """Return whether the texts name two different things."""
    return _is_short(a) and _is_short(b) and name_other_things(a, b)


def _is_short(text: str) -> bool:
    """Return whether a text has at most the length of a sentence or two."""
    return len(text) <= MAX_CHARS and is_sentence(text)


def _are_of_other_places(a: LocatedText, b: LocatedText) -> bool:
    """Return whether the scopes of the memories name two different things."""
    one, other = (_statement(note) for note in (a, b))
    if other_entity(one, other) or other_member(one, other):
        return True
    if not _are_siblings(a, b) or not all(map(_is_short, (a.content, b.content))):
        return False
    if not (_is_bare(a.content) and _is_bare(b.content)):
        return False
    slots = slots_of(a.content, b.content)
    return slots is not None and len(slots) <= 1


def _statement(note: LocatedText) -> Statement:
    return read(Fact("", "", note.content, note.scope, note.project, "", "", _NO_TIME, ""))


def _are_siblings(a: LocatedText, b: LocatedText) -> bool:
    """Return whether two scopes have the same depth and differ in one part."""
    if a.project and b.project and a.project != b.project:
        return True
    mine, theirs = _PART.split(a.scope.lower()), _PART.split(b.scope.lower())
    if not a.scope or not b.scope or len(mine) != len(theirs):
        return False
    return [x == y for x, y in zip(mine, theirs, strict=True)].count(False) == 1


def _is_bare(text: str) -> bool:
    """Return whether a text contains no name, so that only its scope names the subject."""
    found = read_cached(text).claims
    if len(found) != 1:
        return False
    subject = [term for term in found[0].terms if term.region == "subject"]
    if not subject or any(term.kind != "word" or is_product(term.key) for term in subject):
        return False
    # One word that opens a sentence may be a name: "Etna holds", but "Backups are", "The tank".
    return bool(_DETERMINER.match(text)) or len(subject) > 1 or subject[0].text.endswith("s")


def select_answering(
    members: Sequence[T],
    note: Callable[[T], LocatedText],
    for_yes: Sequence[T],
    *,
    is_other: IsOther = are_of_other_subjects,
) -> list[T]:
    """Return the members about the subject of a card's question.

    The question names the newest of ``for_yes`` and one other claim. These two always belong to it:
    the newest other member also when no other member has the named subject, because the reporter
    knows more than the rules.
    """
    if len(members) < 3:
        return list(members)
    groups = group_by_subject(members, note, is_other=is_other)
    named = for_yes[-1] if for_yes else members[-1]
    named_group = _group_of(named, groups)
    if any(one not in for_yes and one is not named for one in named_group):
        return named_group
    against = [one for one in members if one not in for_yes and one is not named]
    other_group = _group_of(against[-1], groups) if against else []
    return [one for one in members if one in named_group or one in other_group]


def _group_of(named: T, groups: Sequence[list[T]]) -> list[T]:
    return next(group for group in groups if any(one is named for one in group))
