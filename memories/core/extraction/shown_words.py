"""Words that tell of whom and of what a clause speaks that may introduce the text of others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core.extraction.cues import COURTESY
from memories.core.function_words import PREPOSITIONS, words_of
from memories.core.spelling import normalise

CLAUSE_CHARS: Final = 160  # a longer clause introduces nothing
_WORD: Final = re.compile(r"[\w'#@./-]+")
# What a text is called.
_NAMES: Final = words_of(
    "email e-mail mail message letter text transcript log output article page webpage website"
    " document doc pdf file csv json ticket issue comment review readme post thread excerpt"
    " newsletter memo snippet quote quotation passage paragraph sentence chapter description chat"
    " reply response notice announcement report notification statement complaint prompt feedback"
    " essay poem draft story speech cv resume contract manual handbook guide guideline wiki faq"
    " docs documentation lease policy terms rules label sign brochure leaflet book recipe"
    " instructions site spec standard abstract changelog popup dialog banner screenshot tweet"
    " blog caption translation"
)
TEXTS: Final = _NAMES | {f"{word}s" for word in _NAMES}
DEICTIC: Final = words_of("this these following below")
SAYING: Final = words_of(
    "says said wrote writes replied replies returned returns answered answers responded responds"
    " posted posts reads states stated printed prints shows showed logged asked told sent forwarded"
    " claims claimed displays displayed announced tweeted texted messaged e-mailed emailed mailed"
    " pinged called commented"
)
RECEIVING: Final = words_of(
    "got received found pasted copied forwarded quoted saw read attached copying pasting quoting"
    " forwarding"
)
# Verbs for what is done with a text; others need a colon, or the name of a text, behind "this".
READING: Final = words_of(
    "summarise summarize sum translate proofread rephrase paraphrase rewrite read shorten extract"
    " analyse analyze reply respond react answer comment explain check review verify edit reword"
    " classify format parse look rate grade polish tighten condense simplify spellcheck critique"
    " evaluate interpret judge"
)
OWN: Final = words_of("my our i we me us you your mine ours")
POSSESSIVE: Final = words_of("his her their its")
ARTICLES: Final = words_of("the this that these those a an another")
QUESTION_WORDS: Final = words_of("what what's which who who's why how where")
# What may stand before a clause.
_GREETING: Final = COURTESY | words_of(
    "hi hello hey ok okay so and please pls well now also but or dear quick question then"
)
# Ends a question to who is asked: "Is that clear?"
TO_THE_ASKED: Final = COURTESY | words_of("possible understood sense alright enough")


def plain_clause(clause: str) -> str:
    """Return a clause without marks around it, "" where it is too long to introduce anything."""
    plain = normalise(clause).strip(" \t-*#>_")
    return plain if len(plain) <= CLAUSE_CHARS else ""


def words_in(plain: str) -> list[str]:
    """Return the words of a clause in lower case, without greetings before them."""
    words = [word.lower().strip("'./-") for word in _WORD.findall(plain)]
    at = 0
    while at < len(words) and words[at] in _GREETING:
        at += 1
    return [word for word in words[at:] if word]


def is_text_phrase(words: Sequence[str]) -> bool:
    """Return whether words begin with "the mail", "this release note", "her last comment"."""
    is_definite = words and words[0] in ARTICLES | POSSESSIVE
    return bool(is_definite) and not TEXTS.isdisjoint(words[1:3])


def points_on(words: Sequence[str]) -> bool:
    """Return whether words point on to a text: "this", "this mail", "the sentences below"."""
    for at, word in enumerate(words):
        if word not in DEICTIC and word != "here":
            continue
        if word in {"following", "below", "here"}:
            return True
        rest = words[at + 1 : at + 4]
        is_bare = not rest or rest[0] in PREPOSITIONS | _ADJUNCTS or rest[0].endswith("er")
        if is_bare or not TEXTS.isdisjoint(rest):
            return True
    return False


_ADJUNCTS: Final = words_of("please more less sound as and for me again right now quickly one ones")
