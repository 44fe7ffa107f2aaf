"""Read what the words of a request to remember name, by the form of its verb."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from memories.core.extraction.request_clauses import (
    CLOSING,
    FINITE,
    GOING_ON,
    READ_WORDS,
    is_clause,
    says_something,
)
from memories.core.extraction.request_patterns import (
    CLAUSE,
    HEAD,
    IN_YOUR_MEMORY,
    MEMORY_PLACE,
    ONLY_TIME,
    PLACES,
    TAG,
)
from memories.core.function_words import AUXILIARIES, PRONOUNS, words_of

TAIL_CHARS: Final = 130
_TAG_CHARS: Final = 24
_LEADING: Final = " .,;:-\u2013\u2014"
_ASKED: Final = words_of("what who whom whose which where when why how whether if")
_MANY: Final = ("the following", "these", "those", "some ", "a few ", "two ", "three ", "four ",
                "five ", "several ")  # fmt: skip
# What a text may be about that is said or stored: "store that", but not "save that" of a file.
_STORED_ALONE: Final = ("stor", "record", "not", "memori", "commit")
_WRITTEN: Final = ("write", "jot")
_ON: Final = ("on", "onto", "in", "into", "under")
_PLACE_WORDS: Final = 4
# Forms of the verbs that order nothing by themselves.
_BENT: Final = (
    "remembered", "remembering", "memorised", "memorized", "memorising", "memorizing", "keeping",
    "kept",
    "noted", "noting", "making", "taking", "stored", "storing", "saved", "saving", "recorded",
    "recording", "writing", "adding", "putting", "jotting", "holding", "hanging", "didn't",
    "did not",
)  # fmt: skip
_BACK: Final = ("that", "it")
_ALONE: Final = ("that", "this")
_PAUSES: Final = (",", "-", "\u2013", "\u2014")


@dataclass(frozen=True, slots=True)
class Request:
    """Where a text asks to remember; `start` and `end` bound what it names, equal for nothing.

    `points_on`: it announces what follows it ("store the following:"). `has_many`: so does what
    else is said in its line. `is_polite`: it is a question by its form only. `is_heading`: it has
    no verb that orders ("for the record: …"). `is_weak`: it may be about a thing ("keep that").
    `is_thing`: it names a thing of which something was said ("bear the tablets in mind").
    `clause` is where the words of the request begin.
    """

    start: int
    end: int
    clause: int
    points_on: bool = False
    has_many: bool = False
    is_polite: bool = False
    is_heading: bool = False
    is_weak: bool = False
    is_thing: bool = False

    @property
    def is_bare(self) -> bool:
        """Return whether it names nothing."""
        return self.start >= self.end


def request_at(plain: str, at: int) -> Request | None:
    """Return the request that begins at a position of a text."""
    end = len(plain.rstrip())
    head = HEAD.match(plain, at)
    if head is not None:
        return _of_head(plain, at, head, end)
    found = CLAUSE.match(plain, at)
    is_polite = found is not None and found["polite"] is not None
    tag = TAG.search(plain, max(end - _TAG_CHARS, at), end) if found is not None else None
    if found is None or (plain[:end].endswith("?") and not is_polite and tag is None):
        return None
    verb = found["remember"] or found["note"] or found["store"] or found["hold"] or ""
    if found["frame"] is None and verb.lower().startswith(_BENT):
        return None  # "Noted.", "Keeping in mind that …"
    if tag is not None:
        end = tag.start()
    elif is_polite:
        end = len(plain[:end].rstrip("?! "))
    asked = _Asked(plain, found, end, is_tagged=tag is not None)
    if found["hold"] or found["place"] or found["thing"]:
        return _of_thing_verb(asked)
    if (found["frame"] or "").lower().startswith("let") and asked.words[:1] == ["to"]:
        return None  # "Let's remember to …": what is planned
    return _of_clause(asked) if asked.words else _alone(asked)


_ASKS_KINDLY: Final = re.compile(r"\b(?:please|pls|plz|kindly)\b", re.IGNORECASE)


class _Asked:
    """The words of a request, by what they are, and the words of what it is of."""

    def __init__(self, plain: str, found: re.Match[str], end: int, *, is_tagged: bool = False):
        end = max(end, found.end())
        self.plain, self.found, self.start, self.end = plain, found, found.end(), end
        self.words = plain[self.start : end].strip(CLOSING).lower().split()
        # "" for a verb of remembering
        self.verb = (found["store"] or found["hold"] or found["place"] or "").lower()
        self.said = (found["said"] or found["minded"] or "").lower()
        self.how = f"{found['how']}{found['how_then']}".lower().replace(",", "")
        self.sep = found["sep"].strip().lower()
        self.is_polite = found["polite"] is not None
        self.is_question = self.is_polite or is_tagged
        is_told = bool(found["frame"]) or _ASKS_KINDLY.search(found["openers"]) is not None
        self.is_told = is_told or " please" in self.how
        self.has_place = PLACES.search(self.how) is not None
        says_that = self.said == "that" and not self.sep and not found["how_then"]
        self.says_that = self.sep == "that" or says_that
        self.is_that = bool(self.words) and self.says_that and self._is_clause()

    def _is_clause(self) -> bool:
        """Return whether "that" begins a clause: "store that Ana …", not "put that file …"."""
        is_of_saying = self.verb.startswith((*_STORED_ALONE, "sav", "writ", "jot", "retain"))
        is_of_saying = is_of_saying or (self.verb == "log" and self.is_told)
        rest = self.plain[self.start : self.end].strip(CLOSING)
        return not self.verb or self.has_place or (is_of_saying and is_clause(rest))

    @property
    def has_many(self) -> bool:
        return self.said.startswith(_MANY)

    def bare(self, *, points_on: bool = False) -> Request:
        """Return the request without anything that it names."""
        has_many = points_on and self.has_many
        at = self.found.start()
        return Request(self.end, self.end, at, points_on, has_many, self.is_question)

    def of(self, start: int, end: int = -1) -> Request:
        """Return the request of what stands from a position on."""
        end = self.end if end < 0 else end
        named = self.plain[start:end].lstrip(_LEADING)
        has_many = self.sep == ":" and self.has_many
        at = self.found.start()
        return Request(end - len(named), end, at, has_many=has_many, is_polite=self.is_question)


def _alone(asked: _Asked) -> Request | None:
    """Return a request that stands without what it is of: "Write that down.", "Store these:"."""
    is_colon = asked.sep == ":"
    if asked.verb:
        is_object = asked.said or is_colon or asked.how.replace("please", "").strip()
        is_alone = asked.verb.startswith(_STORED_ALONE) and asked.verb != "commit"
        is_kept = asked.has_place or asked.has_many or is_alone
        is_weak = asked.verb == "keep" and asked.said in _ALONE and not asked.found.start()
        if is_weak and not is_kept:
            return replace(asked.bare(), is_weak=True)
        if not is_object or not is_kept:
            return None
    return asked.bare(points_on=is_colon or asked.has_many)


def _of_thing_verb(asked: _Asked) -> Request | None:
    """Return a request whose verb is said of things, too: "pin this: …", "take this down: …".

    It asks to remember where a clause is its object, or a memory is named.
    """
    if asked.found["thing"] is not None:
        named = asked.of(*asked.found.span("thing"))
        if asked.words:  # "Bear the tablets in mind whenever I ask you for recipes."
            named = asked.of(asked.found.start("bear"))
        return replace(named, is_thing=True)
    is_put = asked.has_place or "away" in asked.how
    if asked.found["place"] is not None and not is_put:
        return None
    if not asked.words:
        is_kept = asked.said and asked.has_place and "down" not in asked.how
        return asked.bare(points_on=asked.sep == ":") if is_kept else None
    is_fact = asked.said.endswith("fact") or is_put or _RECORD.search(asked.verb) is not None
    is_announced = asked.sep in _ANNOUNCING and bool(asked.said)
    asks = is_announced or (asked.says_that and is_fact)
    is_put_in_memory = asked.found["place"] is not None and asked.sep == ":" and asked.has_place
    says = is_put_in_memory or is_clause(asked.plain[asked.start : asked.end].strip(CLOSING))
    return asked.of(asked.start) if asks and says else None


_RECORD: Final = re.compile(r"record|log\b")
_ANNOUNCING: Final = (":", *_PAUSES)


def _of_clause(asked: _Asked) -> Request | None:
    """Return a request that stands before what it is of."""
    goes_back = asked.said in _BACK and not asked.verb and asked.sep in _PAUSES
    if goes_back or _names_a_time(asked):
        return asked.bare()  # "Remember that, I always have to ask."
    start = _start_of_fact(asked)
    if start is not None:
        return asked.of(start)
    is_short = len(asked.words) <= _PLACE_WORDS
    if asked.said.startswith("the following") and is_short:
        return asked.bare(points_on=True)
    if asked.verb in _WRITTEN and asked.said and asked.words[0] in _ON:
        return asked.bare() if is_short else None  # "Write that on the wall."
    place = IN_YOUR_MEMORY.search(asked.plain, max(len(asked.plain) - TAIL_CHARS, asked.start))
    if place is None or not asked.verb:
        return None
    return asked.of(asked.found.end("store"), min(place.start(), asked.end))


def _names_a_time(asked: _Asked) -> bool:
    """Return whether a request is of what was said, and names only when: "that next time"."""
    is_kept = asked.verb.startswith((*_STORED_ALONE, *_WRITTEN)) and asked.verb != "commit"
    is_of_saying = not asked.verb or (is_kept and bool(asked.said))
    if not is_of_saying or asked.has_many or asked.sep == ":":
        return False
    rest = asked.plain[asked.found.start("how_then") : asked.end]
    return ONLY_TIME.fullmatch(rest.strip(CLOSING)) is not None


def _start_of_fact(asked: _Asked) -> int | None:
    """Return where a clause begins that is asked to be remembered, None where nobody asks so."""
    found = asked.found
    if asked.sep == ":":
        is_of_fact = not asked.verb or asked.said or asked.has_place or asked.is_told
        return asked.start if is_of_fact else None
    is_written = asked.verb in _WRITTEN and "down" in asked.how
    is_kept = is_written or MEMORY_PLACE.search(asked.how) is not None
    if asked.sep in _PAUSES[1:] and asked.said and is_kept:
        return asked.start  # "Keep this in your memory - Bo is vegan."
    if asked.is_that:
        return asked.start
    if asked.verb or asked.said.startswith("the following"):
        return None
    if found["note"] is not None:
        is_valid = found["note"].lower().endswith(" of") or asked.sep or "down" in asked.how
        is_valid = is_valid or (asked.is_told and not asked.is_polite)
        # "Make a mental note the door code changes in June."
        is_made = found["note"].lower().startswith(("make", "take"))
        is_valid = is_valid or (is_made and says_something(asked.plain[asked.start : asked.end]))
    else:
        first = asked.words[0]
        says = first in PRONOUNS or not FINITE.isdisjoint(asked.words[:READ_WORDS])
        is_valid = not asked.is_polite or first == "to" or (first not in _ASKED and says)
    start = found.start("said") if found["said"] else asked.start
    if asked.said == "that" and found["how_then"]:
        start = found.end("said")  # "remember that from now on Bo …"
    return start if is_valid else None


def _of_head(plain: str, at: int, head: re.Match[str], end: int) -> Request | None:
    rest = plain[head.end() : end].strip(CLOSING)
    # Not of "Before I forget: the naming." and "So you remember, great!"
    is_of_clause = head["purpose"] is not None or head["knowing"] is not None
    opens_topic = is_of_clause or head[0].lower().endswith("forget")
    says = len(rest.split()) > (1 if head["knowing"] else 2) and is_clause(rest)
    is_relative = head[0].endswith("that") and rest.split()[:1] and rest.split()[0] in AUXILIARIES
    goes_on = head[0].endswith(",") and rest.split()[:1] and rest.split()[0].lower() in GOING_ON
    if plain[:end].endswith("?") or (opens_topic and not says) or is_relative or goes_on:
        return None  # "A reminder that is late helps nobody.", "Worth remembering, but not here."
    if not rest:
        return Request(end, end, at, points_on=plain[:end].endswith(":"), is_heading=True)
    start = end - len(plain[head.end() : end].lstrip(_LEADING))
    return Request(start, end, at, is_heading=True)
