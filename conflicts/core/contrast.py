"""Name what two statements say differently, in their own words: "9:30" and "10:00".

For people only: nothing is decided by it. Where no short difference stands out there is none, and
callers quote the statements instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final

from conflicts.core.left_values import left_and_stated, place_in
from memories.core.cases import build_case
from memories.core.claim_types import VALUE_KINDS, Term
from memories.core.claims import compare
from memories.core.quoting import in_one_line
from memories.core.reading import read_cached

MAX_CHARS: Final = 400  # of a statement; longer ones are not compared here
MAX_VALUE_CHARS: Final = 40
MAX_VALUE_WORDS: Final = 5
MAX_WORDS_UNCOUNTED: Final = 3  # of values without a digit: longer ones are phrases
MAX_HEADING_CHARS: Final = 90
MIN_COMMON_SHARE: Final = 0.5
_WORD: Final = re.compile(r"[^\s“”\"()\[\]]{0,80}[^\s“”\"()\[\].,;:!?]")
_DENIES: Final = re.compile(r"(?:not|never|no|none|nothing|without|but|cannot|\w{1,20}n['’]t)\Z")
_REST: Final = re.compile(r"[.;:!?](?=\s|\Z)|,")
_NEXT_WORD: Final = re.compile(r"\s([A-Za-z][A-Za-z-]{1,40})(?![\w-])")
MAX_WORDS_TO_NOUN: Final = 3  # behind a count: "8 new public benches"
_COUNTED: Final = re.compile(r"[A-Za-z-]{0,40}[a-rt-z]s|people|men|women|children")
_PEOPLE: Final = frozenset({"people", "men", "women", "children"})  # no terms of the reading


@dataclass(frozen=True, slots=True)
class Contrast:
    """What an older and a newer statement say differently.

    `older` and `newer` are the words of each; `at` is where `newer` stands in the newer text, and
    `older_at` where `older` stands in the older one (both with single spaces).
    `older_name` and `newer_name` say the values by themselves, with their units. `newer_changes`
    tells that the newer text announces its value as a change, so that the older one is the plainer.
    """

    older: str
    newer: str
    at: tuple[int, int]
    older_at: tuple[int, int]
    older_name: str = ""
    newer_name: str = ""
    newer_changes: bool = False


def contrast_of(older: str, newer: str) -> Contrast | None:
    """Return the words in which two statements differ; None if that is not a short value each.

    What one text says was left for something else, and the other one states, comes first; then one
    place where one sentence is filled otherwise, a value of one kind that each text gives once, and
    what claim comparison finds.
    """
    older, newer = in_one_line(older), in_one_line(newer)
    if max(len(older), len(newer)) > MAX_CHARS or older.casefold() == newer.casefold():
        return None
    ways = (_by_change, _in_one_frame, _by_values, _by_claims)
    found = next((one for way in ways if (one := way(older, newer))), None)
    if found is None or not _stand_alone(found.older, found.newer):
        return None
    return replace(
        found,
        older_name=_name(found.older, older, found.older_at[1]),
        newer_name=_name(found.newer, newer, found.at[1]),
    )


def _stand_alone(one: str, other: str) -> bool:
    """Return whether two phrases name two values: "does not contain" names none."""
    a, b = (phrase.casefold().split() for phrase in (one, other))
    if max(len(one), len(other)) > MAX_VALUE_CHARS or any(map(_DENIES.match, (*a, *b))):
        return False
    if max(len(a), len(b)) > MAX_WORDS_UNCOUNTED and not any(map(str.isdigit, one + other)):
        return False
    return not (set(a) <= set(b) or set(b) <= set(a))


def _name(value: str, text: str, end: int) -> str:
    """Return a value with what the text says it is of: "06:00 UTC", "6 benches"."""
    wider = _with_unit(value, text)
    counted = _with_noun(value, text, end) if wider == value else wider
    return counted if len(counted) <= MAX_VALUE_CHARS else value


def _with_noun(value: str, text: str, end: int) -> str:
    """Return a value that ends in a bare count with the noun that follows it in the text."""
    claims = read_cached(text).claims
    terms = [term for claim in claims for term in claim.terms]
    counts = {t.text for t in terms if t.quantity and t.quantity.unit == "count"}
    if not counts & set(value.split()) or _COUNTED.fullmatch(value.rsplit(maxsplit=1)[-1]):
        return value
    named = {term.written for term in terms if term.kind == "word" and not term.is_verb}
    place = end
    for _ in range(MAX_WORDS_TO_NOUN):
        word = _NEXT_WORD.match(text, place)
        if word is None:
            return value
        place = word.end()
        if _COUNTED.fullmatch(word[1]) and word[1] in named | _PEOPLE:
            return value + text[end:place]
        if word[1] not in named:
            return value
    return value


def _with_unit(value: str, text: str) -> str:
    """Return a value with what it counts or numbers: "5 mg", "06:00 UTC", "room 4"."""
    written = (
        term.text
        if term.text.endswith(f" {value}")
        else term.text[f" {term.text} ".index(f" {value} ") :]
        for term in _values(text)
        if f" {value} " in f" {term.text} "
    )
    wider = next((words for words in written if words in text and words != value), value)
    return wider if len(wider) <= MAX_VALUE_CHARS else value


def head_of(older: str, newer: str) -> str:
    """Return a short question about two statements, "" if they have no contrast or it is long.

    It is the newer statement up to where they differ, with both values: "Stand-up starts at 9:30 or
    10:00?" It is the older one where the newer one announces a change.
    """
    found = contrast_of(older, newer)
    if found is None:
        return ""
    text = in_one_line(older if found.newer_changes else newer)
    start, end = found.older_at if found.newer_changes else found.at
    rest = text[end:]
    either = _either(found.older, found.newer)
    if len(text) + len(found.older) > MAX_HEADING_CHARS and (stop := _REST.search(rest)):
        rest = rest[: stop.start()]
    heading = f"{text[:start]}{either}{rest.rstrip(' .!?;:,')}?"
    heading = heading[:1].upper() + heading[1:]
    if len(heading) > MAX_HEADING_CHARS:
        heading = f"{text[:start]}{either}?"
    return heading if len(heading) <= MAX_HEADING_CHARS else ""


def _either(older: str, newer: str) -> str:
    """Return both values, with a unit of both said once: "28 or 30 days"."""
    one, other = older.split(), newer.split()
    if len(one) > 1 and one[1:] == other[1:]:
        return f"{one[0]} or {newer}"
    return f"{older} or {newer}"


def _by_change(older: str, newer: str) -> Contrast | None:
    """Compare a value that one text says was left, and the other one states, with the new one."""
    if found := left_and_stated(older, newer):
        at, stated_at = found
        return Contrast(older[slice(*at)], newer[slice(*stated_at)], stated_at, at)
    if found := left_and_stated(newer, older):
        at, stated_at = found
        return Contrast(
            older[slice(*stated_at)], newer[slice(*at)], at, stated_at, newer_changes=True
        )
    return None


def _in_one_frame(older: str, newer: str) -> Contrast | None:
    """Compare two wordings of one sentence: from the first to the last word that differs."""
    left, right = (list(_WORD.finditer(text)) for text in (older, newer))
    a, b = ([word[0].casefold() for word in words] for words in (left, right))
    steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    same = sum(i2 - i1 for step, i1, i2, _, _ in steps if step == "equal")
    changed = [step for step in steps if step[0] != "equal"]
    if not changed or same < MIN_COMMON_SHARE * max(len(a), len(b)):
        return None
    i1, i2, j1, j2 = changed[0][1], changed[-1][2], changed[0][3], changed[-1][4]
    while (i1 == i2 or j1 == j2) and i1 and j1:  # "is on" and "is not on"
        i1, j1 = i1 - 1, j1 - 1
    if not 0 < i2 - i1 <= MAX_VALUE_WORDS or not 0 < j2 - j1 <= MAX_VALUE_WORDS:
        return None
    at = right[j1].start(), right[j2 - 1].end()
    older_at = left[i1].start(), left[i2 - 1].end()
    return Contrast(older[slice(*older_at)], newer[slice(*at)], at, older_at)


def _by_values(older: str, newer: str) -> Contrast | None:
    """Compare the values of one kind of which each text gives one that the other does not give."""
    mine, theirs = list(_values(older)), list(_values(newer))
    known = {term.key for term in mine} & {term.key for term in theirs}
    pairs = [
        (one, other)
        for one in mine
        for other in theirs
        if _dimension(one) == _dimension(other) and not known & {one.key, other.key}
    ]
    return _placed(older, newer, *pairs[0]) if len(pairs) == 1 else None


def _values(text: str) -> Iterator[Term]:
    for claim in read_cached(text).claims:
        yield from (term for term in claim.terms if term.kind in VALUE_KINDS)


def _dimension(term: Term) -> tuple[str, str]:
    quantity = term.quantity
    return term.kind, f"{quantity.unit} {quantity.noun}" if quantity else ""


def _by_claims(older: str, newer: str) -> Contrast | None:
    """Take what claim comparison says excludes each other."""
    found = compare(older, newer)
    if found.relation != "contradicts" or found.pair is None:
        return None
    one, other = read_cached(older).claims[found.pair[0]], read_cached(newer).claims[found.pair[1]]
    case = build_case(one, other)
    pairs = [*case.found.clashes, *case.found.opposed]
    return _placed(older, newer, pairs[0].a, pairs[0].b) if pairs else None


def _placed(older: str, newer: str, one: Term, other: Term) -> Contrast | None:
    """Return the contrast of two terms, as they stand in the texts; None if they do not."""
    if one.written not in older or newer.count(other.written) != 1:
        return None
    return Contrast(
        one.written, other.written, place_in(other.written, newer), place_in(one.written, older)
    )
