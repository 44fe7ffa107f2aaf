"""Text → sentences → tokens → stems.

The lowest layer of claim comparison. Nothing here knows what a word means, but for the symbols of
units, whose case counts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import snowballstemmer  # type: ignore[import-untyped]

from memories.core.symbols import CAPITAL, fold, folded_symbol
from memories.core.units import NUMBER_WORDS

_MAX_STEMMED = 40
_STEMMER = snowballstemmer.stemmer("english")

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
_PIECE = re.compile(r"\w++|[^\w\s]")
_REPEATED = re.compile(r"([^\w\s])\1{3,}+")
_ABBREVIATIONS = frozenset(
    ["e.g", "i.e", "etc", "vs", "approx", "no", "dr", "mr", "mrs", "ms", "st", "prof", "ca", "cf",
     "fig", "inc", "ltd", "incl", "excl", "max", "min", "a.m", "p.m", "u.s", "u.k"]
)  # fmt: skip
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++[\"')\]]*+\s++|\n++|;\s++")
_BULLET = re.compile(r"^\s*(?!>\s*\d)(?:[-\u2022#>]+|\d{1,2}[.)])\s+")

_TOKEN = re.compile(
    r"(?P<iso>(?<![\w-])\d{4}-\d{2}(?:-\d{2})?(?![\w-]))"
    r"|(?P<clock>(?<![\w:])\d{1,2}:\d{2}(?::\d{2})?(?![\w:]))"
    r"|(?P<number>(?<![\w.])(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3},\d{1,2}(?![\d,])|\d{1,300})(?:\.\d{1,300})*)"
    r"|(?P<word>(?:(?<![/~.@#_])[/~.@#_]+(?=\w))?\w+(?:[._/:@+&'-]+\w+)*(?:\+\+|#|/(?=[\s.,;)]|$))?)"
    r"|(?P<symbol>>=|<=|->|!=|[^\w\s])"
)
_ACRONYMS = frozenset(["GET", "PUT", "IT", "US", "WHO", "AS"])
_RATE = re.compile(r"^([a-z]++)(/)(s|sec|second|min|minute|h|hr|hour|d|day|week|month|year)")
_SHORT_FORMS = frozenset(
    ["it's", "that's", "he's", "she's", "there's", "here's", "what's", "who's", "where's", "how's",
     "let's"]
)  # fmt: skip
_GLUE_PREFIXES = frozenset(
    ["auto", "re", "pre", "post", "non", "un", "co", "multi", "sub", "e", "anti", "de", "over"]
)


class Token(NamedTuple):
    """A piece of a sentence: `kind` is "word", "number", "iso", "clock" or "symbol".

    `is_possessive` tells of a word that has lost its ending ("Bob's" is "Bob").
    """

    text: str
    lower: str
    kind: str
    start: int
    end: int
    is_possessive: bool = False


def stem(word: str) -> str:
    """Snowball (Porter2) stem of a lower-case word; words with digits or symbols stay whole."""
    if len(word) > _MAX_STEMMED or not word.isascii() or not word.isalpha():
        return word
    return _stem(word)


@lru_cache(maxsize=65536)  # of short words only, so that no text can fill the memory
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


def stems(words: str) -> frozenset[str]:
    """Stems of a blank-separated list of words."""
    return frozenset(stem(word) for word in words.split())


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


def count_pieces(text: str, most: int) -> int:
    """Count words and signs of a text, at most up to ``most`` and one."""
    return sum(1 for _ in islice(_PIECE.finditer(text), most + 1))


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


def folded_unit(unit: str, *, attached: bool) -> str:
    """Fold the case of what may be a unit, each symbol of "mJ/kg" for itself."""
    over, *below = unit.split("/")
    # "3 A/B tests": nothing is counted per bit.
    parts = [fold(part) if part in "bB" else folded_symbol(part) for part in below]
    return "/".join([folded_symbol(over, attached=attached), *parts])


def sentences(text: str) -> list[str]:
    """Split a normalised text at sentence ends, semicolons and line breaks."""
    parts: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        before = text[max(start, match.start() - 12) : match.start()]
        last = before.rsplit(None, 1)[-1].lower() if before.strip() else ""
        if match[0].startswith(".") and last.lstrip("(\"'") in _ABBREVIATIONS:
            continue
        parts.append(text[start : match.end()])
        start = match.end()
    parts.append(text[start:])
    stripped = (_BULLET.sub("", part).strip() for part in parts)
    return [part for part in stripped if part]


def tokenise(sentence: str) -> list[Token]:
    """Split one normalised sentence into tokens; contractions and plain compounds come apart."""
    tokens: list[Token] = []
    units = {found.start(2): found[1] == "" for found in _BEHIND_NUMBER.finditer(sentence)}
    for match in _TOKEN.finditer(sentence):
        kind = match.lastgroup or "symbol"
        if kind == "word":
            known = len(tokens)
            _append_word(tokens, match[0], match.start())
            attached = units.get(match.start())
            if attached is not None and len(tokens) > known:
                tokens[known] = _cased(tokens[known], attached=attached)
        else:
            tokens.append(Token(match[0], match[0].lower(), kind, match.start(), match.end()))
    return tokens


def _cased(token: Token, *, attached: bool) -> Token:
    """Let a unit behind a number keep what only its case tells, as in `letters`."""
    folded = folded_unit(token.text, attached=attached)
    is_plain = CAPITAL not in folded or token.lower != token.text.lower()
    return token if is_plain else token._replace(lower=folded)


def _append_word(tokens: list[Token], text: str, start: int) -> None:
    lower = text.lower()
    end = start + len(text)
    if lower.endswith("n't"):
        head = {"can't": "can", "won't": "will", "shan't": "shall"}.get(lower, lower[:-3])
        tokens.append(Token(text[:-3], head, "word", start, end - 3))
        tokens.append(Token("not", "not", "word", end - 3, end))
        return
    if lower == "cannot":
        tokens.append(Token(text[:3], "can", "word", start, start + 3))
        tokens.append(Token("not", "not", "word", start + 3, end))
        return
    if tokens and tokens[-1].kind == "number" and (rate := _RATE.fullmatch(lower)):
        for group in (1, 2, 3):
            at = start + rate.start(group)
            kind = "symbol" if group == 2 else "word"
            written = text[rate.start(group) : rate.end(group)]  # "MB/s" is not "Mb/s"
            tokens.append(Token(written, rate[group], kind, at, start + rate.end(group)))
        return
    is_possessive = lower.endswith("'s") and lower not in _SHORT_FORMS
    if "'" in lower:
        base = lower.split("'", 1)[0]
        text, lower, end = text[: len(base)], base, start + len(base)
    if "-" in lower and lower.replace("-", "").isalpha():
        _append_compound(tokens, text, start)
        return
    if text == "A" and tokens:
        lower = "letter-a"  # "arm A", "plan A": a name, not the article
    if text in _ACRONYMS:
        lower = f"acronym-{lower}"  # "GET", "IT": no verb and no pronoun
    if lower:
        tokens.append(Token(text, lower, "word", start, end, is_possessive))


def _append_compound(tokens: list[Token], text: str, start: int) -> None:
    """ "squash-merged" becomes two words; "auto-scaling" one, however it is spelled."""
    offset = start
    carried = ""
    for part in text.split("-"):
        end = offset + len(part)
        if part.lower() in _GLUE_PREFIXES and not carried and end < start + len(text):
            carried = part
        elif part:
            joined = carried + part
            tokens.append(Token(joined, joined.lower(), "word", end - len(part), end))
            carried = ""
        offset = end + 1
