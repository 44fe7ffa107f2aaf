"""Split texts into sentences and tokens, and stem words.

The meaning of words is not used here, except for the symbols of units, whose case counts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from threading import Lock
from typing import NamedTuple

import snowballstemmer

from memories.core.spelling import folded_unit, units_in
from memories.core.symbols import CAPITAL

_MAX_STEMMED = 40
_STEMMER = snowballstemmer.stemmer("english")
_ONE_AT_A_TIME = Lock()  # the stemmer holds the word that it works on

_PIECE = re.compile(r"\w++|[^\w\s]")
_ABBREVIATIONS = frozenset(
    ["e.g", "i.e", "etc", "vs", "approx", "no", "dr", "mr", "mrs", "ms", "st", "prof", "ca", "cf",
     "fig", "inc", "ltd", "incl", "excl", "max", "min", "a.m", "p.m", "u.s", "u.k"]
)  # fmt: skip
# Words that go on with a sentence whose subject ends in a mark: "Cork City F.C. is", "Yahoo! was".
_GOES_ON = frozenset(["is", "are", "was", "were", "has", "have", "had"])
_SHORT_NAMES = frozenset(["bros", "co", "corp", "jr", "sr", "plc"])
_BEFORE_NAMES = frozenset(["by", "is", "was", "of", "and", "from", "to", "with", "for"])
_DOTTED = re.compile(r"(?:[A-Za-z]\.){0,5}[A-Z]")
_INITIAL = re.compile(r"[A-Z]\.")
# What a letter tells apart, and words that begin another sentence: "We chose Plan B. It …".
_LETTERED = frozenset(
    ["plan", "type", "group", "class", "team", "room", "hall", "gate", "section", "vitamin",
     "grade", "level", "phase", "zone", "block", "option", "version", "appendix", "hepatitis",
     "crew"]
)  # fmt: skip
_OPENERS = frozenset(
    ["the", "a", "an", "it", "he", "she", "they", "we", "i", "you", "this", "that", "these", "our",
     "in", "on", "at", "if", "when", "please", "all", "no", "there", "then", "but", "and"]
)  # fmt: skip
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++[\"')\]]*+\s++|\n++|;\s++")
BULLET = re.compile(r"^\s*(?!>\s*\d)(?:[-\u2022#>]+|\d{1,2}[.)])\s+")

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

    `is_possessive`: the ending "'s" was removed ("Bob's" is "Bob"). `written` are the words of the
    text where `text` is another spelling or stands for a phrase, else "".
    """

    text: str
    lower: str
    kind: str
    start: int
    end: int
    is_possessive: bool = False
    written: str = ""


def stem(word: str) -> str:
    """Return the Snowball (Porter2) stem of a lower-case word; leave digits and symbols as is."""
    if len(word) > _MAX_STEMMED or not word.isascii() or not word.isalpha():
        return word
    return _stem(word)


@lru_cache(maxsize=65536)  # of short words only, so that no text can fill the memory
def _stem(word: str) -> str:
    with _ONE_AT_A_TIME:
        return str(_STEMMER.stemWord(word))


def stems(words: str) -> frozenset[str]:
    """Return the stems of a blank-separated list of words."""
    return frozenset(stem(word) for word in words.split())


def count_pieces(text: str, most: int) -> int:
    """Count words and signs of a text, at most ``most + 1``."""
    return sum(1 for _ in islice(_PIECE.finditer(text), most + 1))


def sentences(text: str) -> list[str]:
    """Split a normalised text at sentence ends, semicolons and line breaks."""
    parts = (text[start:end] for start, end in sentence_spans(text))
    stripped = (BULLET.sub("", part).strip() for part in parts)
    return [part for part in stripped if part]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text begin and end; together they are the whole text."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        before = text[max(start, match.start() - 12) : match.start()].split()
        behind = text[match.end() : match.end() + 12].split()
        if _is_within(match[0], before, behind[0] if behind else ""):
            continue
        spans.append((start, match.end()))
        start = match.end()
    spans.append((start, len(text)))
    return spans


def _is_within(mark: str, before: list[str], following: str) -> bool:
    """Return whether a mark between words stands inside a sentence.

    Behind a short form, before the verb of a subject that ends in a mark, and in "J. K. Rowling".
    """
    last = before[-1].lstrip("(\"'") if before else ""
    if not mark.startswith("."):
        return mark.startswith("!") and following in _GOES_ON
    if last.lower() in _ABBREVIATIONS:
        return True
    if following in _GOES_ON:
        return last.lower() in _SHORT_NAMES or bool(_DOTTED.fullmatch(last))
    return len(last) == 1 and last.isupper() and _is_initial(before, following)


def _is_initial(before: list[str], following: str) -> bool:
    """Return whether a capital letter with a full stop begins a name: "by A. Kolb".

    ``before`` ends with the letter, ``following`` is the next word.
    """
    if not following[:1].isupper() or following.lower() in _OPENERS:
        return False
    leading = before[-2] if len(before) > 1 else ""
    if leading.islower():  # not in "zone C. Ana has the key"
        return leading in _BEFORE_NAMES
    if not leading:  # "A. Install it" may be an item of a list
        return bool(_INITIAL.fullmatch(following))
    return leading.lower() not in _LETTERED


def tokenise(sentence: str) -> list[Token]:
    """Split one normalised sentence into tokens; contractions and plain compounds come apart."""
    tokens: list[Token] = []
    units = units_in(sentence)
    for match in _TOKEN.finditer(sentence):
        kind = match.lastgroup or "symbol"
        if kind == "word":
            known = len(tokens)
            _append_word(tokens, match[0], match.start())
            attached = units.get(match.start())
            if attached is not None and len(tokens) > known:
                tokens[known] = _keep_case(tokens[known], attached=attached)
        else:
            tokens.append(Token(match[0], match[0].lower(), kind, match.start(), match.end()))
    return tokens


def _keep_case(token: Token, *, attached: bool) -> Token:
    """Keep the case of a unit after a number where it has a meaning, as in `letters`."""
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
    if "'" in lower and lower != "o'clock":
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
    """Append two words for "squash-merged", one for "auto-scaling" in any spelling."""
    offset = start
    carried = ""
    for part in text.split("-"):
        end = offset + len(part)
        if part.lower() in _GLUE_PREFIXES and not carried and end < start + len(text):
            carried = part
        elif part:
            joined = carried + part
            written = f"{carried}-{part}" if carried else ""
            at = end - len(part)
            tokens.append(Token(joined, joined.lower(), "word", at, end, written=written))
            carried = ""
        offset = end + 1
