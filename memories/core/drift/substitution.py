"""Find edits of one place: all words of a supporting statement stay, and one value or degree goes.

Such an edit is made for what it says, however small the note is: of a note of one sentence all is
gone, so that the share of the note that changed tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from memories.core.answer_values import compare_values
from memories.core.drift.edits import Edit
from memories.core.drift.parts import values_of, words_of
from memories.core.drift.passages import Statement
from memories.core.drift.support import Scored, covered_by
from memories.core.lexicon import concept_of, opposites_of
from memories.core.vocabulary import IRREGULAR_PAST, lemma

_LEAST_KEPT: Final = 2  # words of the old statement
_WORD: Final = re.compile(r"\w+(?:[-.,:/_]\w+)*")
_LETTERS: Final = re.compile(r"\w+")
# "Alice", "Mara Lindt"; not "Customers", "Billing".
_PERSON: Final = re.compile(r"[A-Z][a-z]{2,20}(?<!s)(?<!ing)(?: [A-Z][a-z]{2,20}){0,2}")
# Words of which one stands against one of another row: all against some, must against may.
_DEGREES: Final = (
    (frozenset(["all", "every", "each", "always", "any"]),
     frozenset(["some", "most", "many", "few", "several", "half", "usually", "sometimes"])),
    (frozenset(["must", "required", "mandatory", "obligatory", "compulsory"]),
     frozenset(["may", "can", "could", "should", "optional", "voluntary", "recommended"])),
)  # fmt: skip
_PRESENT_OF_BE: Final = frozenset(["is", "are", "am"])
_PAST_OF_BE: Final = frozenset(["was", "were"])
_HARDLY: Final = frozenset(["almost", "nearly", "partly", "partially", "mostly", "half"])


class Place(NamedTuple):
    """What stood in the only place that was edited, and what stands there now, as written."""

    old: str
    new: str


def substitution(text: str, edit: Edit, present: Sequence[Scored]) -> str:
    """Return what an edit put in the place of what a memory says, "" where it did nothing else."""
    if (after := edit.replacement) is None:
        return ""
    if (place := edited_place(edit.before.text, after.text)) is None:
        return ""
    if degree := _other_degree(place):
        return degree
    if _is_past(place) or _is_other_name(text, edit.before.text, place):
        return f"{place.old} vs {place.new}"
    if not _is_about(text, edit.before.statement, place):
        return ""
    is_other = _is_opposite(text, place) or _is_other_value(
        text, edit.before.shared, after, place, present
    )
    return f"{place.old} vs {place.new}" if is_other else ""


def edited_place(old: str, new: str) -> Place | None:
    """Return the place in which two wordings differ, None where they differ in several."""
    left, right = list(_WORD.finditer(old)), list(_WORD.finditer(new))
    # "every member votes" and "most members vote" differ in one place.
    mine, theirs = ([word[0].lower().rstrip("s") for word in side] for side in (left, right))
    codes = SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    edits = [code for code in codes if code[0] != "equal"]
    if len(edits) != 1 or edits[0][3] == edits[0][4]:
        return None
    _, i1, i2, j1, j2 = edits[0]
    if len(left) - (i2 - i1) < _LEAST_KEPT:
        return None
    return Place(_between(old, left[i1:i2]), _between(new, right[j1:j2]))


def _between(text: str, words: Sequence[re.Match[str]]) -> str:
    return text[words[0].start() : words[-1].end()] if words else ""


def _other_degree(place: Place) -> str:
    """Return which words stand against each other: "all vs some", "must vs may"."""
    old, new = (set(_LETTERS.findall(side.lower())) for side in place)
    for row in _DEGREES:
        for one, other in (row, row[::-1]):
            if old & one and new & other and not old & other and not new & one:
                return f"{min(old & one)} vs {min(new & other)}"
    if not old and new <= _HARDLY:
        return f"it is only {place.new}"
    return ""


def _is_past(place: Place) -> bool:
    """Return whether a verb of the present became one of the past: "is" and "was"."""
    old, new = place.old.lower(), place.new.lower()
    if old in _PRESENT_OF_BE:
        return new in _PAST_OF_BE
    is_one = " " not in old + new and lemma(old) == lemma(new)
    return is_one and _is_of_past(new) and not _is_of_past(old)


def _is_of_past(word: str) -> bool:
    return word in IRREGULAR_PAST or word.endswith("ed")


def _is_other_name(text: str, before: str, place: Place) -> bool:
    """Return whether the subject of a statement is a name, and another name now.

    At the beginning of a sentence every word has a capital; a name is one without an article
    before a verb of the third person, and the memory has it.
    """
    if not before.startswith(place.old) or not _PERSON.fullmatch(place.old):
        return False
    if not _PERSON.fullmatch(place.new) or not lower_words(place.old) <= lower_words(text):
        return False
    return before[len(place.old) :].split()[:1] in (["is"], ["has"])


def _is_opposite(text: str, place: Place) -> bool:
    """Return whether a word that the memory has became its opposite: "off" and "on"."""
    old, new = place.old.lower(), place.new.lower()
    is_said = old in lower_words(text) and new not in lower_words(text)
    return is_said and concept_of(new) in opposites_of(concept_of(old))


def _is_about(text: str, before: Statement, place: Place) -> bool:
    """Return whether a memory shares more with a statement than the value that went.

    Of one that is nothing but the value its headings tell what it is about.
    """
    value, own = words_of(place.old).keys(), words_of(text).keys()
    rest = words_of(before.text).keys() - value or words_of(before.heading).keys()
    return not rest or not rest.isdisjoint(own - value)


def _is_other_value(
    text: str,
    shared: Mapping[str, str],
    after: Statement,
    place: Place,
    present: Sequence[Scored],
) -> bool:
    """Return whether a value that the memory states went, and another came in its place."""
    said = covered_by(present)
    gone, come, own = (lower_words(told) for told in (place.old, place.new, text))
    values = values_of(text)
    went = (key for key in values if key in shared and key not in said)
    if come <= own or all(gone.isdisjoint(lower_words(values[key])) for key in went):
        return False
    came = values_of(after.text).keys() - words_of(text).keys() - values.keys()
    return bool(came) and compare_values(place.old, place.new) != "same"


def lower_words(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return {word.lower() for word in _WORD.findall(text)}
