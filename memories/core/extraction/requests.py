"""Read what the user asks to remember: the words behind the request, and what they lack.

A request is never refused. An order ("always approve refunds") is no fact, so the memory says who
asked to remember it; words without a referent ("it must stay") are kept with little confidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile
from typing import Final

from memories.core.extraction import cues
from memories.core.extraction.features import MAX_CHARS, Described, is_imperative
from memories.core.extraction.labels import match_label, names_another
from memories.core.extraction.request_forms import request_at
from memories.core.extraction.request_grammar import find_request, without_request
from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    FORMS_OF_BE,
    PREPOSITIONS,
    PRONOUNS,
    words_of,
)
from memories.core.spelling import bare_words, normalise
from memories.core.vocabulary import VERBS, lemma

POINTERS: Final = words_of("he she it they that this those these him her them both one ones")
_ONLY_REQUEST_WORDS: Final = 5  # "Please write that down.": what to remember stands before it
_EMPTY: Final = POINTERS | words_of(
    "remember note write down please keep in mind make a want put get jot record for the of take"
    " store save following"
    " written noted recorded don't forget too as well so and ok"
)
# "It must …", "their …", "that is …"; not "it is forbidden to …" and "that server …".
_PERSONAL: Final = words_of(
    "it he she they him her them its his their it's he's she's they're it'll he'll she'll they'll"
)
_DEMONSTRATIVE: Final = words_of("this that these those")
_EXPLETIVE: Final = re.compile(
    r"it(?:'s| is| was| will be) (?:\w{2,20} ){1,3}(?:to|that|if|when)\b", re.IGNORECASE
)
# "I said no.": to what?
_BARE_ANSWER: Final = re.compile(
    r"(?:\S{1,20} ){1,3}(?:said|say|says|told \w{1,20}|answered|meant) (?:yes|no|so|that|it)\W*$",
    re.IGNORECASE,
)

# Behind it stand the words of somebody else: "the page says to store the following: …".
_TOLD: Final = re.compile(
    r"\b(?<!\bi )(?<!\bwe )(?:says|said|asks|asked|tells|told|wants|wanted|instructs|instructed"
    r"|claims)(?: \w{1,20}){0,3} to ",
    re.IGNORECASE,
)
_ACCORDING: Final = re.compile(r"according to (?!me\b|us\b|our\b)", re.IGNORECASE)

_LEADING: Final = frozenset(["always", "never", "please", "now", "also", "do", "not", "don't"])


def is_of_others(text: str) -> bool:
    """Return whether a request is in words that its speaker quotes, or reports."""
    plain = normalise(text[:MAX_CHARS])
    label = match_label(plain)
    if label is not None and names_another(label):
        return request_at(plain, label.end()) is not None
    if _ACCORDING.match(plain):
        return find_request(plain) is not None
    told = (found.end() for found in _TOLD.finditer(plain))
    wrote = (found.end() for found in cues.REPORTING.finditer(plain))
    return any(request_at(plain, at) is not None for at in (*told, *wrote))


def names_nothing(described: Described) -> bool:
    """Return whether a request has no words but those of the request."""
    rest = without_request(described.statement.text)
    return not rest or (len(described.words) <= _ONLY_REQUEST_WORDS and len(_content(rest)) < 2)


def announces(text: str) -> bool:
    """Return whether a text asks to remember what follows it: "Store the following."."""
    found = find_request(text)
    return found is not None and found.is_bare and found.points_on


def is_empty(text: str) -> bool:
    """Return whether a text has only words of a request."""
    return not _content(text)


def _content(text: str) -> list[str]:
    return [word for word in text.split() if word.lower().strip(".,!:") not in _EMPTY]


def lacks_referent(text: str) -> bool:
    """Return whether a text begins with a pronoun for something that it does not name."""
    words = [word.strip(".,;:!?").lower() for word in normalise(text[:MAX_CHARS]).split()]
    if not words or _EXPLETIVE.match(normalise(text[:MAX_CHARS])):
        return False
    is_pronoun = len(words) > 1 and words[1] in AUXILIARIES
    points = words[0] == "that's" or (words[0] in _DEMONSTRATIVE and is_pronoun)
    return words[0] in _PERSONAL or points or is_bare_answer(text)


def is_bare_answer(text: str) -> bool:
    """Return whether a text reports an answer without its question."""
    return _BARE_ANSWER.match(normalise(text[:MAX_CHARS])) is not None


def is_order(described: Described) -> bool:
    """Return whether a statement tells its reader to do or to store something."""
    if described.statement.kind != "prose":
        return False
    is_told = bool(described.features["imperative"])
    return is_told or _orders(described.statement.text, described.words)


def _orders(text: str, words: Sequence[str]) -> bool:
    """Return whether a text that is no plain imperative asks or tells to do something."""
    asked = find_request(text)
    if asked is not None and not asked.is_heading:
        return True
    rest = list(dropwhile(lambda word: word in _LEADING, words))
    return (
        len(rest) > 1
        and len(rest) < len(words)
        and rest[0] in VERBS
        and rest[0] == lemma(rest[0])
        and rest[0] not in FORMS_OF_BE
    )


def orders_something(described: Described) -> bool:
    """Return whether what is to be remembered is an order, or something to do."""
    text = described.statement.text
    rest, asked = without_request(text), find_request(text)
    if asked is not None and asked.is_thing:
        return True
    if rest == text:
        return False
    words = [word.strip(".,;:!?").lower() for word in normalise(rest[:MAX_CHARS]).split()]
    if len(words) > 1 and (words[0] == "to" or _begins_without_subject(words)):
        return True
    if described.statement.kind != "prose":
        return False
    return is_imperative(rest) or _orders(rest, bare_words(rest[:MAX_CHARS]))


def _begins_without_subject(words: Sequence[str]) -> bool:
    """Return whether a word without an ending stands behind "always", "never" or "don't"."""
    is_told = words[0] in _TELLING or words[:2] == ["do", "not"]
    told = words[2 if words[0] == "do" else 1 :]
    return is_told and bool(told) and told[0] not in _NO_VERB and not told[0].endswith(_ENDINGS)


_TELLING: Final = words_of("always never don't")
_NO_VERB: Final = DETERMINERS | PRONOUNS | AUXILIARIES | PREPOSITIONS
_ENDINGS: Final = ("s", "ed", "ing")
