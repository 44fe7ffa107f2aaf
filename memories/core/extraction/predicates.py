"""Find the subject of a sentence and its verb, and put a value in that corrects it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memories.core.extraction.cues import DAYS
from memories.core.extraction.request_grammar import without_request
from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    FORMS_OF_BE,
    NEGATORS,
    PREPOSITIONS,
    words_of,
)
from memories.core.number_words import NUMBER_WORDS
from memories.core.spelling import normalise
from memories.core.vocabulary import VERBS, lemma

_CLOSING: Final = ".,;:!?"
_SIGNS: Final = "€$£%"
_WITHIN_NUMBERS: Final = str.maketrans("", "", ".,:")
_SUBJECT_WORDS: Final = 8
_READ_CHARS: Final = 300
_POINTING: Final = words_of("it he she they this that these those him her them we're")
_SUBJECTS: Final = words_of("i you we they he she it who")
_CONTRACTED: Final = ("'s", "'re", "'m", "'ll", "'ve", "'d")
_ADVERBS: Final = NEGATORS | words_of("always only usually still just also now currently mostly")


def subject_of(text: str) -> str:
    """Return the words before the verb of what a text says or asks to remember, "" if unsure."""
    words, tokens = _words(text)
    end = _verb_at(tokens)
    return " ".join(words[:end]) if end and tokens[0] not in _POINTING else ""


def predicate_of(text: str) -> str:
    """Return the words up to the main verb, which a value follows; "" if unsure."""
    words, tokens = _words(text)
    start = 0 if tokens and tokens[0].endswith(_CONTRACTED) else _verb_at(tokens)
    if tokens and start == 0 and not tokens[0].endswith(_CONTRACTED):
        return ""
    end = start
    while end < len(tokens) and (end == start or tokens[end] in AUXILIARIES | _ADVERBS):
        end += 1
    is_auxiliary = start < len(tokens) and _is_auxiliary(tokens[start])
    if is_auxiliary and end < len(tokens) and _continues(tokens[end - 1], tokens[end]):
        end += 1
    return " ".join(words[:end]) if 0 < end < len(tokens) else ""


def replace_value(text: str, value: str) -> str:
    """Return what a text says with the value that corrects it, "" where nothing shows which.

    A number replaces the only number. Anything else replaces all behind the verb, if that is no
    longer and of the same kind: a date for a date, a name for a name. Where the subject is a name
    too, a name may be meant for either.
    """
    words, tokens = _words(text)
    counted = _replace_counted(words, tokens, value.split())
    before = "" if counted else predicate_of(text)
    if not before:
        return counted
    if _is_number(value):
        at = [place for place, token in enumerate(tokens) if any(map(str.isdigit, token))]
        if len(at) != 1 or not _is_number(tokens[at[0]]):
            return ""
        number = tokens[at[0]].strip(_SIGNS)
        told = words[at[0]].replace(number, value.strip(_CLOSING + _SIGNS))
        return " ".join([*words[: at[0]], told, *words[at[0] + 1 :]])
    behind, put = words[len(before.split()) :], value.split()
    is_sure = _kind(put) != "name" or not _has_name(_content(subject_of(text).split()))
    is_whole = len(_content(behind)) <= len(_content(put))
    return f"{before}: {value}" if _kind(behind) == _kind(put) and is_sure and is_whole else ""


def _replace_counted(words: Sequence[str], tokens: Sequence[str], put: Sequence[str]) -> str:
    """Return a text with another number of the things it counts, "" where it counts no such."""
    counts, things = put[:1], [word.strip(_CLOSING).lower() for word in put[1:]]
    if len(things) != 1 or not _counts(normalise(counts[0]).lower()):
        return ""
    at = [place for place, token in enumerate(tokens) if token == things[0]]
    if len(at) != 1 or not at[0] or not _counts(tokens[at[0] - 1]):
        return ""
    return " ".join([*words[: at[0] - 1], counts[0].lower(), *words[at[0] :]])


def _counts(token: str) -> bool:
    return token in NUMBER_WORDS or _is_number(token)


def _is_number(word: str) -> bool:
    bare = word.strip(_CLOSING + _SIGNS)
    return bare.translate(_WITHIN_NUMBERS).isdigit()


def _kind(words: Sequence[str]) -> str:
    """Return what a value is: a date, something with a number, a name or other words."""
    bare = {normalise(word).strip(_CLOSING).lower() for word in words}
    if not bare.isdisjoint(DAYS):
        return "date"
    if any(map(str.isdigit, "".join(words))):
        return "number"
    return "name" if _has_name(words) else "words"


def _has_name(words: Sequence[str]) -> bool:
    return any(word[:1].isupper() and word != "I" for word in words)


def _content(words: Sequence[str]) -> list[str]:
    """Return the words that are no determiner or preposition."""
    left_out = DETERMINERS | PREPOSITIONS
    return [word for word in words if normalise(word).strip(_CLOSING).lower() not in left_out]


def main_verb(text: str) -> str:
    """Return the dictionary form of the verb behind the subject, "" if unsure."""
    _, tokens = _words(text)
    if tokens and tokens[0].endswith(_CONTRACTED):
        return _verb(tokens[0].partition("'")[2])
    at = _verb_at(tokens)
    return _verb(tokens[at]) if at else ""


def _verb(word: str) -> str:
    return "be" if word in FORMS_OF_BE | {"s", "re", "m"} else lemma(word)


def _words(text: str) -> tuple[Sequence[str], Sequence[str]]:
    words = without_request(text)[:_READ_CHARS].split()
    return words, [normalise(word).strip(_CLOSING).lower() for word in words]


def _verb_at(tokens: Sequence[str]) -> int:
    """Return where the verb of a sentence is, 0 if unsure."""
    return next(
        (
            at
            for at, word in enumerate(tokens[: _SUBJECT_WORDS + 1])
            if at and (_is_auxiliary(word) or _is_verb(word, tokens[at - 1]))
        ),
        0,
    )


def _is_auxiliary(word: str) -> bool:
    return word in AUXILIARIES or word.endswith("n't")


def _is_verb(word: str, before: str) -> bool:
    is_bent = lemma(word) != word and word.endswith(("s", "ed"))
    return before not in DETERMINERS and lemma(word) in VERBS and (is_bent or before in _SUBJECTS)


def _continues(before: str, word: str) -> bool:
    """Return whether a main verb stands behind an auxiliary: "can't eat", "is kept"."""
    is_participle = word.endswith(("ed", "en", "pt", "ing")) or word != lemma(word)
    return lemma(word) in VERBS and (before not in FORMS_OF_BE or is_participle)
