"""Which of a language model's reasoning may be stored with a card and shown.

A card may say only what its own memories say: a quote of another memory would outlive that one's
erasure. So numbers, names and sequences of words that the model read elsewhere are not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from conflicts.core.facts import Fact
from conflicts.core.questions import quote
from memories.core.quoting import in_one_line, legible
from memories.core.topic_words import names, stems, tokens

MAX_CHARS: Final = 600
QUOTED_STEMS: Final = 3  # so many content words in a row are a quotation
LINE_DATE: Final = "%-d %b %Y"
# Orders to a reader, and addresses.
ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|please|click|press|answer (?:with )?(?:yes|no)|choose|visit|open the|"
    r"password|system prompt|https?:|www\.)",
    re.IGNORECASE,
)
_LINE_NUMBER: Final = re.compile(
    r"\b(?:the\s)?(?:line|fact|note|memory)\s(?:no\.\s|#)?(\d{1,4})\b", re.IGNORECASE
)
_MARKUP: Final = re.compile(r"[<>{}\[\]`]")
_SENTENCE: Final = re.compile(r"(?<=[.!?:;])\s")


def showable(reasoning: str, members: Sequence[Fact], facts: Sequence[Fact]) -> str:
    """Return the reasoning about some of the facts that a model was shown, or "".

    ``facts`` are all that it was shown, in the order of their numbers. Numbers of lines become the
    dates of their notes.
    """
    text = in_one_line(reasoning)
    if not text or _MARKUP.search(text) or ORDERS.search(text):
        return ""
    known = {fact.id for fact in members}
    for found in _LINE_NUMBER.finditer(text):
        number = int(found[1])
        if not 1 <= number <= len(facts) or facts[number - 1].id not in known:
            return ""
    text = _LINE_NUMBER.sub(
        lambda found: f"the note of {facts[int(found[1]) - 1].observed_at:{LINE_DATE}}", text
    )
    text = text[:1].upper() + text[1:]
    others = [fact for fact in facts if fact.id not in known]
    if _names_more(text, members) or _quotes(text, members, others):
        return ""
    return text if len(text) <= MAX_CHARS else quote(text, MAX_CHARS)[1:-1]


def _names_more(text: str, members: Iterable[Fact]) -> bool:
    """Return whether a text has a number or a name that is in no member."""
    known = {token.lower() for fact in members for token in tokens(_shown(fact))}
    for sentence in _SENTENCE.split(text):
        for position, token in enumerate(tokens(sentence)):
            named = token[1:] if position == 0 else token
            is_marked = any(c.isupper() or c.isdigit() for c in named)
            if is_marked and token.lower() not in known:
                return True
    return False


def _quotes(text: str, members: Sequence[Fact], others: Sequence[Fact]) -> bool:
    """Return whether a text has a name, or words in a row, of another fact and of no member."""
    own = {run for fact in members for run in _runs(fact.content)}
    theirs = {run for fact in others for run in _runs(fact.content)}
    own_words = {stem for fact in members for stem in stems(_shown(fact))}
    their_names = {stem for fact in others for stem in names(fact.content)}
    is_named = not set(stems(text)).isdisjoint(their_names - own_words)
    return is_named or not set(_runs(text)).isdisjoint(theirs - own)


def _runs(text: str) -> list[tuple[str, ...]]:
    found = stems(legible(text))
    return [found[i : i + QUOTED_STEMS] for i in range(len(found) - QUOTED_STEMS + 1)]


def _shown(fact: Fact) -> str:
    """Return what a model may name of a fact: its text, its author, its place and its date."""
    at = fact.observed_at
    dates = f"{at:%d %B %b %A %Y} {at.day} {at:%Y-%m-%d %H:%M}"
    return " ".join([legible(fact.content), fact.agent, fact.scope, fact.project, dates])
