"""Tell what requests are about that name something without saying it: "Remember where I sit."."""

from __future__ import annotations

import re
from typing import Final

from memories.core.extraction.cues import COURTESY, FIRST, SECOND
from memories.core.extraction.request_patterns import ONLY_TIME, POLITE_DETAIL
from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    words_of,
)
from memories.core.spelling import bare_words, normalise
from memories.core.tokeniser import stem
from memories.core.vocabulary import VERBS, lemma

_MOST_WORDS: Final = 9
_MOST_OF_NOUN: Final = 4
_READ_CHARS: Final = 600
_QUESTION_WORDS: Final = words_of("what who whom whose which where when why how")
_OWN: Final = words_of("my our")
_POINTING: Final = words_of("his her its their this that these those")
_SAYING: Final = words_of("said say told tell wrote mentioned just")
_WITHOUT_CONTENT: Final = (
    DETERMINERS
    | PRONOUNS
    | AUXILIARIES
    | PREPOSITIONS
    | _QUESTION_WORDS
    | _SAYING
    | COURTESY
    | words_of("next time future now going forward later again much many often long far")
    | words_of("and or too also please i'm i've he's she's it's we're they're that's")
) - {"like"}
_SAYS_MORE: Final = re.compile(r"[:=,;\u2013\u2014\d]| - ")
_WITHOUT_SUBJECT: Final = words_of("you i we it that this")
_REASON: Final = (
    AUXILIARIES
    | _WITHOUT_SUBJECT
    | words_of(
        "so and me us them for to of very really quite probably certainly again later soon often"
        " next time future going forward in the need want use useful handy important matter matters"
        " helpful help come comes up back ask"
    )
)


def is_bare_noun(text: str) -> bool:
    """Return whether a text is a noun behind a pronoun, and no statement: "my name"."""
    words = _words(text)
    has_verb = any(word.endswith(("s", "ed")) or _is_bent(word) for word in words[2:])
    return _is_phrase(text) and words[0] in _OWN | _POINTING and not has_verb


def repeats_what(text: str, before: str, *, needs_words: bool = False) -> bool:
    """Return whether a text names only what the sentence before it says.

    It is a noun or a question in a clause whose words of content stand there; or, unless
    `needs_words`, a noun that belongs to whom the sentence is about: "his name".
    """
    words, said = _words(text), _words(before)
    is_question = 1 < len(words) <= _MOST_WORDS and words[0] in _QUESTION_WORDS
    if not _is_phrase(text) and (not is_question or _SAYS_MORE.search(text) is not None):
        return False
    if _content(words) <= _content(said):
        return True
    if needs_words or not is_bare_noun(text):
        return False
    return words[0] in _POINTING or not FIRST.isdisjoint(said)


def _is_phrase(text: str) -> bool:
    """Return whether a text is a few words behind "my", "the" or the like, without a name."""
    words = _words(text)
    if not 1 < len(words) <= _MOST_OF_NOUN or words[0] not in _OWN | _POINTING | {"the"}:
        return False
    has_name = any(word[:1].isupper() for word in text.split()[1:])
    return not has_name and AUXILIARIES.isdisjoint(words) and _SAYS_MORE.search(text) is None


def asks_for_detail(text: str, before: str) -> bool:
    """Return whether a question asks to keep what its speaker says next, and not before it.

    "Can you note down my address? I live at …"
    """
    found = POLITE_DETAIL.fullmatch(normalise(text[:_READ_CHARS]))
    return found is not None and not repeats_what(found["detail"], before, needs_words=True)


def tells_detail(text: str) -> bool:
    """Return whether a sentence says something of its speaker, and nothing to its hearer."""
    words = _words(text)
    is_told = not text.rstrip().endswith("?") and SECOND.isdisjoint(words)
    return is_told and not FIRST.isdisjoint(words)


def says_why(text: str) -> bool:
    """Return whether words say only when or why to remember something: "You'll need that later"."""
    words = [word.split("'")[0] for word in _words(text)]
    has_name = any(word[:1].isupper() and word[:1] != "I" for word in text.split()[1:])
    if has_name or not 0 < len(words) <= _MOST_WORDS:
        return False  # "I need it in May"
    is_reason = words[0] in _WITHOUT_SUBJECT and _REASON.issuperset(words)
    return is_reason or ONLY_TIME.fullmatch(" ".join(words)) is not None


def _is_bent(word: str) -> bool:
    """Return whether a word is a verb with the ending of a person or tense: "leaks", "broke"."""
    return lemma(word) != word and lemma(word) in VERBS


def _content(words: list[str]) -> set[str]:
    return {stem(word.removesuffix("'s")) for word in words if word not in _WITHOUT_CONTENT}


def _words(text: str) -> list[str]:
    return [word for word in bare_words(text[:_READ_CHARS]) if word]
