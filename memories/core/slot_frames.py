"""Sentence forms that name a thing, an attribute and a value.

A definite description ("the capital of X is Y", "Y is the capital of X"), a possessive ("X's
capital"), a past participle with its agent ("X was founded by Y"), and verbs with one complement at
a time ("X lives in Y", "X plays the position of Y").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from memories.core.function_words import NEGATORS, words_of
from memories.core.lexicon import INCLUSIVE, concept_of
from memories.core.slot_types import Frame
from memories.core.tokeniser import stem

PLACE: Final = "place"
NAME: Final = re.compile(r"[A-Z0-9][\w&.'’/+-]*")
ARTICLES: Final = words_of("the its their our his her")
IN_NAMES: Final = words_of("of de van von der la le the and &")
# Words beside the noun of an attribute that do not make it another one.
IDLE: Final = words_of("head current official present name city place main sole")
_COPULAS: Final = {"is": "now", "are": "now", "was": "then", "were": "then"}
_CLASS: Final = re.compile(r"[a-z-]{2,30}")
_POSSESSIVE: Final = re.compile(r"['’]s$")
_LINKS: Final = words_of("of in for at by to on")
# What one agent does: who founds, makes, writes, owns or leads.
_BY: Final = frozenset(
    map(
        stem,
        words_of(
            "founded directed composed designed written published owned manufactured developed"
            " discovered coached edited employed built invented painted led managed chaired"
            " headed authored created produced established performed recorded commissioned"
            " sculpted drawn sung broadcast"
        ),
    )
)
_BASES: Final = {"written": "write", "built": "build", "led": "lead", "drawn": "draw",
                 "sung": "sing"}  # fmt: skip
_PAST: Final = {"wrote": "written", "writes": "written", "drew": "drawn", "sang": "sung",
                "builds": "built", "leads": "led"}  # fmt: skip
# Verbs and participles with one complement at a time: the preposition, and what they say.
_PLACED: Final = {
    "born": ("in", "birth"), "died": ("in", "death"), "headquartered": ("in", "headquarters"),
    "located": ("in", PLACE), "situated": ("in", PLACE), "lies": ("in", PLACE),
    "based": ("in", "headquarters"), "lives": ("in", "residence"), "resides": ("in", "residence"),
    "buried": ("in", "grave"), "flows": ("into", "mouth"), "empties": ("into", "mouth"),
    "married": ("to", "spouse"),
}  # fmt: skip
# Nouns that say what such a verb says: "author" is who writes.
_NOUNS: Final = {
    "author": "by write", "writer": "by write", "architect": "by design", "birthplace": "birth",
    "home": "residence", "citizen": "citizenship", "wife": "spouse", "husband": "spouse",
    "coach": "by coach", "ceo": "chief execut", "owner": "by own",
}  # fmt: skip
_HELD_OF: Final = words_of("citizen native")  # "X is a citizen of Y"
_YEARS: Final = words_of("year date")


def frames_of(words: Sequence[str]) -> Iterator[Frame]:
    """Yield the readings of a sentence, the likeliest first."""
    if not NEGATORS.isdisjoint(word.lower() for word in words):
        return
    copulas = [at for at, word in enumerate(words) if word in _COPULAS]
    for at in reversed(copulas):
        if 0 < at < len(words) - 1:
            yield from _of_copula(words[:at], words[at + 1 :], _COPULAS[words[at]])
    if not copulas:
        yield from _of_verb(words)


def _of_copula(left: Sequence[str], right: Sequence[str], when: str) -> Iterator[Frame]:
    """Read "the capital of X is Y", "Y is the capital of X", "X was founded by Y"."""
    if described := _description(left):
        places = ("in", "at")
        start = 2 if right[0] in _PLACED and right[1:2] == ["in"] else int(right[0] in places)
        yield Frame(*described, right[start:], when)
        return
    if right[0].lower() == "the" and (described := _description(right)):
        yield Frame(*described, left, when)
    elif right[0] == "in":
        yield Frame(PLACE, _thing(left), right[1:])
    elif len(right) > 3 and right[0] in ("a", "an") and right[1] in _HELD_OF and right[2] == "of":
        yield Frame(_attribute([right[1]]), _thing(left), right[3:], when)
    elif len(right) > 2:
        yield from _of_participle(_thing(left), right[0], right[1], right[2:])


def _of_participle(
    thing: frozenset[str], participle: str, preposition: str, rest: Sequence[str]
) -> Iterator[Frame]:
    placed, said = _PLACED.get(participle, ("", ""))
    if preposition == "by" and stem(participle) in _BY:
        yield Frame(f"by {_base(participle)}", thing, rest)
    elif placed == preposition:
        yield Frame(said, thing, rest)
    elif preposition == "in" and stem(participle) in _BY and _is_year(rest):
        yield Frame(stem(participle), thing, rest)
    else:
        yield from _of_class(thing, [participle, preposition, *rest])


def _base(word: str) -> str:
    participle = _PAST.get(word, word)
    return _BASES.get(participle, stem(participle))


def _of_class(thing: frozenset[str], words: Sequence[str]) -> Iterator[Frame]:
    """Read a value with the noun that classes it: "plays the position of Y"."""
    at = next((i for i, word in enumerate(words[:-2]) if word == "the"), -1)
    if not 0 < at <= 2 or words[at + 2 : at + 3] != ["of"] or not words[at + 1].islower():
        return
    verb = concept_of(words[0].lower())
    if verb not in INCLUSIVE and words[0].islower():
        yield Frame(f"{verb} {concept_of(words[at + 1])}", thing, words[at + 3 :])


def _of_verb(words: Sequence[str]) -> Iterator[Frame]:
    """Read "X lives in Y", "X has its hub in Y", "X plays the position of Y", "Y wrote X"."""
    start = next((at for at, word in enumerate(words) if NAME.fullmatch(word)), len(words))
    if start == 0 and words[0].lower() in ARTICLES:
        start = next((at for at, word in enumerate(words) if at and NAME.fullmatch(word)), 0)
    for at in range(start + 1, len(words) - 1):
        word = words[at]
        if at < len(words) - 2 and word in _PLACED and words[at + 1] == _PLACED[word][0]:
            yield Frame(_PLACED[word][1], _thing(words[:at]), words[at + 2 :])
        elif word == "has" and words[at + 1] in ARTICLES and "in" in words[at + 2 :]:
            till = words.index("in", at + 2)
            yield Frame(_attribute(words[at + 2 : till]), _thing(words[:at]), words[till + 1 :])
        elif stem(_PAST.get(word, word)) in _BY and _is_name_phrase(words[at + 1 :]):
            yield Frame(f"by {_base(word)}", _thing(words[at + 1 :]), words[:at])
            return
        elif word.islower() and word not in _LINKS and word not in IN_NAMES:
            yield from _of_class(_thing(words[:at]), words[at:])
            return


def _description(words: Sequence[str]) -> tuple[str, frozenset[str]] | None:
    """Return attribute and thing of "the capital of X" or "X's capital"."""
    for at, word in enumerate(words[:-1]):
        if _POSSESSIVE.search(word):
            return _attribute(words[at + 1 :]), _thing([*words[:at], _POSSESSIVE.sub("", word)])
    if words[0].lower() != "the":
        return None
    runs = [
        [at for at, _ in run]
        for is_name, run in groupby(enumerate(words), lambda item: bool(NAME.fullmatch(item[1])))
        if is_name
    ]
    led_at = next((at for at, word in enumerate(words) if word in _LINKS), 0)
    runs = [run for run in runs if run != [0] and run[0] > led_at]
    if len(runs) != 1:
        return None
    first, last = runs[0][0], runs[0][-1]
    link = next((at for at in range(first - 1, 1, -1) if words[at] in _LINKS), 0)
    about = [*words[1 : link or first], *words[last + 1 :]]
    is_led = bool(link) or len(words) > last + 2 or words[first - 1] in ("that", "where")
    return (_attribute(about), _thing(words[first : last + 1])) if is_led else None


def _attribute(words: Sequence[str]) -> str:
    """Return the key of an attribute, the same for a noun and the verb it is made of."""
    lowers = [word.lower() for word in words if word.lower() not in {*_LINKS, *ARTICLES}]
    if not lowers or len(lowers) > 5 or not all(map(str.isalpha, lowers)):
        return ""
    if lowers[-1] in _YEARS and len(lowers) > 1:
        return stem(lowers[-2])
    if lowers[-1] == "officer":  # "chief executive"
        lowers = lowers[:-1] or lowers
    kept = [word for word in lowers[:-1] if word not in IDLE] + lowers[-1:]
    if len(kept) > 1:
        return " ".join(map(concept_of, kept))
    noun = kept[0]
    if noun in _NOUNS:
        return _NOUNS[noun]
    if noun.endswith(("er", "or")):
        verbs = [stem(noun[:-2]), stem(noun[:-1])]  # "employer", "composer"
        return next((f"by {verb}" for verb in verbs if verb in _BY), noun)
    return noun


def _thing(words: Sequence[str]) -> frozenset[str]:
    """Return the name of a thing, without the noun that classes it: "the novel Fraim".

    Nothing where other words belong to the name: "Tank alpha", "ticket #5".
    """
    is_definite = bool(words) and words[0].lower() in ARTICLES
    kept = list(words[is_definite:])
    while kept and _CLASS.fullmatch(kept[0]):
        kept.pop(0)
    if is_definite and len(kept) > 1 and _CLASS.fullmatch(kept[-1]):  # "the Tol tower"
        kept.pop()
    if not all(NAME.fullmatch(word) or word in IN_NAMES for word in kept):
        return frozenset()
    found = frozenset(word.lower() for word in kept if NAME.fullmatch(word))
    return frozenset() if all(map(str.isdigit, found)) else found


def _is_name_phrase(words: Sequence[str]) -> bool:
    """Return whether words are a name, at most with an article and a noun that classes it."""
    plain = [word for word in words if not NAME.fullmatch(word)]
    return len(plain) < len(words) and len([w for w in plain if w not in ARTICLES]) <= 1


def _is_year(words: Sequence[str]) -> bool:
    return len(words) == 1 and words[0].isdigit() and len(words[0]) == 4
