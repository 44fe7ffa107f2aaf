"""Remove differences of spelling without meaning; keep the case of units, which has one.

The lowest layer of claim comparison: characters, not words.
"""

from __future__ import annotations

import re
import unicodedata

from memories.core.number_words import NUMBER_WORDS
from memories.core.symbols import fold, folded_symbol

# Invisible characters: the default-ignorable ones of Unicode.
INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_INVISIBLE = re.compile(INVISIBLE)
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

# Marks that do not change a statement.
_MARKS = _TYPOGRAPHY | str.maketrans(
    {"*": "*", "`": "`", "\x00": "\x00", "\u2013": "-", "\u2014": "-", "\uff0a": "*",
     "\uff40": "`"}
)  # fmt: skip
_CLOSING = " .!,;:\u2026\u3002\uff01"
# A word after a number, in digits or words, or after "per": there the case of a unit counts.
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
    """Shorten runs of white space to one blank or line break, of one sign to three.

    Invisible characters are removed. All rules read collapsed text, so that their patterns need to
    match one blank only. Positions change: collapse first, and use positions in the result.
    """
    return _REPEATED.sub(r"\1\1\1", _BLANKS.sub(_blank, without_invisible(text)))


def _blank(match: re.Match[str]) -> str:
    return "\n" if "\n" in match[0] else " "


def without_invisible(text: str) -> str:
    """Return a text without invisible characters."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def same_letters(a: str, b: str) -> bool:
    """Return whether two texts differ only in what `letters` removes."""
    return letters(a) == letters(b)


def letters(text: str) -> str:
    """Return a text without differences of spelling that do not change its meaning.

    It removes differences of case, white space, typography, width and closing marks, and invisible
    characters. A closing question mark stays, and so does the case that distinguishes units after
    a number ("5 MB", "5 Mb").

    Stored hashes are made of the result: a change of it needs a migration that computes them again
    (see 0016_hashes_of_statements).
    """
    plain = unicodedata.normalize("NFC", without_invisible(text).translate(_MARKS))
    folded = fold(_BEHIND_NUMBER.sub(_with_folded_unit, " ".join(plain.split())))
    return folded.rstrip(_CLOSING) or folded


def _with_folded_unit(match: re.Match[str]) -> str:
    """Write a number with its unit so that the unit's case survives folding."""
    lead = match[0][: match.start(2) - match.start()]
    return lead + folded_unit(match[2], attached=match[1] == "")


def units_in(text: str) -> dict[int, bool]:
    """Return where possible units begin in a text, and whether each is attached to its number."""
    return {found.start(2): found[1] == "" for found in _BEHIND_NUMBER.finditer(text)}


def folded_unit(unit: str, *, attached: bool) -> str:
    """Fold the case of a possible unit, each symbol of "mJ/kg" separately."""
    over, *below = unit.split("/")
    # "3 A/B tests": nothing is counted per bit.
    parts = [fold(part) if part in "bB" else folded_symbol(part) for part in below]
    return "/".join([folded_symbol(over, attached=attached), *parts])


def bare_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without the signs around them.

    A word of signs alone is "", so that the places are those of `text.split()`.
    """
    return [word.strip(".,;:!?()\"'").lower() for word in normalise(text).split()]
