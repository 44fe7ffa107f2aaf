"""Split texts into the index terms of BM25, for memories and queries alike.

A term is a stemmed word (Snowball English, irregular forms first), a number, a whole identifier in
addition to its parts ("auth.session" is also "auth" and "session"), or a pair of neighbouring
characters of a script that is written without spaces. Accents, case and typography do not matter.
Postings are stored: a change of the terms needs a migration that indexes all memories again.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from memories.core.tokeniser import stem

MAX_TERM_CHARS = 64


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words(
    """
    a about after again all also am an and any are as at be been before being between both but by
    can could did do does doing done down during each few for from had has have having he her here
    hers herself him himself his how i if in into is it its itself just may me might more most must
    my myself no nor not of off on once only or other our ours ourselves out over own same shall she
    should so some such than that the their theirs them themselves then there these they this those
    through to too under until up us very was we were what when where which while who whom whose why
    use used uses using will with would you your yours yourself yourselves
    don didn doesn isn wasn aren weren won wouldn couldn shouldn hasn haven hadn ain ll ve re s t m
    d
    """
)

# Irregular forms and their base forms. Not the lexicon of claim comparison, because that
# changes with the comparison, while these are part of stored postings.
_IRREGULAR = {
    form: base
    for line in """
        go went gone goes; buy bought; bring brought; think thought; teach taught; catch caught
        seek sought; fight fought; run ran; begin began begun; swim swam swum; sing sang sung
        drink drank drunk; ring rang rung; sit sat; win won; find found; get got gotten
        give gave given; take took taken; make made; say said; see saw seen; know knew known
        grow grew grown; throw threw thrown; fly flew flown; draw drew drawn
        withdraw withdrew withdrawn; write wrote written; overwrite overwrote overwritten
        ride rode ridden; drive drove driven; choose chose chosen; speak spoke spoken
        break broke broken; wake woke woken; wear wore worn; tear tore torn; eat ate eaten
        fall fell fallen; rise rose risen; feel felt; leave left; lose lost; meet met; keep kept
        sleep slept; spend spent; send sent; build built; rebuild rebuilt; lend lent; tell told
        sell sold; hold held; hear heard; stand stood; understand understood; lead led; feed fed
        pay paid; come came; become became; shoot shot; stick stuck; strike struck; hide hid hidden
        bite bit bitten; shake shook shaken; forget forgot forgotten; forgive forgave forgiven
        dig dug; hang hung; light lit; slide slid; swing swung; steal stole stolen
        freeze froze frozen; lay laid; mean meant; deal dealt; dream dreamt; learn learnt
        bend bent; blow blew blown; bind bound; show shown; prove proven; spin spun; sink sank sunk
        shrink shrank shrunk; swear swore sworn; sweep swept; creep crept; wind wound; bleed bled
        child children; man men; woman women; foot feet; tooth teeth; mouse mice; goose geese
        index indices; criterion criteria; analysis analyses; life lives; wife wives; knife knives
        """.replace(";", "\n").splitlines()
    for base, *forms in [line.split() or [""]]
    for form in forms
}

_COMBINING = re.compile("[\u0300-\u036f]")
_THOUSANDS = re.compile(r"(?<=\d)[,'\u2019\u202f](?=\d{3}(?!\d))")
_APOSTROPHE = re.compile("['\u2019\u02bc]")
# A run of word characters, joined by the marks in names of hosts, paths, versions and settings.
_NAME = re.compile(r"\w+(?:[.\-/:@+]\w+)*")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_PART = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER_AND_UNIT = re.compile(r"^(\d++)([a-z]++)$")
_ORDINAL = frozenset(["st", "nd", "rd", "th"])


def terms(text: str) -> Counter[str]:
    """Count the index terms of ``text``; the total is the length that BM25 uses."""
    return Counter(tokens(text))


def tokens(text: str) -> Iterator[str]:
    """Yield the index terms of ``text`` in order, at most 64 characters each, no stop words."""
    for match in _NAME.finditer(_plain(text)):
        name = match.group()
        parts = [part for piece in _PART.findall(name) for part in _split(piece)]
        for part in parts:
            yield part[:MAX_TERM_CHARS]
        whole = name.lower()[:MAX_TERM_CHARS]
        if _is_identifier(name) and whole not in parts:
            yield whole


def _plain(text: str) -> str:
    """Fold compatibility forms, remove accents and thousands separators; keep case."""
    folded = _COMBINING.sub("", unicodedata.normalize("NFKD", text))
    return _APOSTROPHE.sub(" ", _THOUSANDS.sub("", unicodedata.normalize("NFC", folded)))


def _split(piece: str) -> Iterator[str]:
    """Yield the terms of a piece of letters and digits of one kind of script only."""
    if _UNSPACED_RUN.fullmatch(piece):
        yield from (a + b for a, b in pairwise(piece)) if len(piece) > 1 else [piece]
        return
    camel = _CAMEL.split(piece)
    for part in camel if len(camel) > 1 else ():
        yield from _word(part.lower())
    yield from _word(piece.lower())


def _word(word: str) -> Iterator[str]:
    if word in STOP_WORDS:
        return
    if found := _NUMBER_AND_UNIT.match(word):  # "30s" is found by "30 s", "8th" by "8"
        number, unit = found.groups()
        yield number
        if unit in _ORDINAL:
            return
        if unit not in STOP_WORDS:
            yield unit
    yield stem(_IRREGULAR.get(word, word))


def _is_identifier(name: str) -> bool:
    """Return True for a name such as "us-east-1", not for words with hyphens ("long-term")."""
    return not name.isalnum() and any(not c.isalpha() and c not in "-/" for c in name)
