"""Split texts into parts, for contradictions that lie in how two texts arrange the same words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from memories.core.function_words import FUNCTION_WORDS
from memories.core.lexicon import concept_of
from memories.core.spelling import collapse, normalise
from memories.core.tokeniser import Token, tokenise

MAX_CHARS: Final = 1000  # of a text whose arrangement is compared
DASHES: Final = frozenset("-\u2013\u2014")


def tokens_of(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, marks included."""
    return tuple(tokenise(normalise(collapse(text))))


def split_at(tokens: Sequence[Token], marks: Collection[str]) -> Iterator[Sequence[Token]]:
    """Yield the tokens between marks or words, without these; empty stretches are left out."""
    start = 0
    for at, token in enumerate(tokens):
        if token.lower in marks and not _is_range(tokens, at):
            if start < at:
                yield tokens[start:at]
            start = at + 1
    if start < len(tokens):
        yield tokens[start:]


def _is_range(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a token is the dash of "3–10 August"."""
    return (
        tokens[at].lower in DASHES
        and 0 < at < len(tokens) - 1
        and tokens[at - 1].kind == tokens[at + 1].kind == "number"
    )


def content_of(tokens: Iterable[Token], but: Collection[str] = ()) -> frozenset[str]:
    """Return the concepts of the content words of tokens, without the lower-case words `but`."""
    return frozenset(
        concept_of(token.lower)
        for token in tokens
        if token.kind != "symbol" and token.lower not in FUNCTION_WORDS and token.lower not in but
    )
