"""Find the words of a clause outside of all terms that may change its meaning.

The parser turns words into terms, prepositions, polarity and modals. The other words are compared
by a closed list: a word that is not known to be harmless must occur on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memories.core.claim_types import UnreadWord
from memories.core.function_words import AUXILIARIES, NEGATORS, PREPOSITIONS, words_of
from memories.core.tokeniser import Token

# Prepositions and modals are compared with the words after them.
_HARMLESS: Final = (
    AUXILIARIES
    | PREPOSITIONS
    | words_of(
        "a an the this that these those my your his her its our their i we you he she it they me"
        " us him them itself themselves ourselves myself himself herself yourself there one ones"
        " who whom whose which what where when while whenever how such own people"
        " and nor so because if although though whereas but yet"
        " very really simply actually basically currently now also too already still"
        " then thus therefore hence however please note well as always"
        " ever e.g i.e yes okay ok nowadays overall entirely completely fully directly properly"
        " explicitly officially throughout altogether"
    )
) - words_of("unlike unless")
# Harmless by themselves, but "not always" and "not entirely" are weaker than "not".
_WHOLLY: Final = words_of(
    "always overall entirely completely fully altogether throughout really very simply directly"
    " properly explicitly officially"
)
_HARMLESS_SYMBOLS: Final = frozenset(".,;:()[]{}'\"-\u2013\u2014/&!?=|\u2026\u00b7\u2022")
_ALIKE: Final = {
    word: name
    for name, words in {
        "not": NEGATORS - {"nor"}
        | words_of("avoid avoids avoided avoiding lack lacks lacked lacking"),
        "all": words_of("every each all any everyone everybody everything anyone anybody anything"),
    }.items()
    for word in words
}
NEGATION: Final = "not"


def unread(tokens: Iterable[Token], heading: Iterable[Token]) -> tuple[UnreadWord, ...]:
    """Return the words outside of all terms that may change a claim, and of a heading, sorted."""
    found = [UnreadWord(token.lower, token.written or token.text) for token in heading]
    is_negated = False
    for token in tokens:
        key = _ALIKE.get(token.lower, token.lower)
        if not _is_harmless(token) or (is_negated and token.lower in _WHOLLY):
            found.append(UnreadWord(key, token.written or token.text))
            is_negated = is_negated or key == NEGATION
    return tuple(sorted(found))


def _is_harmless(token: Token) -> bool:
    if token.kind == "symbol":
        return token.text in _HARMLESS_SYMBOLS
    return token.lower in _HARMLESS
