"""Sentence forms that name a thing, an attribute and a value.

A definite description ("the capital of X is Y", "Y is the capital of X"), a possessive ("X's
capital"), a past participle with its agent ("X was founded by Y"), and verbs with one complement at
a time ("X lives in Y", "X plays the position of Y").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memories.core.function_words import ADDITIVES, NEGATORS, PREPOSITIONS, words_of
from memories.core.lexicon import INCLUSIVE, concept_of
from memories.core.slot_leads import find_lead
from memories.core.slot_nouns import BY, PAST, attribute_of, base_of
from memories.core.slot_types import PLACE, Frame, Thing
from memories.core.slot_words import (
    ARTICLES,
    IN_NAMES,
    LINKS,
    NAME,
    POSSESSIVE,
    common_thing_of,
    is_name_phrase,
    is_year,
    runs_of_names,
    thing_of,
)
from memories.core.tokeniser import stem

_COPULAS: Final = {"is": "now", "are": "now", "was": "then", "were": "then"}
# Verbs and participles with one complement at a time: the preposition, and what they say.
_PLACED: Final = {
    "born": ("in", "birth"), "died": ("in", "death"), "headquartered": ("in", "headquarters"),
    "located": ("in", PLACE), "situated": ("in", PLACE), "lies": ("in", PLACE),
    "based": ("in", "headquarters"), "lives": ("in", "residence"), "resides": ("in", "residence"),
    "buried": ("in", "grave"), "flows": ("into", "mouth"), "empties": ("into", "mouth"),
    "married": ("to", "spouse"),
}  # fmt: skip
_PAST_FORMS: Final = words_of("was were had")
_EVENTS: Final = frozenset(map(attribute_of, (["founding", "year"], ["birth"], ["grave"])))
# Whom somebody has one of: "Ana is Ben's boss".
_ONE_EACH: Final = words_of(
    "boss manager wife husband spouse owner captain head leader doctor landlord employer mother"
    " father"
)
_HELD_OF: Final = words_of("citizen native speaker subsidiary")  # "X is a citizen of Y"
_OF_MANY: Final = words_of("a an one among some part member two three several many")
_GIVEN: Final = words_of("has have uses use given got chosen appointed elected named")
_MAX_ROLE: Final = 3  # words of a role without an article: "is head coach of X"


def frames_of(words: Sequence[str]) -> Iterator[Frame]:
    """Yield the readings of a sentence, the likeliest first."""
    if not (NEGATORS | ADDITIVES).isdisjoint(word.lower() for word in words):
        return
    if lead := find_lead(words):
        attribute, end, value, stop = lead
        if not _description(words[:end]):
            tense = "then" if words[end] in _PAST_FORMS else "now"
            when = "" if attribute in _EVENTS else tense
            yield Frame(attribute, _thing(words[:end]), words[value:stop], when)
    copulas = [at for at, word in enumerate(words) if word in _COPULAS]
    for at in reversed(copulas):
        if 0 < at < len(words) - 1:
            yield from _of_copula(words[:at], words[at + 1 :], _COPULAS[words[at]])
    if not copulas:
        yield from _of_verb(words)


def _of_copula(left: Sequence[str], right: Sequence[str], when: str) -> Iterator[Frame]:
    """Read "the capital of X is Y", "Y is the capital of X", "X was founded by Y"."""
    if described := _description(left):
        places = ("in", "at", "on")
        start = 2 if right[0] in _PLACED and right[1:2] == ["in"] else int(right[0] in places)
        if (
            described[1].is_named or not start
        ):  # "The guide of the depot is in French" is no attribute
            yield _frame(described, right[start:], when)
        return
    is_definite = right[0].lower() == "the" or (
        right[-1] in _ONE_EACH and any(map(POSSESSIVE.search, right))
    )
    if is_definite and (described := _description(right)):
        yield _frame(described, _uncapitalised(left), when)
    elif right[0] == "in":
        yield Frame(PLACE, _thing(left), right[1:], when)
    elif len(right) > 3 and right[0] in ("a", "an") and "of" in right[2:-1]:
        of = right.index("of", 2)
        if right[of - 1] in _HELD_OF:
            yield Frame(attribute_of(right[1:of]), thing_of(left), right[of + 1 :], when)
    elif _is_role(right) and (described := _description(["the", *right])):
        yield _frame(described, left, when)
    elif len(right) > 2:
        yield from _of_participle(_thing(left), right[0], right[1], right[2:])


def _uncapitalised(words: Sequence[str]) -> Sequence[str]:
    """Return words from the start of a sentence: "Dark green" is no name, "Dark Harbour" is."""
    is_plain = len(words) > 1 and all(word.islower() and word.isalpha() for word in words[1:])
    return [words[0].lower(), *words[1:]] if is_plain else words


def _frame(described: tuple[str, Thing], value: Sequence[str], when: str) -> Frame:
    attribute, thing = described
    return Frame(attribute, thing, value, when)


def _is_role(words: Sequence[str]) -> bool:
    """Return whether words begin with a role that one person has: "head coach of the Rovers"."""
    role = words[: words.index("of")] if "of" in words else []
    return (
        0 < len(role) <= _MAX_ROLE
        and all(word.isalpha() and word.islower() for word in role)
        and role[0] not in PREPOSITIONS
        and _OF_MANY.isdisjoint(role)
        and not role[-1].endswith(("ed", "s"))
    )


def _of_participle(
    thing: Thing, participle: str, preposition: str, rest: Sequence[str]
) -> Iterator[Frame]:
    placed, said = _PLACED.get(participle, ("", ""))
    if preposition == "by" and stem(participle) in BY:
        role, name = _role_before_name(rest)
        yield Frame(role or f"by {base_of(participle)}", thing, name)
    elif placed == preposition:
        yield Frame(said, thing, rest)
    elif preposition == "in" and stem(participle) in BY and is_year(rest):
        yield Frame(stem(participle), thing, rest)
    else:
        yield from _of_class(thing, [participle, preposition, *rest])


def _role_before_name(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the role and the name in "led by principal Ana Kolb"; "" where no role is named."""
    names = [at for at, word in enumerate(words) if NAME.fullmatch(word)]
    if len(names) > 1 and words[names[0]].isupper() and len(words[names[0]]) > 2:  # "CEO Ana Kolb"
        names = names[1:]
    start = names[0] if names else 0
    role = [word for word in words[:start] if word.lower() not in ARTICLES]
    return (attribute_of(role), words[start:]) if role and len(role) <= 2 else ("", words)


