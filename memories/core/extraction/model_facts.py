"""Check what a language model found in a transcript: only what was said there is accepted."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memories.core.claims import compare
from memories.core.extraction.describing import Describing
from memories.core.extraction.echoes import find_echoes
from memories.core.extraction.extract import (
    Extraction,
    Kept,
    Refused,
    choose,
    extract_from,
    refuse,
)
from memories.core.extraction.facts import CERTAIN, LEAST, REQUESTED, Fact, as_others
from memories.core.extraction.features import MAX_CHARS, Described
from memories.core.extraction.floor import Reason, find_bar
from memories.core.extraction.overlap import overlaps
from memories.core.extraction.prompt import Passage
from memories.core.extraction.turns import Turn
from memories.core.text import terms

PASSAGE_CHARS: Final = 3000
QUOTED_WORDS: Final = 2  # a shorter quote is evidence of anything
_WORD: Final = re.compile(r"\w+")
_UNREAD: Final = frozenset(
    ["third_party_text", "procedural_fragment", "too_long", "not_to_be_stored"]
)


@dataclass(frozen=True, slots=True)
class Found:
    """One fact in the model's reply; `passage` is what it names, None for an unknown number."""

    passage: Passage | None
    quote: str
    fact: str
    confidence: float


class TranscriptText:
    """A transcript with its statements and what rules find in it, to check a model's reply by."""

    def __init__(self, transcript: str, agent: str = ""):
        self.transcript = transcript
        describing = Describing(transcript, agent)
        self.turns = describing.turns
        self.described = describing.describe_all()
        self.by_rules = extract_from(describing)
        self._starts = [one.statement.start for one in self.described]
        self._echoes = find_echoes(self.described, self.turns)
        self._folded = _fold(transcript)
        self._words = frozenset(word.lower() for word in _WORD.findall(transcript))
        self._said = {
            is_users: frozenset(terms("\n".join(
                transcript[turn.start : turn.end]
                for turn in self.turns
                if turn.role != "unknown" and (turn.role == "user") == is_users
            )))
            for is_users in (True, False)
        }  # fmt: skip

    def passages(self) -> list[Passage]:
        """Return what a model is to read: the statements that no rule bars whatever they say."""
        found: list[Passage] = []
        for one in self.described:
            turn, statement = self.turns[one.statement.turn], one.statement
            if find_bar(one, turn) in _UNREAD:
                continue
            last = found[-1] if found else None
            is_same = last is not None and last.start >= turn.start
            if last is not None and is_same and statement.end - last.start <= PASSAGE_CHARS:
                text = f"{last.text} {statement.text}"
                found[-1] = Passage(turn.speaker, text, last.start, statement.end)
            else:
                found.append(Passage(turn.speaker, statement.text, statement.start, statement.end))
        return found

    def locate(self, quote: str, passage: Passage) -> tuple[int, int] | None:
        """Return where a passage says a quote, without regard to case and blanks."""
        wanted = _fold(quote).text.strip()
        if not wanted:
            return None
        first = bisect_right(self._folded.positions, passage.start - 1)
        at = self._folded.text.find(wanted, first)
        if at < 0:
            return None
        start, last = (self._folded.positions[n] for n in (at, at + len(wanted) - 1))
        return (start, last + 1) if last < passage.end else None

    def statement_at(self, position: int) -> Described:
        """Return the statement that a position belongs to."""
        return self.described[self._index_at(position)]

    def said_first(self, start: int, end: int) -> tuple[int, int]:
        """Return where the user says first what an echo says: a quote within one statement."""
        place = self._index_at(start)
        if place not in self._echoes or end > self.described[place].statement.end:
            return start, end
        said = self.described[self._echoes[place]]
        if find_bar(said, self.turns[said.statement.turn]) is not None:
            return start, end
        return said.statement.start, said.statement.end

    def _index_at(self, position: int) -> int:
        return max(bisect_right(self._starts, position) - 1, 0)

    def holds_words_of(self, fact: str) -> bool:
        """Return whether numbers and names of a fact are words of the transcript."""
        return all(
            word.lower() in self._words
            for place, word in enumerate(_WORD.findall(fact))
            if any(map(str.isdigit, word)) or (place and word[:1].isupper())
        )

    def has_only_others(self, fact: str) -> bool:
        """Return whether some words of a fact were said by others and by no user."""
        return bool(frozenset(terms(fact)) & (self._said[False] - self._said[True]))


