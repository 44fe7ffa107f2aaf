"""Whether two memories speak of two things: what keeps a card to one question.

Only clear signs count, because rules, models and people may know better:

- one sentence in which two places differ, one of them a name: "Tank of Etna holds 10 litres" and
  "Tank of Ural holds 20 litres" (where one place differs alone, it is what they disagree about);
- one noun with other names: "the tank of Etna", "the tank of Ural";
- one sentence that names nothing of its own, noted in two places: "The tank holds 10 litres" in
  `plant/etna` and in `plant/ural`;
- what scopes and texts name as members of one kind: `svc:billing`, "tenant Acme".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, Protocol, TypeVar

from conflicts.core.facts import Fact
from conflicts.core.rules import other_entity, other_member
from conflicts.core.statements import Statement, read
from conflicts.core.words import MEASURES, stems
from memories.core.alignment import kinds_of
from memories.core.cases import is_agent_slot, lay_out
from memories.core.claims import compare
from memories.core.lexicon import concept_of, is_product
from memories.core.reading import read_cached
from memories.core.statements import Term

MAX_CHARS: Final = 600  # of a text whose sentence is laid beside another
MAX_TOKENS: Final = 60
MIN_COMMON_SHARE: Final = 0.5
MAX_SLOTS: Final = 4
# Statements of one field stay above it in the built-in model, whatever they say of it.
MIN_RELATED_COSINE: Final = 0.15
_TOKEN: Final = re.compile(r"[^\W_][\w'’.:/-]{0,60}(?<![.:/'’-])|[^\W_]")
_DETERMINER: Final = re.compile(
    r"^\s*+(?:the|our|an?|all|each|every|this|these|its?|their)\b", re.IGNORECASE
)
_PART: Final = re.compile(r"[:/]")
_NO_TIME: Final = datetime.min.replace(tzinfo=UTC)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Note:
    """What a memory says and where it was noted."""

    content: str
    scope: str = ""
    project: str = ""


class Noted(Protocol):
    """A fact or a memory."""

    @property
    def content(self) -> str:
        """What it says."""

    @property
    def scope(self) -> str:
        """Its topic path."""

    @property
    def project(self) -> str:
        """Its project."""


def note_of(noted: Noted) -> Note:
    """Return what a fact or a memory says and where."""
    return Note(noted.content, noted.scope, noted.project)


IsOther = Callable[[Note, Note], bool]


def are_of_other_subjects(a: Note, b: Note) -> bool:
    """Tell whether two memories clearly speak of two things; symmetric.

    Of a text over MAX_CHARS nothing is compared: it is no sentence shape.
    """
    if max(len(a.content), len(b.content)) > MAX_CHARS:
        return False
    return _clearly_differ(a, b)


@lru_cache(maxsize=4096)  # of short texts only
def _clearly_differ(a: Note, b: Note) -> bool:
    return _name_other_things(a.content, b.content) or _are_of_other_places(a, b)


def share_nothing(a: Note, b: Note, cosine: float) -> bool:
    """Tell whether two memories have no word of substance in common and are far in meaning."""
    mine, theirs = (set(stems(note.content)) - MEASURES for note in (a, b))
    return mine.isdisjoint(theirs) and cosine < MIN_RELATED_COSINE


def by_subject(
    members: Sequence[T], note: Callable[[T], Note], *, is_other: IsOther = are_of_other_subjects
) -> list[list[T]]:
    """Group members by what they speak of, in their order.

    A member goes to the first group none of whose members clearly speaks of another thing.
    """
    groups: list[list[T]] = []
    for one in members:
        for group in groups:
            if not any(is_other(note(one), note(other)) for other in group):
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _name_other_things(a: str, b: str) -> bool:
    """Tell whether the texts themselves name two things."""
    if not (_is_short(a) and _is_short(b)):
        return False
    slots = _slots(a, b) or ()
    is_named = len(slots) > 1 and any(map(_are_names, slots))
    return (is_named or _qualify_one_noun(a, b)) and compare(a, b).relation == "different"


def _is_short(text: str) -> bool:
    """Tell whether a text is a sentence or two: a longer one is no sentence shape."""
    return len(text) <= MAX_CHARS and 0 < len(_TOKEN.findall(text)) <= MAX_TOKENS


@dataclass(frozen=True, slots=True)
class _Slot:
    """The words in one place of a sentence, as either text fills it."""

    mine: tuple[str, ...]
    theirs: tuple[str, ...]
    is_first: bool  # where a capital letter tells nothing


def _slots(a: str, b: str) -> list[_Slot] | None:
    """Return where two texts fill one sentence otherwise; None when they are two sentences."""
    mine, theirs = _TOKEN.findall(a), _TOKEN.findall(b)
    left, right = ([concept_of(word.lower()) for word in words] for words in (mine, theirs))
    if right < left:  # the matcher is not symmetric
        mine, theirs, left, right = theirs, mine, right, left
    steps = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    common = sum(end - start for step, start, end, _, _ in steps if step == "equal")
    if common < MIN_COMMON_SHARE * max(len(left), len(right)):
        return None
    slots = [
        _Slot(tuple(mine[i:j]), tuple(theirs[k:m]), is_first=i == 0)
        for step, i, j, k, m in steps
        if step == "replace"
        and not any(word in right for word in left[i:j])
        and not any(word in left for word in right[k:m])
    ]
    added = sum((j - i) + (m - k) for step, i, j, k, m in steps if step in {"insert", "delete"})
    return slots if len(slots) <= MAX_SLOTS and added <= 2 else None


def _are_names(slot: _Slot) -> bool:
    """Tell whether both sides name something, and no two members of one known kind."""
    if slot.is_first and len(slot.mine) != len(slot.theirs):
        return False
    return _is_name(slot.mine) and _is_name(slot.theirs) and not _share_kind(slot.mine, slot.theirs)


def _is_name(words: Sequence[str]) -> bool:
    return all(word[0].isupper() and concept_of(word.lower()) not in MEASURES for word in words)


def _share_kind(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Tell whether two words are of one kind, which a text chooses from: two databases."""
    left, right = (
        frozenset[str]().union(*(kinds_of(concept_of(word.lower())) for word in words))
        for words in (mine, theirs)
    )
    return not left.isdisjoint(right)


