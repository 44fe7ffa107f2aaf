"""Descriptions of a value by its attribute and its thing: "the capital of X", "X's capital"."""

from __future__ import annotations

from collections.abc import Sequence

from memories.core.slot_nouns import TIMES, attribute_of
from memories.core.slot_types import Thing
from memories.core.slot_words import (
    ARTICLES,
    LINKS,
    NAME,
    POSSESSIVE,
    common_thing_of,
    runs_of_names,
    thing_of,
)


def any_thing_of(words: Sequence[str]) -> Thing:
    """Return a thing by its name, or by the concepts of its words."""
    return thing_of(words) or common_thing_of([word.lower() for word in words])


def describe(words: Sequence[str]) -> tuple[str, Thing] | None:
    """Return attribute and thing of "the capital of X", "X's capital"."""
    for at, word in enumerate(words[:-1]):
        if POSSESSIVE.search(word) and words[at + 1].islower():
            owner = [*words[:at], POSSESSIVE.sub("", word)]
            if len(owner) > 3 and owner[1] in TIMES and owner[2] == "of":  # "the year of X's death"
                owner = owner[3:]
            return attribute_of(words[at + 1 :]), any_thing_of(owner)
    if words[0].lower() not in ARTICLES:
        return None
    of = _led_by_of(words)
    if of and (words[of + 1] in ARTICLES or _is_coded(words[of + 1 :])):
        thing = any_thing_of(words[of + 1 :])
        return (attribute_of(words[1:of]), thing) if thing else None
    led_at = next((at for at, word in enumerate(words) if word in LINKS), 0)
    runs = runs_of_names(words, led_at + 1)
    if len(runs) != 1:
        return None
    first, last = runs[0]
    link = next((at for at in range(first - 1, 1, -1) if words[at] in LINKS), 0)
    about = [*words[1 : link or first], *words[last + 1 :]]
    is_led = bool(link) or len(words) > last + 2 or words[first - 1] in ("that", "where")
    thing = any_thing_of(words[link + 1 if link else first : last + 1])
    return (attribute_of(about), thing) if is_led else None


def _is_coded(words: Sequence[str]) -> bool:
    """Return whether a thing has a name in lower case: "ledger-sync", "server hal-db-02"."""
    return len(words) <= 2 and not any(map(NAME.fullmatch, words))


def _led_by_of(words: Sequence[str]) -> int:
    """Return the position of the "of" before the thing: "the year of birth of X", 0 without it."""
    links = [at for at, word in enumerate(words[:-1]) if word in LINKS and at > 1]
    ofs = [at for at in links if words[at] == "of"]
    definite = (at for at in (*ofs, *links) if words[at + 1] in ARTICLES)
    return next(definite, ofs[-1] if ofs else 0)
