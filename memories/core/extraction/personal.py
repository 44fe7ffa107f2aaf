"""Tell whether people speak of themselves in words of a private topic: "I live in Sundby."."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from memories.core.extraction import cues
from memories.core.function_words import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FILLERS,
    PREPOSITIONS,
    PRONOUNS,
    words_of,
)
from memories.core.spelling import bare_words, normalise
from memories.core.text import terms

# What people say of themselves, by what it is about: a topic is each line that it has a word of.
_PERSONAL: Final = tuple(
    frozenset(terms(line))
    for line in (
        "home hometown town city village address street flat apartment house live living reside"
        " residence neighbourhood neighborhood postcode",
        "salary income wage pay paid earn earnings bonus",
        "health diagnosis diagnosed illness ill sick disease disorder condition medication pills"
        " medicine therapy therapist symptoms treatment suffer allergy allergic",
        "wife husband partner spouse marriage married divorce divorced girlfriend boyfriend dating",
        "child kids son daughter pregnant pregnancy baby",
        "job employer employed workplace boss work profession",
        "age birthday born birth",
        "religion religious faith church mosque synagogue pray believe",
        "politics political party vote",
        "phone mobile number email",
        "school university college degree studied study graduated",
        "debt loan mortgage owe",
    )
)
# Of these what is said of other things, too: "the live system", "a nightly job", "our house style".
_DOING: Final = frozenset(terms("live living work pay paid vote believe study studied"))
_OWNED: Final = frozenset(
    terms("home house flat address job work number mobile email party condition degree")
)
_OWNERS: Final = words_of("my our")
_ACTORS: Final = cues.FIRST - words_of("me my mine us our ours")
_WORDS_BEFORE: Final = 3
_GOES_ON: Final = AUXILIARIES | CONJUNCTIONS | FILLERS | PREPOSITIONS | PRONOUNS


def kind_of(topic: Collection[str]) -> frozenset[str]:
    """Return the index terms in which people speak of a topic, none of one that is not personal."""
    return frozenset(word for line in _PERSONAL if not line.isdisjoint(topic) for word in line)


def is_personal(text: str, kind: Collection[str]) -> bool:
    """Return whether a speaker says something of themselves in words of a kind."""
    written, words = normalise(text).split(), bare_words(text)
    if cues.FIRST.isdisjoint(words):
        return False
    said = terms(text).keys() & kind
    if said - _DOING - _OWNED:
        return True
    return bool(said) and any(
        _is_of_speaker(written, words, at, kind)
        for at, word in enumerate(words)
        if not said.isdisjoint(terms(word))
    )


def _is_of_speaker(
    written: Sequence[str], words: Sequence[str], at: int, kind: Collection[str]
) -> bool:
    """Return whether a word is said of "I" as its verb, or is the last noun behind "my"."""
    if at and words[at - 1] == "at":  # "I am at home in Sundby"
        return True
    term = terms(words[at]).keys()
    for before in reversed(words[max(at - _WORDS_BEFORE, 0) : at]):
        if before in _OWNERS:
            return not _OWNED.isdisjoint(term) and _is_last(written, words, at, kind)
        if before in _ACTORS:
            return not _DOING.isdisjoint(term)
        if before in DETERMINERS:
            return False
    return False


def _is_last(written: Sequence[str], words: Sequence[str], at: int, kind: Collection[str]) -> bool:
    """Return whether no other noun follows: not "our house style", but "my job at Brandt"."""
    if at + 1 == len(words) or not written[at][-1].isalnum():
        return True
    following = written[at + 1]
    is_noun = following.isalpha() and following.islower() and words[at + 1] not in _GOES_ON
    return not is_noun or not terms(following).keys().isdisjoint(kind)
