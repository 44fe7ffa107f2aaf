"""Verbs and fixed phrases that say what a noun says: "X is licensed under Y", "the licence of X".

Each leads from the thing to its value. Adverbs between the words of a phrase, tense and number do
not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memories.core.function_words import words_of
from memories.core.slot_nouns import attribute_of
from memories.core.slot_types import PLACE, SORT
from memories.core.slot_words import is_year

_PHRASES: Final = {  # by attribute, as a noun names it
    "employer": "works for|works at|is employed by|is employed at|is on the payroll of",
    "profession": "is employed as|earns a living as|earns her living as|earns his living as|"
    "makes a living as",
    "citizenship": "holds the citizenship of|is a national of",
    "manager": "reports to|is managed by",
    "doctor": "is under the care of",
    "licence": "is licensed under|is released under|is distributed under",
    "record label": "is signed to",
    "landlord": "is rented from|is leased from",
    "origin": "originates in|originated in",
    "independence": "becomes independent in|became independent in|gains independence in",
    "namesake": "is named after|is named for|takes its name from",
    "entry into force": "comes into force in|comes into force on|takes effect in|takes effect on",
    "headquarters": "is run from",
    "supplier": "is supplied by",
    "insurer": "is insured with|is insured by",
    "database": "stores its data in|keeps its data in|persists to",
    "implementation language": "is implemented in|is coded in|is programmed in",
    "birth": "comes into the world in|comes into the world at",
    "grave": "lies at rest in|is laid to rest in",
    "mouth": "drains into|discharges into",
    "material": "is made of|is built of|is built from|is built out of",
    "stadium": "plays its home games at|plays its home matches at|plays its home games in|"
    "plays their home games at|plays their home matches at|plays all its home games at|"
    "plays all their home games at",
    "home port": "sails out of its home port|sails from its home port",
    "weight": "weighs|tips the scales at",
    "capacity": "seats|has seats for|holds up to|holds at most|holds a maximum of|holds exactly",
    "address": "is reachable at|answers at|is reached at|can be reached at",
    "extension": "is reached on extension|can be reached on extension",
    "opening year": "opens in|opens to the public in",
    "founding year": "is founded in|is established in|is set up in|is started in|dates from|"
    "dates back to",
    PLACE: "hangs in|is on display in|is on display at|is exhibited in|is exhibited at|"
    "is stored in|is stored at|is kept in|is kept at|is housed in|is filed in|"
    "is archived in|is installed in|is parked in",
    SORT: "is on|is at|is in|is placed in|belongs to|runs on|runs in|runs at|listens on|"
    "is exposed on|is served on|subscribes to|is subscribed to|is hosted in|is pinned to|"
    "is deployed in|is deployed to|sits in|departs from|leaves from|is assigned to|uses|"
    "is covered by|is located in|is located on",
}
_OF_YEARS: Final = frozenset(map(attribute_of, (["founding", "year"], ["opening", "year"])))
_LEADS: Final = {
    tuple(phrase.split()): name if name in (PLACE, SORT) else attribute_of(name.split())
    for name, phrases in _PHRASES.items()
    for phrase in phrases.split("|")
}
_LONGEST: Final = max(map(len, _LEADS))
_FINITE: Final = {words[0].removesuffix("s"): words[0] for words in _LEADS} | {
    "came": "comes", "opened": "opens",
    "are": "is", "was": "is", "were": "is", "have": "has", "had": "has"
}  # fmt: skip
_IDLE: Final = words_of(
    "been currently now still always permanently entirely officially exclusively solely full-time"
    " part-time first"
)
# Words behind the value that say which attribute it is: "X is a greyhound by breed".
_BEHIND: Final = {"breed": "breed", "profession": "profession", "trade": "profession",
                  "occupation": "profession", "nationality": "citizenship"}  # fmt: skip


def find_lead(words: Sequence[str]) -> tuple[str, int, int, int] | None:
    """Return the attribute, where the thing ends, and where the value begins and ends.

    The first phrase of a sentence leads from the thing, the longest at its place.
    """
    plain = list(_plain(words))
    if len(words) > 4 and words[-2] == "by" and words[-1] in _BEHIND:
        found = next((at for at, word in plain if word == "is" and at), 0)
        return (attribute_of([_BEHIND[words[-1]]]), found, found + 1, -2) if found else None
    for at in range(1, len(plain)):
        for length in range(min(_LONGEST, len(plain) - at - 1), 0, -1):
            attribute = _LEADS.get(tuple(word for _, word in plain[at : at + length]), "")
            value = plain[at + length][0]
            if plain[at - 1][1] == "is":  # "was opened in"
                continue
            if attribute and (attribute not in _OF_YEARS or is_year(words[value:])):
                return attribute, plain[at - 1][0] + 1, value, len(words)
    return None


def _plain(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield position and present form of the words that are no adverbs; "has been" is "is"."""
    for at, word in enumerate(words):
        if word in ("has", "have", "had") and words[at + 1 : at + 2] == ["been"]:
            yield at, "is"
        elif word not in _IDLE:
            yield at, _FINITE.get(word, word)
