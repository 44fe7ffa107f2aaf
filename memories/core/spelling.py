"""Differences of spelling that say nothing, and the case of units, which does.

The lowest layer of claim comparison: characters, no words.
"""

from __future__ import annotations

import re
import unicodedata

from memories.core.number_words import NUMBER_WORDS
from memories.core.symbols import fold, folded_symbol

# Characters that nobody sees: the default-ignorable ones of Unicode.
UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_UNSEEN = re.compile(UNSEEN)
_FULL_WIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
# One character for one character, so that positions in the text stay valid.
_TYPOGRAPHY = _FULL_WIDTH | str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201b": "'", "\u2032": "'", "`": "'",
        "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u00ab": '"', "\u00bb": '"',
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2212": "-",
        "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u00b5": "\u03bc", "\u2126": "\u03a9",
        "\u212a": "K", "*": " ", "\uff0a": " ", "\uff40": "'", "\x00": " ",
    }
)  # fmt: skip

# What a statement may be written with or without.
_MARKS = _TYPOGRAPHY | str.maketrans(
    {"*": "*", "`": "`", "\x00": "\x00", "\u2013": "-", "\u2014": "-", "\uff0a": "*",
     "\uff40": "`"}
)  # fmt: skip
_CLOSING = " .!,;:\u2026\u3002\uff01"
# A word behind a number, in digits or words, or behind "per": where the case of a unit counts.
_COUNTED = "|".join(sorted([*NUMBER_WORDS, "hundred", "thousand", "million", "dozen", "per"]))
_BEHIND_NUMBER = re.compile(
    rf"(?:[\d\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079]([ -]?)|\b(?:{_COUNTED})[ -])"
    r"([^\W\d_]++(?:/[^\W\d_]++)*+)",
    re.IGNORECASE,
)
_BLANKS = re.compile(r"\s{2,}+|[^\S \n]")
_REPEATED = re.compile(r"([^\w\s])\1{3,}+")


def normalise(text: str) -> str:
    """Unify quotes, dashes and blanks, one character for one character."""
    return text.translate(_TYPOGRAPHY)


def collapse(text: str) -> str:
    """Shorten runs: of white space to one blank or line break, of one sign to three.

    Characters that nobody sees go.

    What every rule reads has gone through here, so that patterns need to look for one blank only.
    Positions change: do it before anything is read, and count in what comes out.
    """
    return _REPEATED.sub(r"\1\1\1", _BLANKS.sub(_blank, without_unseen(text)))


def _blank(match: re.Match[str]) -> str:
    return "\n" if "\n" in match[0] else " "


def without_unseen(text: str) -> str:
    """Return a text without the characters that nobody sees."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def same_letters(a: str, b: str) -> bool:
    """True when two texts differ by what `letters` leaves out only."""
    return letters(a) == letters(b)


def letters(text: str) -> str:
    """Return a text without differences that say nothing.

    Left out are differences of case, white space, typography, width, closing marks and characters
    that nobody sees. A closing question mark stays, and so does the case that tells one unit behind
    a number from another ("5 MB", "5 Mb").

    Stored hashes are made of it: whoever changes what comes out adds a migration that hashes what
    is stored again (see 0016_hashes_of_statements).
    """
    plain = unicodedata.normalize("NFC", without_unseen(text).translate(_MARKS))
    folded = fold(_BEHIND_NUMBER.sub(_with_folded_unit, " ".join(plain.split())))
    return folded.rstrip(_CLOSING) or folded


def _with_folded_unit(match: re.Match[str]) -> str:
    """Write a number with the unit behind it so that the unit survives folding."""
    lead = match[0][: match.start(2) - match.start()]
    return lead + folded_unit(match[2], attached=match[1] == "")


def units_in(text: str) -> dict[int, bool]:
    """Where what may be a unit begins in a text, and whether it is written onto its number."""
    return {found.start(2): found[1] == "" for found in _BEHIND_NUMBER.finditer(text)}


def folded_unit(unit: str, *, attached: bool) -> str:
    """Fold the case of what may be a unit, each symbol of "mJ/kg" for itself."""
    over, *below = unit.split("/")
    # "3 A/B tests": nothing is counted per bit.
    parts = [fold(part) if part in "bB" else folded_symbol(part) for part in below]
    return "/".join([folded_symbol(over, attached=attached), *parts])
