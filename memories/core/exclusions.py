"""Find phrases that exclude each other, by families: keep or discard, refuse or accept.

The lexicon has single words; these are phrases. The detective and the gate's objections use them
for texts on one thing in different words. A family stays here only while the
development files score worse without it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memories.core.function_words import NEGATORS
from memories.core.lexicon import concept_of
from memories.core.reasons import Difference
from memories.core.tokeniser import stem

_FAMILIES: Final[dict[str, tuple[str, str]]] = {
    "kept or discarded": (
        r"keeps?|kept|retain\w*|stays?|stored|remains?|survives?|archived?|preserved?|goes\sback|"
        r"brings?\s(?:\w+\s){0,3}back|brought\sback|restor\w+|recover\w*",
        r"wip(?:e|es|ed)|delet\w+|purg\w+|shred\w*|binned|discard\w*|thrown?|remov\w+|left\sout|"
        r"leave\sout|empt(?:y|ies|ied)|nothing\sis\skept|cleared|destroyed|dropped|incinerated|"
        r"for\sgood|no\sway\sback|irrevers\w+|final",
    ),
    "refused or accepted": (
        r"reject\w*|refus\w+|den(?:y|ied|ies)|forbid\w*|forbidden|banned|prohibited|turned\saway|"
        r"sent\s(?:back|home)|not\s(?:permitted|allowed|accepted)|(?:do|does)\snot\s(?:take|accept)|"
        r"no\s\w+\s(?:is|are)\s(?:served|allowed|accepted)|off\slimits|must\snot|may\snot|"
        r"nobody\smay|keep\s(?:\w+\s){1,6}away\sfrom|not\stolerate",
        r"accept\w*|allow\w*|permit(?:s|ted)?|welcome|"
        r"are\sfine|is\sfine|approve[sd]|let\sin|serves?|pours?|may\s(?:come|eat|use|bring|enter|stay|"
        r"take|go|play|have)|can\s(?:come|bring|enter|stay)|is\sokay|feel\sfree|can\sbe\s(?:left|used|brought|taken|parked|entered)",
    ),
    "once or repeatedly": (
        r"a\ssingle\stime|exactly\sonce|only\sonce|one\stime\sonly|never\stwice",
        r"more\sthan\sonce|repeated\w*|several\stimes|many\stimes|at\sleast\sonce|twice",
    ),
    "everyone or a few": (
        r"every(?:one|body)?|all\s(?:members|staff|of)|complete|whole|the\sentire|each|"
        r"full\s(?:board|jury|team|committee)",
        r"only\s(?:the|a|some|two|three|four)|just\s(?:the|a|two|three|four)|nobody\sbut|"
        r"members\sonly|signed-?in|a\s(?:few|handful|small)\b|some\sof",
    ),
    "by phone or in writing": (
        r"(?:by|over\sthe|the|a|duty)\s(?:tele)?phone|phones?\s(?:the|them|us|you|people|patients|customers)|"
        r"callers?|calls?\s(?:us|them|the)|rings?|hotline|voicemail",
        r"portal|web\sform|online|in\swriting|by\se-?mail|written\s(?:form|request)|by\sletter|"
        r"ticket|in\sthe\sapp",
    ),
    "sent to them or bought by them": (
        r"(?:ships?|sends?|provides?|supplies|hands?\sout|issues?|delivers?)\s(?:\w+\s){0,3}"
        r"(?:every|each|all|new|the)|is\sprovided|are\sprovided|company-?owned",
        r"(?:buy|buys|bring|brings|pick|picks)\s(?:and\s\w+\s)?(?:their|your|his|her)\sown|"
        r"byod|at\s(?:their|your)\sown|out\sof\s(?:their|your)\sown\spocket",
    ),
}
_COMPILED: Final = {
    name: tuple(re.compile(rf"\b(?:{side})\b", re.IGNORECASE) for side in sides)
    for name, sides in _FAMILIES.items()
}


_Phrases = dict[str, str]  # what is written, by its stem
_PIECE: Final = re.compile(r"[^.;,:!?]+")
_DENIES: Final = re.compile(rf"\b(?:{'|'.join(sorted(NEGATORS))}|cannot)\b", re.I)


def _drop_negated(text: str) -> str:
    """Return a text without the pieces that have a negation."""
    return ", ".join(piece for piece in _PIECE.findall(text) if not _DENIES.search(piece))


@lru_cache(maxsize=8192)
def _evidence(text: str) -> tuple[tuple[str, tuple[_Phrases, _Phrases]], ...]:
    """Return for each family the phrases of a text on either side, if there are any."""
    found = []
    for name, patterns in _COMPILED.items():
        yes, no = (_matches(pattern, text) for pattern in patterns)
        if yes and no:  # one of them may be the denied one
            plain = _drop_negated(text)
            yes, no = (_matches(pattern, plain) for pattern in patterns)
        if yes or no:
            found.append((name, (yes, no)))
    return tuple(found)


def _matches(pattern: re.Pattern[str], text: str) -> _Phrases:
    found: _Phrases = {}
    for match in pattern.finditer(text):
        found.setdefault(stem(match[0].lower()), match[0])
    return found


def find_exclusion(a: str, b: str) -> str:
    """Return the family in which two texts take opposite sides, with their words; "" for none.

    Phrases in both texts are their topic and count for neither side.
    """
    theirs = dict(_evidence(b))
    for name, (yes_a, no_a) in _evidence(a):
        if name in theirs:
            yes_b, no_b = theirs[name]
            both = (yes_a.keys() & yes_b.keys()) | (no_a.keys() & no_b.keys())
            left, right = (
                [[text for key, text in side.items() if key not in both] for side in sides]
                for sides in ((yes_a, no_a), (yes_b, no_b))
            )
            if _is_one_sided(left) and _is_one_sided(right) and bool(left[0]) != bool(right[0]):
                one, other = (next(filter(None, sides))[0] for sides in (left, right))
                keys = (concept_of(phrase.lower()) for phrase in (one, other))
                return Difference(f"{name}: {one} against {other}", *keys)
    return ""


def _is_one_sided(sides: list[list[str]]) -> bool:
    return bool(sides[0]) != bool(sides[1])