def _qualify_one_noun(a: str, b: str) -> bool:
    """Tell whether two claims give the noun of their subject other names: "tank of Etna"."""
    one, other = read_cached(a).claims, read_cached(b).claims
    if len(one) != 1 or len(other) != 1:
        return False
    case = lay_out(one[0], other[0])
    mine, theirs = _subject_names(case.left_a), _subject_names(case.left_b)
    shares_noun = any(
        pair.a.region == pair.b.region == "subject" and pair.a.weight == 1
        for pair in case.found.same
    )
    if not (mine and theirs and shares_noun) or is_agent_slot(case):
        return False
    return not _share_kind(mine, theirs)


def _subject_names(terms: Sequence[Term]) -> list[str]:
    return [term.text for term in terms if term.region == "subject" and term.kind == "name"]


def _are_of_other_places(a: Note, b: Note) -> bool:
    """Tell whether the memories speak of what is in two places, by what their scopes name."""
    one, other = (_statement(note) for note in (a, b))
    if other_entity(one, other) or other_member(one, other):
        return True
    if not _are_siblings(a, b) or not all(map(_is_short, (a.content, b.content))):
        return False
    if not (_is_bare(a.content) and _is_bare(b.content)):
        return False
    slots = _slots(a.content, b.content)
    return slots is not None and len(slots) <= 1


def _statement(note: Note) -> Statement:
    return read(Fact("", "", note.content, note.scope, note.project, "", "", _NO_TIME, ""))


def _are_siblings(a: Note, b: Note) -> bool:
    """Tell whether two places are two of a kind: scopes of one depth that differ in one part."""
    if a.project and b.project and a.project != b.project:
        return True
    mine, theirs = _PART.split(a.scope.lower()), _PART.split(b.scope.lower())
    if not a.scope or not b.scope or len(mine) != len(theirs):
        return False
    return [x == y for x, y in zip(mine, theirs, strict=True)].count(False) == 1


def _is_bare(text: str) -> bool:
    """Tell whether a text names nothing of its own, so that its place says what it is about."""
    found = read_cached(text).claims
    if len(found) != 1:
        return False
    subject = [term for term in found[0].terms if term.region == "subject"]
    if not subject or any(term.kind != "word" or is_product(term.key) for term in subject):
        return False
    # One word that opens a sentence may be a name: "Etna holds", but "Backups are", "The tank".
    return bool(_DETERMINER.match(text)) or len(subject) > 1 or subject[0].text.endswith("s")


def answering(
    members: Sequence[T],
    note: Callable[[T], Note],
    for_yes: Sequence[T],
    *,
    is_other: IsOther = are_of_other_subjects,
) -> list[T]:
    """Return the members that answer a card's question; what speaks of another thing does not.

    The question names the newest of ``for_yes`` and sets something against it. Two members are
    the question itself, and so is the newest other one where nothing else speaks of the named
    thing: whoever reported the two knows more than the rules.
    """
    if len(members) < 3:
        return list(members)
    named = for_yes[-1] if for_yes else members[-1]
    asked = _alike(members, note, named, is_other)
    if any(one not in for_yes and one is not named for one in asked):
        return asked
    against = [one for one in members if one not in for_yes and one is not named]
    beside = _alike(members, note, against[-1], is_other) if against else []
    return [one for one in members if one in asked or one in beside]


def _alike(members: Sequence[T], note: Callable[[T], Note], named: T, is_other: IsOther) -> list[T]:
    """Return the members that do not clearly speak of another thing than the one named."""
    mine = note(named)
    return [one for one in members if one is named or not is_other(note(one), mine)]
