"""Read the words by which a speaker keeps something off the record, or takes it back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core.extraction.cues import COURTESY
from memories.core.extraction.private_patterns import CONVERSATION, PRIVATE, RETRACTING, TOPIC
from memories.core.function_words import AUXILIARIES, PREPOSITIONS, PRONOUNS, words_of
from memories.core.text import terms
from memories.core.vocabulary import VERBS, lemma

# Says at the beginning of a turn that something else does not matter.
NEVER_MIND = re.compile(r"[\w, ]{0,20}\bnever ?mind\W*$", re.IGNORECASE)
# Where words that take something back may begin within a sentence, and which do so anywhere there.
_BREAK = re.compile(r"[,;:(\u2013\u2014.!]+ ?| - ")
_STRONG = re.compile(r"scratch|strike|forget|erase|\btake |\b(?:your|the) |what ", re.IGNORECASE)
_HESITATING: Final = words_of("actually no nope oh oops sorry wait well hm hmm never nevermind")
_SUBORDINATE = re.compile(
    r"(?:[\w ]{0,30}\bthat )?(?:if|when|whenever|once|unless|whoever|in case|before|after)\b", re.I
)
_RETRACTION_CHARS: Final = 200  # of a statement that only takes something back
_BARE_WORDS: Final = 3  # beside the request in a statement that says nothing else
_CLOSING: Final = ".,;:!?()\u2013\u2014-"
_SAYS_NOTHING: Final = (
    _HESITATING
    | COURTESY
    | PRONOUNS
    | AUXILIARIES
    | PREPOSITIONS
    | words_of(
        "the a an by way after all though please again my your our wrong chat mistake private"
        " secret confidential second thought thoughts last previous one"
        " tell told say said saying mention mentioned shouldn't wasn't so and changed"
        " mind reflection"
        " but memory memories notes records know knows anywhere"
    )
)
_POINTS_BACK = re.compile(r"\b(?:that|it|was)\b", re.IGNORECASE)
_RETRACTED_CHARS: Final = 2000  # of a sentence, in which words that take it back are looked for


def asks_not_to_store(text: str) -> bool:
    """Return whether a statement asks not to store what it says or what stands beside it."""
    return PRIVATE.search(text) is not None or TOPIC.search(text) is not None


def keeps_conversation_private(text: str) -> bool:
    """Return whether a statement asks to store nothing of the whole conversation."""
    return CONVERSATION.search(text) is not None


def is_only_private_request(text: str) -> bool:
    """Return whether a statement only asks not to store something, and says nothing itself."""
    words = [word.strip(_CLOSING).lower() for word in without_private_words(text).split()]
    words = [word for word in words if word]
    if all(word in _SAYS_NOTHING for word in words):
        return True
    return len(words) <= _BARE_WORDS and not _has_subject_and_verb(words)


def _has_subject_and_verb(words: Sequence[str]) -> bool:
    """Return whether a few words are a clause: "Bo is ill", not "please, Bo"."""
    is_finite = any(word in AUXILIARIES or lemma(word) in VERBS for word in words[1:])
    return is_finite and words[0] not in PRONOUNS


def points_back(text: str) -> bool:
    """Return whether a request not to store something speaks of what was said before it."""
    return _POINTS_BACK.search(text) is not None


def is_retraction(text: str) -> bool:
    """Return whether a statement has only words that take something back."""
    return RETRACTING.fullmatch(text[:_RETRACTION_CHARS]) is not None


def without_private_words(text: str) -> str:
    """Return a statement without the words that ask not to store it, or take something back."""
    return RETRACTING.sub(" ", PRIVATE.sub(" ", text))


def private_topic(text: str) -> frozenset[str]:
    """Return the index terms of what nothing about is to be stored, none where nobody asks so."""
    topic = TOPIC.search(text)
    return (
        frozenset() if topic is None else frozenset(terms(" ".join(filter(None, topic.groups()))))
    )


def private_terms(text: str) -> tuple[frozenset[str], bool]:
    """Return the index terms of what is not to be stored, and whether all about them is meant."""
    topic = private_topic(text)
    return topic or frozenset(terms(without_private_words(text))), bool(topic)


def find_retraction(transcript: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where words take something back: at the beginning, or behind what they take back."""
    found = RETRACTING.match(transcript, start, end)
    if found is not None:
        return found.span()
    for boundary in _BREAK.finditer(transcript, start, min(end, start + _RETRACTED_CHARS)):
        found = RETRACTING.match(transcript, boundary.end(), end)
        if found is None or _SUBORDINATE.match(transcript, start, boundary.start()):
            continue
        is_strong = _STRONG.search(found[0]) is not None
        is_hesitant = found[0].split(maxsplit=1)[0].strip(",;.!").lower() in _HESITATING
        if is_strong or is_hesitant:
            return boundary.end(), found.end()
    return None