def _of_class(thing: Thing, words: Sequence[str]) -> Iterator[Frame]:
    """Read a value with the noun that classes it: "plays the position of Y"."""
    at = next((i for i, word in enumerate(words[:-2]) if word == "the"), -1)
    if at == 2 and words[1] not in PREPOSITIONS:  # "receives all the water of the river"
        return
    if not 0 < at <= 2 or words[at + 2 : at + 3] != ["of"] or not words[at + 1].islower():
        return
    verb = concept_of(words[0].lower())
    if verb not in INCLUSIVE and words[0].islower():
        yield Frame(f"{verb} {concept_of(words[at + 1])}", thing, words[at + 3 :])


def _of_verb(words: Sequence[str]) -> Iterator[Frame]:
    """Read "X lives in Y", "X has its hub in Y", "X plays the position of Y", "Y wrote X"."""
    start = next((at for at, word in enumerate(words) if NAME.fullmatch(word)), len(words))
    start = 0 if thing_of(words[:1]) else start  # "ledger-sync uses Postgres as its database"
    if start == 0 and words[0].lower() in ARTICLES:
        start = next((at for at, word in enumerate(words) if at and NAME.fullmatch(word)), 0)
        if not start:  # "The platform team owns the ingress"
            yield from _of_common_agent(words)
            return
    for at in range(start + 1, len(words) - 1):
        word = words[at]
        if at < len(words) - 2 and word in _PLACED and words[at + 1] == _PLACED[word][0]:
            yield Frame(_PLACED[word][1], thing_of(words[:at]), words[at + 2 :])
        elif (words[at + 1] == "been" and word in ("has", "have")) or word == "been":
            continue
        elif word == "has" and words[at + 1] in ARTICLES and "in" in words[at + 2 :]:
            till = words.index("in", at + 2)
            yield Frame(attribute_of(words[at + 2 : till]), thing_of(words[:at]), words[till + 1 :])
        elif word in _GIVEN and (till := _as_its(words, at)):
            value = words[at + 1 : till]
            yield Frame(attribute_of(words[till + 2 :]), _thing(words[:at]), value)
        elif stem(PAST.get(word, word)) in BY and not word.endswith("ly"):
            thing = _thing(words[at + 1 :])
            if not thing.is_named or is_name_phrase(words[at + 1 :]):
                yield Frame(f"by {base_of(word)}", thing, words[:at])
            return
        elif stem(words[at + 1]) in BY and word.islower() and not words[at + 1].endswith("ly"):
            continue  # "the Platform team owns it"
        elif word.islower() and word not in LINKS and word not in IN_NAMES:
            yield from _of_class(thing_of(words[:at]), words[at:])
            return


