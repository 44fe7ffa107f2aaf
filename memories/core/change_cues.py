"""Cues that a text reports a change, without reading what changed into what.

"Paolo left on Saturday, the say has passed to Anton" names a moment and has verbs of change, but
not the grammar that `memories/core/transitions.py` reads. One cue alone says little: many rules
name a day. So the cues decide nothing here; they are features of `memories/core/pair_features.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from memories.core.calendar_words import MONTHS, SEASONS, WEEKDAYS
from memories.core.spelling import collapse
from memories.core.tokeniser import stems
from memories.core.transitions import CHANGE_VERBS
from memories.core.vocabulary import IRREGULAR_PAST, lemma

_NAMES: Final = (*MONTHS, *(month[:3] for month in MONTHS), "sept")
_MONTH: Final = rf"(?:{'|'.join(name for name in _NAMES if name != 'may')}|(?-i:May))\b"
_SPAN: Final = rf"(?:{'|'.join(SEASONS)}|week|month|year|term|quarter|morning|night|evening)"
_DAY: Final = rf"(?:{'|'.join(WEEKDAYS)})"
# Mostly a single time: not "on Mondays", not "every spring".
_MOMENT: Final = re.compile(
    rf"\b(?:(?:last|this|next|past)\s(?:{_DAY}|{_SPAN}|{_MONTH})|yesterday|today|"
    rf"(?:on|in|of|by|with|since|from|until|after)\s(?:the\s)?(?:{_MONTH}|{_DAY}\b|{_SPAN}\s\d{{1,4}}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)\b)|\d{{1,2}}(?:st|nd|rd|th|\.)?\s{_MONTH}|ago)\b",
    re.IGNORECASE,
)
_FROM: Final = re.compile(
    rf"\bfrom\s\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH}|"
    r"\b(?:since|as\s(?:of|from)|from\s(?:now|then|next|this)|starting|effective|following|"
    r"after\s(?:an?|the|last|many|one|two)|thanks\sto|(?:under|with|in)\sthe\snew)\b",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"\b(?:used\sto|no\slonger|no\smore|any\s?more|any\slonger|these\sdays|now|nowadays|formerly|"
    r"former|previous(?:ly)?|old|until|till|instead|in\s(?:its|his|her|their)\s(?:place|stead)|"
    r"at\slast|meanwhile|so\sfar|(?:had|has|have)\sbeen|new|already|again)\b",
    re.IGNORECASE,
)
_VERBS: Final = CHANGE_VERBS | stems(
    "leave lift tighten relax widen narrow loosen ease abolish give release divert delegate grant"
    " lengthen agree decide settle become merge split rebuild repair fix mend open reopen sell buy"
    " steal break fall shut resign return sign renew amend revise reverse repeal appoint elect lose"
    " replace trim stop empower deploy fold supersede correct install end run take"
)
_OTHER_FORMS: Final = frozenset(["stole", "stolen", "broken"])


class ChangeCues(NamedTuple):
    """Which kinds of cues a text has."""

    moment: bool  # "last Friday", "on 3 June"
    start: bool  # "since", "as of", "after the move"
    verb: bool  # a verb of change in a past form or one that looks like it: "was handed over"
    before: bool  # "used to", "the old rule", "instead"


def change_cues(text: str, words: Iterable[str]) -> ChangeCues:
    """Return the cues of a text; `words` are its words in lower case."""
    flat = collapse(text)
    return ChangeCues(
        bool(_MOMENT.search(flat)),
        bool(_FROM.search(flat)),
        any(_tells_change(word) for word in words),
        bool(_BEFORE.search(flat)),
    )


def _tells_change(word: str) -> bool:
    is_past = word.endswith("ed") or word in IRREGULAR_PAST
    return word in _OTHER_FORMS or (is_past and lemma(word) in _VERBS)