@dataclass(frozen=True, slots=True)
class _Folded:
    text: str
    positions: list[int]


def _fold(text: str) -> _Folded:
    """Return a text in lower case with single blanks, and where its characters come from."""
    letters: list[str] = []
    positions: list[int] = []
    for position, character in enumerate(text):
        is_blank = character.isspace()
        if is_blank and letters and letters[-1] == " ":
            continue
        lower = " " if is_blank else character.lower()
        letters.append(lower if len(lower) == 1 else character)
        positions.append(position)
    return _Folded("".join(letters), positions)


def accept_facts(
    text: TranscriptText, found: Sequence[Found], unread_from: int | None = None
) -> Extraction:
    """Return what is kept of a model's facts, and of rules what the user asked to remember.

    A fact without its quote in the transcript, with a quote of a word or two, with one that says
    the contrary, or with names and numbers that are not in the transcript, is refused. The rules
    refuse what they bar; of what they would keep and the model did not name, a person may be asked.
    From `unread_from` on, a position of the transcript, the model has read nothing, and the rules
    decide.
    """
    accepted: list[Kept] = []
    refused: list[Refused] = []
    for one in found:
        checked = _check(text, one)
        (accepted if isinstance(checked, Kept) else refused).append(checked)  # type: ignore[arg-type]
    named = [one.fact.quote for one in accepted]
    for rule in text.by_rules.kept:
        if any(overlaps(rule.fact.quote, quote) for quote in named):
            continue
        is_unread = unread_from is not None and rule.start >= unread_from
        if rule.is_request or is_unread:
            accepted.append(rule)
        else:
            refused.append(refuse(rule, "not_lasting"))
    kept, dropped = choose(accepted, text.turns)
    named = [one.fact.quote for one in kept]
    others = [
        one
        for one in text.by_rules.refused
        # What is not to be stored stays, however much it is like a fact: its place is blanked.
        if one.reason == "not_to_be_stored" or not any(overlaps(one.text, quote) for quote in named)
    ]
    everything = [*refused, *dropped, *others]
    return Extraction(tuple(kept), tuple(sorted(everything, key=lambda one: one.start)))


def _check(text: TranscriptText, one: Found) -> Kept | Refused:
    at = text.locate(one.quote, one.passage) if one.passage is not None else None
    words = " ".join(one.fact.split())
    if one.passage is None or at is None or not text.holds_words_of(words):
        return _refused(one, "quote_not_found", one.passage.start if one.passage else 0)
    at = text.said_first(*at)
    described = text.statement_at(at[0])
    turn: Turn = text.turns[described.statement.turn]
    bar = find_bar(described, turn)
    if bar is not None:
        return _refused(one, bar, at[0], turn)
    if not _rests_on(words, text.transcript[at[0] : at[1]], described):
        return _refused(one, "quote_not_found", at[0], turn)
    if len(words) > MAX_CHARS or len(words.split()) < 2:
        return _refused(one, "too_long" if len(words) > MAX_CHARS else "too_short", at[0], turn)
    most = CERTAIN[turn.role] + (REQUESTED if described.is_request else 0.0)
    fact = Fact(
        words,
        text.transcript[at[0] : at[1]],
        round(max(min(one.confidence, most), LEAST), 2),
        turn.role in {"assistant", "other"} or text.has_only_others(words),
    )
    kept = Kept(fact, 1.0, turn.role, turn.speaker, at[0], described.is_request)
    if described.statement.is_doubtful:
        return refuse(replace(kept, fact=as_others(fact)), "third_party_text")
    return kept


def _rests_on(fact: str, quote: str, described: Described) -> bool:
    """Return whether a quote is more than a word or two, and does not say the contrary of a fact.

    A short one is enough where it is the whole statement.
    """
    is_whole = len(_WORD.findall(quote)) >= len(_WORD.findall(described.statement.text))
    is_quoted = is_whole or len(_WORD.findall(quote)) >= QUOTED_WORDS
    return is_quoted and compare(fact, quote).relation != "contradicts"


def _refused(one: Found, reason: Reason, start: int, turn: Turn | None = None) -> Refused:
    role, speaker = (turn.role, turn.speaker) if turn else ("unknown", "")
    return Refused(one.quote[:MAX_CHARS], reason, 0.0, role, speaker, start)