def _of_common_agent(words: Sequence[str]) -> Iterator[Frame]:
    """Read "the platform team owns the ingress", where nothing has a name."""
    for at in range(2, len(words) - 1):
        if stem(PAST.get(words[at], words[at])) in BY:
            yield Frame(f"by {base_of(words[at])}", _thing(words[at + 1 :]), words[:at])
            return


def _as_its(words: Sequence[str], verb: int) -> int:
    """Return the position of "as" in "has Remol as its capital", 0 without it."""
    found = (
        at
        for at in range(verb + 2, len(words) - 2)
        if words[at] == "as" or words[at : at + 2] in (["for", "its"], ["for", "their"])
    )
    return next((at for at in found if words[at + 1] in ARTICLES), 0)


def _description(words: Sequence[str]) -> tuple[str, Thing] | None:
    """Return attribute and thing of "the capital of X", "X's capital"."""
    for at, word in enumerate(words[:-1]):
        if POSSESSIVE.search(word) and words[at + 1].islower():
            owner = [*words[:at], POSSESSIVE.sub("", word)]
            return attribute_of(words[at + 1 :]), _thing(owner)
    if words[0].lower() not in ARTICLES:
        return None
    of = _led_by_of(words)
    if of and words[of + 1] in ARTICLES:
        thing = _thing(words[of + 1 :])
        return (attribute_of(words[1:of]), thing) if thing else None
    led_at = next((at for at, word in enumerate(words) if word in LINKS), 0)
    runs = runs_of_names(words, led_at + 1)
    if len(runs) != 1:
        return None
    first, last = runs[0]
    link = next((at for at in range(first - 1, 1, -1) if words[at] in LINKS), 0)
    about = [*words[1 : link or first], *words[last + 1 :]]
    is_led = bool(link) or len(words) > last + 2 or words[first - 1] in ("that", "where")
    thing = _thing(words[link + 1 if link else first : last + 1])
    return (attribute_of(about), thing) if is_led else None


def _led_by_of(words: Sequence[str]) -> int:
    """Return the position of the "of" before the thing: "the year of birth of X", 0 without it."""
    links = [at for at, word in enumerate(words[:-1]) if word in LINKS and at > 1]
    ofs = [at for at in links if words[at] == "of"]
    definite = (at for at in (*ofs, *links) if words[at + 1] in ARTICLES)
    return next(definite, ofs[-1] if ofs else 0)


def _thing(words: Sequence[str]) -> Thing:
    """Return a thing by its name, or by the concepts of its words."""
    return thing_of(words) or common_thing_of([word.lower() for word in words])
