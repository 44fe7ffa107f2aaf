"""Ways of doing that exclude each other: to keep or to discard, to refuse or to accept.

Phrases rather than words, which the lexicon cannot hold; general English. The detective reads
them over neighbours that tell of one thing in other words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_FAMILIES: Final[dict[str, tuple[str, str]]] = {
    "kept or discarded": (
        r"keeps?|kept|retain\w*|stays?|stored|remains?|survives?|archived?|preserved?",
        r"wip(?:e|es|ed)|delet\w+|purg\w+|shred\w*|binned|discard\w*|thrown?|remov\w+|left\s+out|"
        r"leave\s+out|empt(?:y|ies|ied)|nothing\s+is\s+kept|cleared|destroyed|dropped",
    ),
    "refused or accepted": (
        r"reject\w*|refus\w+|den(?:y|ied|ies)|forbid\w*|forbidden|banned|prohibited|turned\s+away|"
        r"sent\s+(?:back|home)|not\s+(?:permitted|allowed|accepted)|(?:do|does)\s+not\s+(?:take|accept)|"
        r"no\s+\w+\s+(?:is|are)\s+(?:served|allowed|accepted)",
        r"accept\w*|allow\w*|permit(?:s|ted)?|welcome|hands?\s+back|returns?\s+the|answers?\s+20\d|"
        r"are\s+fine|approve[sd]|let\s+in|serves?|pours?",
    ),
    "automatic or by hand": (
        r"automatic\w*|on\s+(?:its|their)\s+own|itself|unattended|by\s+themselves|scheduler|cron",
        r"by\s+hand|manual\w*|operator|press(?:es)?|button|on\s+request|only\s+when",
    ),
    "fixed or edited": (
        r"never\s+(?:altered|changed|edited|touched|modified)|immutable|append.only|read.only",
        r"edits?|edited|overwrit\w+|in\s+place|alters?|rewrites?",
    ),
    "once or repeatedly": (
        r"a\s+single\s+time|exactly\s+once|only\s+once|one\s+time\s+only|never\s+twice",
        r"more\s+than\s+once|repeated\w*|several\s+times|many\s+times|at\s+least\s+once",
    ),
    "free or paid": (
        r"free\s+of\s+charge|no\s+charge|nobody\s+(?:is\s+charged|pays)|on\s+the\s+house|for\s+free|"
        r"nothing\s+is\s+charged",
        r"charged?|pays?|off\s+(?:their|your|his|her)\s+pay|costs?|fees?|billed",
    ),
    "needed or optional": (
        r"must|required|mandatory|obligatory|needs?\s+(?:a|an|the)|always",
        r"optional|may\s+skip|not\s+(?:needed|required|necessary)|without\s+(?:a|an|any)|no\s+need",
    ),
}
_COMPILED: Final = {
    name: tuple(re.compile(rf"\b(?:{side})\b", re.IGNORECASE) for side in sides)
    for name, sides in _FAMILIES.items()
}


@lru_cache(maxsize=32768)
def _sides(text: str) -> frozenset[tuple[str, int]]:
    """Return (family, side) where a text takes one side of a family alone."""
    found = set()
    for name, patterns in _COMPILED.items():
        taken = [side for side, pattern in enumerate(patterns) if pattern.search(text)]
        if len(taken) == 1:
            found.add((name, taken[0]))
    return frozenset(found)


def excluding_ways(a: str, b: str) -> str:
    """Return the family in which two texts take opposite sides, "" when there is none."""
    mine, theirs = dict(_sides(a)), dict(_sides(b))
    return next((n for n in sorted(mine) if n in theirs and mine[n] != theirs[n]), "")
