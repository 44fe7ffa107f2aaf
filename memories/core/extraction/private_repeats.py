"""Find what says again what is not to be stored: an echo of the assistant, the sentence before.

"My rent is 900 euros. … Please forget that my rent is 900 euros.": both are kept nowhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from memories.core.extraction.overlap import REPEATED_FROM, repeats
from memories.core.extraction.private import private_terms
from memories.core.extraction.request_grammar import find_request, without_request
from memories.core.extraction.statements import Statement
from memories.core.extraction.turns import Turn
from memories.core.text import terms

_FEWEST: Final = 2  # terms of a statement that is no topic
_MOST: Final = 300  # private statements of a transcript that others are compared with one by one


@dataclass(frozen=True, slots=True)
class _Private:
    words: frozenset[str]
    is_topic: bool
    is_retracted: bool  # what is said later is not meant
    last: int  # position of the statement

    @property
    def least(self) -> int:
        """Return how many of the words a statement has at least that says the same."""
        share = 1.0 if self.is_topic else REPEATED_FROM
        return max(ceil(share * len(self.words)), 1 if self.is_topic else _FEWEST)

    def is_said(self, said: frozenset[str], *, by_assistant: bool) -> bool:
        """Return whether a statement says the same; an assistant's echo has words of its own."""
        shared = len(self.words & said)
        if shared < self.least or shared == len(self.words):
            return shared >= self.least
        if self.is_topic or any(any(map(str.isdigit, word)) for word in self.words - said):
            return False
        return by_assistant or repeats(self.words, said)


class _Lookup:
    """Private statements by their rarest words; beyond `_MOST` of them, by all of their words."""

    def __init__(self, private: Sequence[_Private]):
        counts = Counter(word for one in private for word in one.words)
        self._by_word: defaultdict[str, list[_Private]] = defaultdict(list)
        self._by_words: defaultdict[frozenset[str], list[_Private]] = defaultdict(list)
        for one in private[:_MOST]:
            rarest = sorted(one.words, key=lambda word: (counts[word], word))
            for word in rarest[: len(rarest) - one.least + 1]:
                self._by_word[word].append(one)
        for one in private[_MOST:]:
            self._by_words[one.words].append(one)

    def near(self, words: frozenset[str]) -> Iterator[_Private]:
        """Yield the private statements that may say the same, some repeatedly."""
        for word in words & self._by_word.keys():
            yield from self._by_word[word]
        yield from self._by_words.get(words, ())


def mark_repeated(found: Sequence[Statement], turns: Sequence[Turn]) -> tuple[Statement, ...]:
    """Mark as private what says the same as a private statement; linear in their number.

    What corrects one stays, and so does what is asked to be remembered later than that.
    """
    private = _private_in(found)
    if not private:
        return tuple(found)
    lookup = _Lookup(private)
    return tuple(
        replace(one, kind="private")
        if one.kind != "private"
        and not one.corrects
        and _is_said(one, position, lookup, by_assistant=turns[one.turn].role == "assistant")
        else one
        for position, one in enumerate(found)
    )


def _private_in(found: Sequence[Statement]) -> list[_Private]:
    private: dict[tuple[frozenset[str], bool, bool], _Private] = {}
    for position, one in enumerate(found):
        if one.kind == "private":
            words, is_topic = private_terms(without_request(one.text))
            kind = words, is_topic, one.is_retracted
            private[kind] = _Private(*kind, position)
    return [one for one in private.values() if one.least <= len(one.words)]


def _is_said(one: Statement, position: int, lookup: _Lookup, *, by_assistant: bool) -> bool:
    words = frozenset(terms(one.text))
    meant = (
        private.last
        for private in lookup.near(words)
        if private.is_said(words, by_assistant=by_assistant)
        and (by_assistant or position < private.last or not private.is_retracted)
    )
    last = next(meant, None)
    if last is None:
        return False
    is_asked = not by_assistant and find_request(one.text) is not None
    return not is_asked or position < max([last, *meant])
