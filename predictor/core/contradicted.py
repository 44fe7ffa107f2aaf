"""Find the memories that a conversation contradicts, claim against claim.

What contradicts a memory shares its topic and its words, so a judge of relevance would call it
relevant. It is no use of the memory but evidence against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memories.core.comparing import Comparer
from memories.core.extraction.describing import Describing
from memories.core.extraction.extract import facts_in
from memories.core.extraction.facts import Fact, without_speaker
from memories.core.extraction.turns import Turn
from memories.core.topic_words import MEASURES, stems
from predictor.core.talk import offline_part

LEAST_SHARED: Final = 2  # content words of a memory that a statement has, too
MOST_PAIRS: Final = 300  # that are compared; those that share most words
AGREE: Final = frozenset({"same", "refines"})
MOST_HEAD_WORDS: Final = 5  # of a clause that only leads to what is said
_PART = re.compile(r"; |[.!?] (?=[A-Z])")
_HEAD = re.compile(r"[^,:;.]{1,60}[,:;.]\s+(?=\S)|(?:and|but|so|well|actually) ", re.I)
_SOURCE = re.compile(r"(?:[^,:;.\s]{1,30} ){1,6}(?:says?|shows?|reports?) (?:that )?")
_TAIL = re.compile(r"(?:,? (?:since|because)|, (?:so|as|only|not|but)) [^;.]{1,120}\.?$")


@dataclass(frozen=True, slots=True)
class Saying:
    """What somebody asserts in a conversation: words that can be understood alone, and verbatim."""

    text: str
    quote: str


def read_sayings(contents: Sequence[str], transcript: str) -> list[Saying]:
    """Return what is asserted in a conversation, in order.

    Of a long transcript the part is read that a judge without a model reads, without pasted lists
    of the memories `contents`. Questions, orders, text of others and what is not to be stored are
    left out, and corrections ("no, on Tuesday") are put into what they correct. Of an answer its
    own words are read, without the question.
    """
    return [
        Saying(_own_words(one.fact, one.turn), one.fact.quote)
        for one in facts_in(Describing(offline_part(contents, transcript)))
        if one.fact is not None and not one.described.statement.is_doubtful
    ]


def find_contradicted(
    contents: Sequence[str], sayings: Sequence[Saying], comparer: Comparer
) -> dict[int, Saying]:
    """Return by the number of a memory, from 0, what was said last that contradicts it.

    A memory that is said again after that is not contradicted. What repeats another memory is not
    evidence of its own: the detective knows both. Pairs that share least are left out where the
    bound of `comparer` has no room for them.
    """
    found = {
        (note, place): _relation(contents[note], sayings[place].text, comparer)
        for note, place in sorted(
            pair
            for pair in _pairs(contents, [one.text for one in sayings])
            if comparer.has_room([contents[pair[0]]], sayings[pair[1]].text)
        )
    }
    repeated = {place for (_, place), relation in found.items() if relation == "same"}
    last: dict[int, Saying | None] = {}
    for (note, place), relation in found.items():
        if relation == "same":
            last[note] = None
        elif relation == "contradicts" and place not in repeated:
            last[note] = sayings[place]
    return {note: one for note, one in last.items() if one is not None}


def _own_words(fact: Fact, turn: Turn) -> str:
    return fact.quote if fact.asked else without_speaker(fact.text, turn)


def _relation(content: str, said: str, comparer: Comparer) -> str:
    """Return how a statement relates to a memory, without the clauses that only lead to it."""
    found = {comparer.compare(content, one).relation for one in _wordings(said, content)}
    if not found.isdisjoint(AGREE):
        return "same"
    return "contradicts" if "contradicts" in found else "different"


def _wordings(said: str, content: str) -> Iterator[str]:
    """Yield a statement as it is, its parts, and these without what only leads to or explains them.

    That is a short clause at the start ("no, …", "that changed: …") without a word of the memory, a
    source ("the wiki says that …"), and a clause at the end that gives a reason or a limit.
    """
    yield said
    topic = set(stems(content))
    for part in _PART.split(said):
        rest = part
        while (head := _HEAD.match(rest)) and len(head[0].split()) <= MOST_HEAD_WORDS:
            if not topic.isdisjoint(stems(head[0])):
                break
            rest = rest[head.end() :]
        if source := _SOURCE.match(rest):
            rest = rest[source.end() :]
        yield rest
        if tail := _TAIL.search(rest):
            yield rest[: tail.start()]


def _pairs(contents: Sequence[str], said: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of a memory and a statement that share words, at most `MOST_PAIRS`."""
    words = [_topic(text) for text in said]
    found = [
        (-shared, note, place)
        for note, own in enumerate(map(_topic, contents))
        for place, theirs in enumerate(words)
        if (shared := len(own & theirs)) >= min(LEAST_SHARED, len(own)) > 0
    ]
    return [(note, place) for _, note, place in sorted(found)[:MOST_PAIRS]]


def _topic(text: str) -> frozenset[str]:
    """Return the content words of a text, without numbers and measures."""
    return frozenset(one for one in stems(text) if not one[0].isdigit()) - MEASURES
