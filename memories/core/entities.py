"""Find the entities that a text names, without a language model.

An entity is a run of capitalised words ("Battle of Sullivan's Island"), an identifier ("eu-west-1",
"docs/infra.md", "v2.3", "billing-gw"), a quoted title, or what the text begins with, up to its
first mark of punctuation ("Mercury runs on Postgres." begins with "Mercury"). Words that only say
when, how often or in which time zone are none ("Nightly", "UTC", "02:15"), but may be part of one
("Daily Mail"). Two spellings are one entity when their keys are equal: case, accents, possessives,
a leading article and forms of address ("Mr Halvorsen") do not matter. Rules know no meaning, so a
key may be an ordinary word at the start of a sentence; who uses the keys weighs them by rarity
(`memories.core.associations`).

Keys are stored: a change of what is found needs a migration that marks all memories to be read
again (see 0046_entities_without_times).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from memories.core.calendar_words import MONTH_SPELLINGS, TIMES_OF_DAY, WEEKDAY_SPELLINGS
from memories.core.function_words import words_of
from memories.core.number_words import FREQUENCIES, FREQUENCY_WORDS
from memories.core.text import STOP_WORDS
from memories.core.time_zones import ABBREVIATED_ZONES

KEY_MAX_CHARS = 64
NAME_MAX_WORDS = 6
TITLE_MAX_WORDS = 8
ENTITIES_MAX = 200  # of one text; the first ones
QUERY_WORDS = 80  # a longer query is read up to here
QUERY_NAME_WORDS = 7
_SUBJECT_WORDS = 3  # a name that begins later is no subject

_CALENDAR = frozenset(
    word for spellings in (*MONTH_SPELLINGS, *WEEKDAY_SPELLINGS) for word in spellings.split()
)
_WHEN = _CALENDAR | TIMES_OF_DAY | FREQUENCIES.keys() | FREQUENCY_WORDS | ABBREVIATED_ZONES
_JOINING = words_of(  # within a name, between capitalised words
    "of the de da do dos das du di del della der den ter van von zu y e al el la le les bin bint"
    " ibn binti"
)
_NO_NAME = STOP_WORDS | words_of("yes hi hello hey thanks ok okay please sorry wow well")
_ADDRESS = words_of(  # before a name, no part of it
    "mr mrs ms miss mx dr prof professor doctor sir madam herr frau mme mlle monsieur madame senor"
    " senora rev revd hon"
)
_ARTICLES = ("the", "a", "an")
_WORD = re.compile(r"[^\W_]\w*(?:['.\-/:@+&]+\w+)*")
# Words with hyphens are ordinary English, unless a part is no word: an abbreviation as systems have
# in their names, or one without a vowel. "Pre-prod" is none: there a part only changes the other.
_PREFIXES = words_of(
    "anti auto bi co counter cross de ex extra half high hyper inter intra long low mid mini mis"
    " multi near neo non off on out over post pre pro quasi re self semi short sub super trans tri"
    " un under up well"
)
_SUFFIXES = words_of(
    "based only free like style driven aware ready first side wide specific related friendly safe"
    " enabled compatible compliant facing backed hosted style up down in out off on over by"
)
_TECHNICAL = words_of(
    "api app apps ui ux io cli sdk iam id url uri os ci cd qa eks rds etl erp crm oauth auth admin"
    " dev prod infra repo sync async config backend frontend daemon proxy cron svc gw db"
)
_NO_VOWEL = re.compile(r"[bcdfghjklmnpqrstvwxz]{2,}")
_COMBINING = re.compile("[\u0300-\u036f]")
_QUOTED = re.compile('["\u201c]([^"\u201c\u201d\n]{3,80})["\u201d]')
_ENDS_START = frozenset(".:;,!?()\n")


Span = tuple[int, int]  # of words: the first, and the one after the last


class _Word(NamedTuple):
    """A word with what stands between it and the one before."""

    text: str
    gap: str

    @property
    def lower(self) -> str:
        return self.text.casefold()


def entities(text: str) -> dict[str, bool]:
    """Return the keys of the entities of a text, and whether the text is about each.

    A text is about what it begins with: its first words up to a mark of punctuation, when they are
    few, and a name among its first three words.

    Returns
    -------
    Keys of 2 to 64 characters in the order of the text, at most ``ENTITIES_MAX``.
    """
    plain = _plain(text)
    words = _words(plain)
    found: dict[str, bool] = {}
    for key, is_subject in _keys(plain, words):
        if len(found) >= ENTITIES_MAX and key not in found:
            break
        if len(key) > 1 and not key.isdigit():
            found[key] = found.get(key, False) or is_subject
    return found


def named_in(query: str) -> dict[str, Span]:
    """Return the keys that a query may name, and the first words that name each.

    They are its runs of up to `QUERY_NAME_WORDS` words, in order.
    """
    words = [word.text for word in _words(_plain(query))[:QUERY_WORDS]]
    folded = [_fold_word(word) for word in words]
    found: dict[str, Span] = {}
    for start, word in enumerate(words):
        is_name = word.casefold() not in _NO_NAME
        for end in range(start + 1 + (not is_name), min(start + QUERY_NAME_WORDS, len(words)) + 1):
            key = _joined(folded[start:end])
            if len(key) > 1:
                found.setdefault(key, (start, end))
    return found


def longest(named: Mapping[str, Span], known: Container[str]) -> list[str]:
    """Return the known ones of the keys that a query names, without those within another."""
    spans = {key: span for key, span in named.items() if key in known}
    return [key for key, span in spans.items() if not _is_within(span, spans.values())]


def _is_within(span: Span, others: Collection[Span]) -> bool:
    start, end = span
    return any(a <= start and end <= b and (a, b) != span for a, b in others)


def _keys(plain: str, words: Sequence[_Word]) -> Iterator[tuple[str, bool]]:
    """Yield the keys of a text; some more than once."""
    if start := _start(words):
        yield _fold(start), True
    position, is_first = 0, True
    while position < len(words):
        word = words[position]
        if not word.text[0].isupper():
            if _is_identifier(word.text):
                yield _fold_word(word.text)[:KEY_MAX_CHARS], False
            position += 1
            continue
        name, end = _name_at(words, position)
        begins = next((n for n, part in enumerate(name) if part.casefold() not in _NO_NAME), 0)
        kept = _without_ends(name)
        if any(_is_naming(part) for part in kept):
            yield _fold(kept), is_first and position + begins < _SUBJECT_WORDS
        is_first = is_first and name[0].casefold() in _ARTICLES and not kept
        position = end
    for quoted in _QUOTED.finditer(plain):
        title = [match.group() for match in _WORD.finditer(quoted[1])]
        if 1 <= len(title) <= TITLE_MAX_WORDS:
            yield _fold(title), False


def _start(words: Sequence[_Word]) -> list[str]:
    """Return the words before the first mark of punctuation, when they are at most eight."""
    for number, word in enumerate(words[: TITLE_MAX_WORDS + 1]):
        if number and not _ENDS_START.isdisjoint(word.gap):
            return [one.text for one in words[:number]]
    return []


def _name_at(words: Sequence[_Word], start: int) -> tuple[list[str], int]:
    """Return the capitalised words from `start` with those that join them, and where they end."""
    name, pending, end = [words[start].text], list[str](), start + 1
    for position in range(start + 1, len(words)):
        text, gap = words[position]
        if len(name) >= NAME_MAX_WORDS or gap not in (" ", " & ", "-"):
            break
        if text[0].isupper() or (text.isdigit() and len(text) < 5):
            name += [*pending, text]
            pending, end = [], position + 1
        elif text.casefold() in _JOINING and len(pending) < 2:
            pending.append(text)
        else:
            break
    return name, end


def _without_ends(name: Sequence[str]) -> list[str]:
    """Return a name without words at its ends that name nothing ("In", "The")."""
    kept = list(name)
    while kept and kept[0].casefold() in _NO_NAME:
        kept.pop(0)
    while kept and kept[-1].casefold() in _NO_NAME:
        kept.pop()
    return kept


def _is_naming(word: str) -> bool:
    lower = word.casefold()
    return not (lower in _WHEN or lower in _NO_NAME | _ADDRESS or lower.isdigit())


def _is_identifier(word: str) -> bool:
    """Return True for "s3", "eu-west-1", "a/b", "billing-gw", not for "long-term" and "2:15"."""
    has_letter = any(map(str.isalpha, word))
    is_marked = "." in word[1:-1] or not {"_", "/", "@"}.isdisjoint(word)
    # Numbers with a colon are times of day and ratios.
    is_marked = is_marked or (has_letter and (":" in word or any(map(str.isdigit, word))))
    return is_marked or ("-" in word and _is_system(_fold_word(word).split("-")))


def _is_system(parts: Sequence[str]) -> bool:
    """Return whether the parts of a word with hyphens are those of the name of a system."""
    if parts[0] in _PREFIXES or parts[-1] in _SUFFIXES or not all(map(str.isalpha, parts)):
        return False
    is_bent = parts[-1].endswith(("ed", "ing")) and len(parts[-1]) > 4
    return not is_bent and any(
        part in _TECHNICAL or _NO_VOWEL.fullmatch(part) is not None for part in parts
    )


def _words(plain: str) -> list[_Word]:
    """Return the words of a text without forms of address before a name."""
    found: list[_Word] = []
    end = 0
    for match in _WORD.finditer(plain):
        word = _Word(match.group(), plain[end : match.start()])
        if found and _is_addressed(found[-1], word):
            word = _Word(word.text, found.pop().gap)
        found.append(word)
        end = match.end()
    return found


def _is_addressed(before: _Word, word: _Word) -> bool:
    """Return whether a form of address stands before a name."""
    is_name = word.text[0].isupper() and word.lower not in _NO_NAME
    return is_name and before.lower in _ADDRESS and word.gap in {" ", ". "}


def _plain(text: str) -> str:
    """Remove accents and typography of quotes and apostrophes; keep case."""
    folded = _COMBINING.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", folded).translate({0x2019: "'", 0x02BC: "'", 0x60: "'"})


def _fold(words: Sequence[str]) -> str:
    """Return the key of a name."""
    return _joined([_fold_word(word) for word in words])


def _fold_word(word: str) -> str:
    folded = word.casefold()
    return folded[:-2] if folded.endswith("'s") else folded.rstrip("'")


def _joined(folded: Sequence[str]) -> str:
    """Return the key of a name of folded words: without articles before it."""
    first = 0
    while first < len(folded) and folded[first] in _ARTICLES:
        first += 1
    return " ".join(folded[first:])[:KEY_MAX_CHARS].strip()
