"""Sentence forms of verbs: "X lives in Y", "X has its hub in Y", "Y wrote X"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memories.core.function_words import PREPOSITIONS, words_of
from memories.core.lexicon import INCLUSIVE, concept_of
from memories.core.slot_descriptions import any_thing_of
from memories.core.slot_having import frames_of_having
from memories.core.slot_labels import frames_of_label
from memories.core.slot_nouns import BY, PAST, attribute_of, base_of
from memories.core.slot_types import PLACE, Frame, Thing
from memories.core.slot_words import ARTICLES, IN_NAMES, LINKS, NAME, is_name_phrase, thing_of
from memories.core.tokeniser import stem

# Verbs and participles with one complement at a time: the preposition, and what they say.
PLACED: Final = {
    "born": ("in", "birth"), "died": ("in", "death"), "headquartered": ("in", "headquarters"),
    "located": ("in", PLACE), "situated": ("in", PLACE), "lies": ("in", PLACE),
    "based": ("in", "headquarters"), "lives": ("in", "residence"), "resides": ("in", "residence"),
    "buried": ("in", "grave"), "flows": ("into", "mouth"), "empties": ("into", "mouth"),
    "married": ("to", "spouse"),
}  # fmt: skip
MAX_ROLE: Final = 3  # words of a role without an article: "is head coach of X"
# Nouns that say the same behind every verb: "is in the key of", "plays the position of".
_CLASSES: Final = words_of(
    "key position rank genre currency religion sport family order colour color grade species"
)
_HOLDS: Final = words_of("has holds bears carries")
_OF_ONE: Final = words_of("head chief sole main primary principal")
_GIVEN: Final = words_of("has have uses use given got chosen appointed elected named")


def frames_of_verb(words: Sequence[str]) -> Iterator[Frame]:
    """Read "X lives in Y", "X has its hub in Y", "X plays the position of Y", "Y wrote X"."""
    has = words.index("has") if "has" in words[1:-1] else 0
    if has and not _as_its(words, has) and not _is_participle(words[has + 1]):
        yield from frames_of_having(any_thing_of(words[:has]), words[has + 1 :])
    else:
        yield from _of_main_verb(words)


def _of_main_verb(words: Sequence[str]) -> Iterator[Frame]:
    """Read the first verb behind the name that a sentence begins with."""
    start = next((at for at, word in enumerate(words) if NAME.fullmatch(word)), len(words))
    start = 0 if thing_of(words[:1]) else start  # "ledger-sync uses Postgres as its database"
    if start == 0 and words[0].lower() in ARTICLES:
        start = next((at for at, word in enumerate(words) if at and NAME.fullmatch(word)), 0)
        if not start:  # "The platform team owns the ingress"
            yield from _of_common_agent(words)
            return
    for at in range(start + 1, len(words) - 1):
        word = words[at]
        if at < len(words) - 2 and word in PLACED and words[at + 1] == PLACED[word][0]:
            yield Frame(PLACED[word][1], thing_of(words[:at]), words[at + 2 :])
        elif "been" in (word, words[at + 1]):
            continue  # "has been given"
        elif word in _GIVEN and (till := _as_its(words, at)):
            value = words[at + 1 : till]
            role = words[till + 1 + (words[till + 1] in ARTICLES) :]
            yield Frame(attribute_of(role), any_thing_of(words[:at]), value)
        elif stem(PAST.get(word, word)) in BY and not word.endswith("ly"):
            yield from _of_agent(words, at)
            return
        elif stem(words[at + 1]) in BY and word.islower() and not words[at + 1].endswith("ly"):
            continue  # "the Platform team owns it"
        elif word.islower() and word not in LINKS and word not in IN_NAMES:
            yield from frames_of_label(thing_of(words[:at]), words[at:])
            yield from frames_of_class(thing_of(words[:at]), words[at:])
            return


def _of_agent(words: Sequence[str], verb: int) -> Iterator[Frame]:
    """Read "Y wrote X", where X is a name or a definite thing."""
    thing = any_thing_of(words[verb + 1 :])
    is_plain = not thing.is_named or not thing.written  # "the gate", "ledger-sync"
    if is_plain or is_name_phrase(words[verb + 1 :]):
        yield Frame(f"by {base_of(words[verb])}", thing, words[:verb])


def _is_participle(word: str) -> bool:
    """Return whether a word behind "has" makes it a past form: "has written"."""
    return word == "been" or word.endswith("ed") or stem(word) in BY


def _of_common_agent(words: Sequence[str]) -> Iterator[Frame]:
    """Read "the platform team owns the ingress", where nothing has a name."""
    for at in range(2, len(words) - 1):
        if stem(PAST.get(words[at], words[at])) in BY:
            yield Frame(f"by {base_of(words[at])}", any_thing_of(words[at + 1 :]), words[:at])
            return


def _as_its(words: Sequence[str], verb: int) -> int:
    """Return the position of "as" in "has Remol as its capital", 0 without it."""
    found = (
        at
        for at in range(verb + 2, len(words) - 1)
        if words[at] == "as" or words[at : at + 2] in (["for", "its"], ["for", "their"])
    )
    return next(
        (at for at in found if words[at + 1] in ARTICLES or _is_role_of_one(words[at + 1 :])), 0
    )


def _is_role_of_one(words: Sequence[str]) -> bool:
    """Return whether words are a role of one, without an article: "has Ana Kolb as head coach"."""
    return len(words) <= MAX_ROLE and (words[0] in _OF_ONE or attribute_of(words).startswith("by "))


def frames_of_class(thing: Thing, words: Sequence[str]) -> Iterator[Frame]:
    """Read a value with the noun that classes it: "plays the position of Y"."""
    at = next((i for i, word in enumerate(words[:-2]) if word == "the"), -1)
    if at == 2 and words[1] not in PREPOSITIONS:  # "receives all the water of the river"
        return
    if not 0 < at <= 2 or not words[at + 1].islower():
        return
    if words[at + 3 : at + 4] == ["of"] and words[0] in _HOLDS:  # "holds the job title of Y"
        yield Frame(attribute_of(words[at + 1 : at + 3]), thing, words[at + 4 :])
    if words[at + 2 : at + 3] != ["of"]:
        return
    verb = concept_of(words[0].lower())
    if words[at + 1] in _CLASSES:
        yield Frame(attribute_of([words[at + 1]]), thing, words[at:])
    elif verb not in INCLUSIVE and words[0].islower():
        yield Frame(f"{verb} {concept_of(words[at + 1])}", thing, words[at:])
