"""Papers and objects that are told apart by number: "signs for slip 12", "inspects hydrant 41"."""

from __future__ import annotations

import re
from typing import Final

_NUMBERED: Final = re.compile(
    r"(?<!\bis\s)(?<!\bare\s)\b(?P<noun>slip|order|invoice|ticket|form|letter|file|case|label|parcel|"
    r"package|crate|box|hydrant|door|window|lock|valve|pump|meter|lamp|fence|tree|plot|page|chapter|"
    r"episode|lesson|exercise|bus|coach|tram|flight)\s(?P<number>\d{1,6})\b"
)
# "The tax return uses form 12": one at a time.
_HAS_ONE: Final = re.compile(r"\b(?:uses?|needs?|requires?|follows?|keeps?|opens?|shows?|runs?)\b")


def number_objects(a: str, b: str) -> bool:
    """Return whether two sentences tell two objects of one kind apart by their numbers.

    Somebody may deal with both of them.
    """
    if _HAS_ONE.search(a):
        return False
    mine, theirs = _numbers_of(a), _numbers_of(b)
    return any(mine[noun] != theirs[noun] for noun in mine.keys() & theirs.keys())


def _numbers_of(text: str) -> dict[str, str]:
    return {match["noun"]: match["number"] for match in _NUMBERED.finditer(text)}
