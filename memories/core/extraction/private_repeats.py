"""Find what says again what is not to be stored: an echo of the assistant, the sentence before.

"My rent is 900 euros. … Please forget that my rent is 900 euros.": both are kept nowhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
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
        if self.words <= said:
            return True
        if self.is_topic or any(any(map(str.isdigit, word)) for word in self.words - said):
            return False
        is_echo = by_assistant and len(self.words & said) >= self.least
        return is_echo or repeats(self.words, said)


def mark_repeated(found: Sequence[Statement], turns: Sequence[Turn]) -> tuple[Statement, ...]:
    """Mark as private what says the same as a private statement.

    What corrects one stays, and so does what is asked to be remembered later than that. Each
    private statement is looked up by its rarest words only, so that the work is about linear.
    """
    private = _private_in(found)
    if not private:
        return tuple(found)
    counts = Counter(word for one in private for word in one.words)
    by_word: defaultdict[str, list[_Private]] = defaultdict(list)
    for one in private:
        rarest = sorted(one.words, key=lambda word: (counts[word], word))
        for word in rarest[: len(rarest) - one.least + 1]:
            by_word[word].append(one)
    return tuple(
        replace(one, kind="private")
        if one.kind != "private"
        and not one.corrects
        and _is_said(one, position, by_word, by_assistant=turns[one.turn].role == "assistant")
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


def _is_said(
    one: Statement,
    position: int,
    by_word: Mapping[str, Sequence[_Private]],
    *,
    by_assistant: bool,
) -> bool:
    words = frozenset(terms(one.text))
    meant = [
        private
        for word in words & by_word.keys()
        for private in by_word[word]
        if private.is_said(words, by_assistant=by_assistant)
        and (by_assistant or position < private.last or not private.is_retracted)
    ]
    if not meant:
        return False
    is_later = position > max(private.last for private in meant)
    return by_assistant or not is_later or find_request(one.text) is None
