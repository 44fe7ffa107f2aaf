"""Recognise plain facts that last: what people are, have, do as a rule, use and prefer.

"I'm allergic to nuts", "my sister lives in Lyon", "we deploy on Fridays". They are said in passing,
in the simple present and without a word for their duration, as are states of the moment ("I'm at
the office", "my build is red"). What tells them apart is which verb, noun or adjective is said of
whom: closed lists of what is seldom true for a day only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from memories.core.calendar_words import WEEKDAYS
from memories.core.extraction import lasting_words
from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    FORMS_OF_BE,
    PREPOSITIONS,
    PRONOUNS,
)
from memories.core.number_words import NUMBER_WORDS
from memories.core.spelling import bare_words, normalise
from memories.core.vocabulary import VERBS, lemma

MAX_WORDS: Final = 40

# Before the subject.
_OPENING: Final = re.compile(
    r"(?:(?:(?:and|so|but|ok|okay|oh|well|yes|no|yeah|yep|nope|right|hi|hello|hey|btw|fyi|also"
    r"|actually|anyway|by the way|for what it's worth|just so you know|to be honest|as you know"
    r"|for context|context|background|note|in my case|at home|at work)[,:]? ){1,3})?",
    re.IGNORECASE,
)
# "I've lived in Oslo since 2012"
_LASTS_SINCE: Final = re.compile(
    r"(?:i|we)(?:'ve| have)(?: \w{1,12})? (?:been|lived|worked|played|had|used|taught|known|run)\b"
    r".{1,120}\b(?:since|for (?:\w{1,12} ){1,3}(?:years|decades|months)|all my life)\b",
    re.IGNORECASE,
)
_ORIGIN: Final = re.compile(
    r"(?:i|we) (?:grew up in|was born|were born|studied|trained as|moved to (?-i:[A-Z])\w*)\b",
    re.IGNORECASE,
)
# "every morning", "twice a day", "on Fridays"
_FREQUENCY: Final = re.compile(
    r"\b(?:every|each) \w{1,12}\b|\b(?:once|twice|\w{1,8} times) (?:a|an|per|every) \w{2,12}\b"
    rf"|\bon (?:{'|'.join(f'{day}s' for day in WEEKDAYS)})\b|\b(?:daily|weekly|monthly|yearly)$",
    re.IGNORECASE,
)
# What stands between two clauses, as in "needs a ticket, we work with Jira".
_BETWEEN_CLAUSES: Final = re.compile(
    r"[,;:.(][ )]|[ )](?:so|and|but|because|since|cos|cause|as) | [-\u2013\u2014] ", re.IGNORECASE
)
_CONDITION: Final = re.compile(r"(?:if|when|unless|until|while|once|whenever)\b", re.IGNORECASE)
_AM_ARE: Final = re.compile(r"(?<=\w)'(m|re)\b", re.IGNORECASE)
_HAVE_GOT: Final = re.compile(
    r"'ve(?: got)?\b(?= (?:an?|no|two|three|four|five|\d))", re.IGNORECASE
)
_IS: Final = re.compile(
    rf"(?<=\w)'s(?= (?:an?|{'|'.join(sorted(lasting_words.CONDITIONS | lasting_words.BEHIND_BE))}"
    r"|\d{1,3})\b)|(?<=\bname)'s\b",
    re.IGNORECASE,
)
_SPEAKERS: Final = frozenset(["i", "we", "my", "our"])
_AS_A_RULE: Final = re.compile(r"\w, (?:always|as a rule|every time)$", re.IGNORECASE)
_CALL_ME: Final = re.compile(r"(?:please )?(?:just )?call me [A-Z]\w{1,30}$", re.IGNORECASE)


def is_lasting(text: str) -> bool:
    """Return whether a sentence states a plain fact that will hold beyond its conversation.

    Parameters
    ----------
    text : str
        One sentence of somebody who speaks of themselves or of their team; English. Longer ones
        than `MAX_WORDS` words are no plain facts. Linear in its length.
    """
    plain = normalise(text).strip(" .!")
    opening = _OPENING.match(plain)
    plain = _spell_out(plain[opening.end() if opening else 0 :])
    written, words = plain.split(), bare_words(plain)
    if not 1 < len(words) <= MAX_WORDS or not lasting_words.OF_THE_MOMENT.isdisjoint(words):
        return False
    if words[0] in _SPEAKERS and _AS_A_RULE.search(plain):
        return True
    if _LASTS_SINCE.match(plain) or _ORIGIN.match(plain) or _CALL_ME.match(plain):
        return True
    return _is_plain(words, written)


def has_lasting_clause(text: str) -> bool:
    """Return whether a part of a sentence states a plain fact, see `is_lasting`."""
    parts = _BETWEEN_CLAUSES.split(normalise(text))
    return any(is_lasting(part) for part in parts if part and not _CONDITION.match(part))


def _is_plain(words: Sequence[str], written: Sequence[str]) -> bool:
    first, rest = words[0], words[1:]
    if first in {"i", "we"}:
        return _is_of_speakers(rest, written[1:], is_team=first == "we")
    if first in {"my", "our"}:
        return _is_of_own(rest, written[1:], is_team=first == "our")
    return _tells(rest) if first in {"always", "never"} else _is_of_person(words, written)


def _spell_out(text: str) -> str:
    """Spell out contractions of "be" and "have got", so that verbs are words."""
    text = _AM_ARE.sub(lambda found: " am" if found[1] in "mM" else " are", text)
    return _IS.sub(" is", _HAVE_GOT.sub(" have", text))


def _tells(rest: Sequence[str]) -> bool:
    """Return whether "always" or "never" is followed by an order: "Always answer in French"."""
    is_verb = lemma(rest[0]) in VERBS and rest[0] == lemma(rest[0]) and rest[0] != "mind"
    return len(rest) > 1 and is_verb and rest[0] not in AUXILIARIES and not _points(rest[1:])


def _is_of_speakers(words: Sequence[str], written: Sequence[str], *, is_team: bool) -> bool:
    """Return whether "I" or "we" is followed by what lasts."""
    at = _first_not_in(words, lasting_words.ADVERBS)
    verb, rest = words[at : at + 1], words[at + 1 :]
    if not verb or not rest:
        return False
    if verb[0] in {"am", "are"}:
        return _is_kind(rest, written[at + 1 :])
    if verb[0] == "have":
        return _has_lasting(rest, is_team=is_team)
    if verb[0] in AUXILIARIES or _points(rest):
        return False
    return _FREQUENCY.search(" ".join(rest)) is not None or _is_habit(
        verb[0], rest, is_team=is_team
    )


def _is_habit(verb: str, rest: Sequence[str], *, is_team: bool) -> bool:
    """Return whether a verb tells what one does as a rule; a named object is not "the tests"."""
    if verb not in lasting_words.HABITS and not (is_team and verb in lasting_words.TEAM_DOES):
        return False
    if rest[0] == "the" and verb not in {"play", "speak"}:
        return is_team and not lasting_words.PLACING.isdisjoint(rest)
    return verb != "keep" or not rest[0].endswith("ing")


def _points(rest: Sequence[str]) -> bool:
    """Return whether what follows a verb names nothing that is known outside the conversation."""
    is_pointer = rest[0] in lasting_words.POINTING or (
        rest[0] in PREPOSITIONS and rest[1:2] == ["it"]
    )
    return is_pointer or not lasting_words.CHOICES.isdisjoint(rest[:4])


def _has_lasting(rest: Sequence[str], *, is_team: bool) -> bool:
    """Return whether "have" is followed by what one has for long: "two kids", "three depots"."""
    if rest[0] in {"to", "the"} or rest[0] in AUXILIARIES:
        return False
    is_counted = rest[0] in NUMBER_WORDS and rest[0] not in {"a", "an", "one"}
    return (is_team and is_counted) or not lasting_words.HAD.isdisjoint(rest[:4])


def _is_kind(rest: Sequence[str], written: Sequence[str]) -> bool:
    """Return whether a form of "be" is followed by a condition, a kind, a place of origin."""
    at = _first_not_in(rest, lasting_words.ADVERBS)
    rest, written = rest[at:], written[at:]
    if not rest:
        return False
    if not lasting_words.CONDITIONS.isdisjoint(rest[:3]):
        return True
    if rest[0] in lasting_words.BEHIND_BE:
        return len(rest) > 1
    if rest[0] == "from":
        return written[1:2] != [] and written[1][:1].isupper()
    if rest[0] in {"a", "an"}:
        return len(rest) > 1 and rest[1] not in lasting_words.UNLIKE_KINDS
    return rest[0].isdigit() and (len(rest) == 1 or rest[1] in {"years", "and", "cm", "kg"})


def _is_of_own(words: Sequence[str], written: Sequence[str], *, is_team: bool) -> bool:
    """Return whether "my" or "our" and a noun are followed by what lasts."""
    at = next((n for n, word in enumerate(words[:5]) if _is_verb(word, n)), None)
    if at is None or at == 0 or at + 1 >= len(words):
        return False
    nouns = {part for word in words[:at] for part in word.removesuffix("'s").split("-")}
    is_related = not nouns.isdisjoint(lasting_words.RELATED)
    if not (is_team or is_related or not nouns.isdisjoint(lasting_words.OWN)):
        return False
    if words[at] == "has":
        return is_related and _has_lasting(words[at + 1 :], is_team=False)
    if words[at] in FORMS_OF_BE:
        is_chosen = not lasting_words.OWN_CHOICE.isdisjoint(nouns)
        return is_chosen or _is_kind_of_thing(words[at + 1 :], written[at + 1 :])
    return is_related or is_team


def _is_verb(word: str, place: int) -> bool:
    return place > 0 and (
        word in {"is", "are", "has"} or word in lasting_words.DONE or word in lasting_words.HABITS
    )


def _is_kind_of_thing(rest: Sequence[str], written: Sequence[str]) -> bool:
    """Return whether the complement of "be" names a kind, a value or a place, not a state."""
    at = _first_not_in(rest, lasting_words.ADVERBS)
    if at == len(rest):
        return False
    if not lasting_words.CONDITIONS.isdisjoint(rest[at : at + 3]):
        return True
    word = written[at]
    is_named = word[:1].isupper() or any(map(str.isdigit, word))
    is_placed = rest[at] in {"in", "on", "at"} and at + 1 < len(rest)
    is_kind = rest[at] in {"a", "an", "the"} and rest[at + 1 : at + 2] not in (["bit"], ["little"])
    return is_named or is_placed or is_kind or rest[at] in lasting_words.MADE


def _is_of_person(words: Sequence[str], written: Sequence[str]) -> bool:
    """Return whether a person is named who does something as a rule: "Priya handles refunds"."""
    at = 2 if len(written) > 2 and written[1][:1].isupper() else 1
    is_name = written[0][:1].isupper() and written[0].isalpha() and words[0] not in _NO_NAMES
    if not is_name or at + 1 >= len(words):
        return False
    if words[at] == "is":
        return _is_kind(words[at + 1 :], written[at + 1 :])
    return words[at] in lasting_words.DONE and not _points(words[at + 1 :])


_NO_NAMES: Final = DETERMINERS | PRONOUNS | AUXILIARIES | PREPOSITIONS


def _first_not_in(words: Sequence[str], others: Collection[str]) -> int:
    return next((n for n, word in enumerate(words) if word not in others), len(words))
