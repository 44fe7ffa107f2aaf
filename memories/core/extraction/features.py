"""Describe a statement of a transcript by its grammar: mood, tense, person, deixis, modality.

The words and phrases are in `cues`; claims, modality and transitions are those of `reading`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from memories.core.claim_types import Reading
from memories.core.clauses import fold_phrases, parse
from memories.core.extraction import cues
from memories.core.extraction.lasting import has_lasting_clause
from memories.core.extraction.request_grammar import find_request
from memories.core.extraction.statements import Statement
from memories.core.extraction.turns import Turn
from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    NEGATORS,
    PREPOSITIONS,
    PRONOUNS,
)
from memories.core.reading import read, read_cached
from memories.core.spelling import bare_words, normalise
from memories.core.tokeniser import Token, stem, tokenise
from memories.core.vocabulary import VERBS, lemma

MAX_CHARS: Final = 600  # of a statement; a longer one is read so far

_UNREAD: Final = read("")  # of code, quoted lines and single words, which are never kept


@dataclass(frozen=True, slots=True)
class Described:
    """A statement with its words and the features that the weights are of."""

    statement: Statement
    words: tuple[str, ...]
    features: dict[str, float]
    modalities: frozenset[str]  # of its claims
    is_told: bool  # one of its claims is in the past
    is_request: bool  # the user asks to remember it


def is_noting(text: str) -> bool:
    """Return whether a text asks to remember something, outside of what it quotes."""
    return find_request(text[:MAX_CHARS]) is not None


def is_ratifying(text: str) -> bool:
    """Return whether a sentence says of the one before that it is decided or lasts."""
    return cues.RATIFYING.search(normalise(text[:MAX_CHARS])) is not None


@dataclass(frozen=True, slots=True)
class Around:
    """What is said around a statement, "" where there is nothing.

    `before` and `after` are sentences of its turn, the others the last sentence of the turn before
    and the first of the next. `share` (0..1) is its place in the transcript.
    """

    before: str
    after: str
    previous_turn: str
    next_turn: str
    share: float


NOTHING_AROUND: Final = Around("", "", "", "", 0.0)


def describe(statement: Statement, turn: Turn, around: Around) -> Described:
    """Compute the features of a statement of a turn; those of code and quoted lines are all 0."""
    if statement.kind in {"code", "quoted"}:
        nothing = dict.fromkeys(feature_names(), 0.0)
        return Described(statement, (), nothing, frozenset(), is_told=False, is_request=False)
    text = normalise(statement.text[:MAX_CHARS])
    is_read = statement.kind == "prose" and " " in text
    reading = read_cached(text) if is_read else _UNREAD
    tokens = fold_phrases(tokenise(text)) if is_read else []
    words = tuple(bare_words(text))
    features = {
        **_of_words(words, tokens),
        **_of_phrases(text),
        **_of_claims(reading, tokens),
        **_of_place(statement, around),
        "user": turn.role != "assistant",
    }
    values = {name: float(value) for name, value in features.items()}
    is_persons = turn.role == "user" or turn.may_be_output  # of which a person is asked
    is_request = is_persons and statement.kind == "prose" and _is_asked(statement, values)
    modalities = frozenset(claim.modality for claim in reading.claims)
    is_told = any(claim.tense == "past" for claim in reading.claims)
    return Described(statement, words, values, modalities, is_told, is_request)


def _is_asked(statement: Statement, features: Mapping[str, float]) -> bool:
    """Return whether a user's statement is to be remembered; a question may ask so politely."""
    found = find_request(statement.text)
    if found is not None and (found.is_polite or not features["question"]):
        return True
    return not features["question"] and (statement.is_listed or is_noting(statement.corrects))


def _of_words(words: Sequence[str], tokens: Sequence[Token]) -> dict[str, float]:
    found = frozenset(words) | {token.lower for token in tokens}
    stemmed = frozenset(map(stem, found))
    content = sum(1 for word in words if word[:1].isalpha() and word not in _WITHOUT_CONTENT)
    first = tokens[0].lower if tokens else ""
    return {
        "log_words": math.log1p(len(words)),
        "few_words": len(words) < 5,
        "many_words": len(words) > 30,
        "content": min(content, 15) / 15,
        "universal": bool(found & cues.UNIVERSAL),
        "universals": min(sum(word in cues.UNIVERSAL for word in words), 3) / 3,
        "never_always": bool(found & {"always", "never", "ever"}),
        "hedge": bool(found & cues.HEDGES),
        "here_and_now": bool(found & cues.HERE_AND_NOW),
        "first_person": bool(found & cues.FIRST),
        "second_person": bool(found & cues.SECOND),
        "wanting": bool(stemmed & cues.WANTING),
        "deciding": bool(stemmed & cues.DECIDING),
        "lasting": bool(stemmed & cues.LASTING),
        "courtesy": first in cues.COURTESY,
        "negated": bool(found & NEGATORS) or any("n't" in word for word in words),
        "weekday": bool(found & cues.DAYS),
    }


def _of_phrases(text: str) -> dict[str, float]:
    pairs = pairwise(text.split())
    names = sum(
        len(word) > 1 and word[0].isupper() and word[:2] not in {"I ", "I'"}
        for before, word in pairs
        if before[-1] not in _OPENERS
    )
    return {
        "question": _asks(text),
        "from_now_on": bool(cues.FROM_NOW_ON.search(text)),
        "rule_word": bool(cues.RULE_WORD.search(text)),
        "noting": is_noting(text),
        "ratifying": is_ratifying(text),
        "correcting": bool(cues.CORRECTING.search(text)),
        "number": bool(cues.NUMBER.search(text)),
        "identifier": bool(cues.ACRONYM.search(text)),
        "names": min(names, 3) / 3,
        "progressive": bool(cues.PROGRESSIVE.match(text)),
        "i_will": bool(cues.I_WILL.search(text)),
        "i_have": bool(cues.I_HAVE.search(text)),
        "colon": ":" in text,
        "plain_fact": has_lasting_clause(text),
        "obliged": bool(cues.OBLIGED.search(text)),
        "exclamation": "!" in text,
    }


def _of_claims(reading: Reading, tokens: Sequence[Token]) -> dict[str, float]:
    modalities = {claim.modality for claim in reading.claims}
    return {
        "uncertain": bool({"proposal", "hypothetical", "question"} & modalities),
        "history": "history" in modalities,
        "transition": any(claim.transition is not None for claim in reading.claims),
        "dated": any(claim.dates for claim in reading.claims),
        "imperative": _is_imperative(tokens),
    }


def is_imperative(text: str) -> bool:
    """Return whether a sentence of prose orders something; without reading its claims."""
    plain = normalise(text[:MAX_CHARS])
    return " " in plain and _is_imperative(fold_phrases(tokenise(plain)))


def _is_imperative(tokens: Sequence[Token]) -> bool:
    first = tokens[0].lower if tokens else ""
    opens_with_verb = lemma(first) in VERBS and first not in PRONOUNS | AUXILIARIES
    return opens_with_verb and parse(tokens).is_imperative


def _of_place(statement: Statement, around: Around) -> dict[str, float]:
    before, after = around.before[-MAX_CHARS:], around.after[:MAX_CHARS]
    following = around.next_turn[:MAX_CHARS]
    return {
        "questions_before": _asks(before),
        "answers_question": statement.place == 0 and _asks(around.previous_turn),
        "ratified_after": is_ratifying(after),
        "noting_after": is_noting(after),
        "noting_before": is_noting(before),
        "noted_next": bool(cues.NOTED.search(following)),
        "consent_next": len(following) < 60 and bool(cues.CONSENT.match(following)),
        "last_in_turn": not after,
        "opening": statement.turn < 2,
        "early": around.share < 0.33,
    }


def _asks(text: str) -> bool:
    return text.rstrip("\"')] ").endswith("?") or cues.ASKING.match(text) is not None


_OPENERS: Final = '.!?:"'
_WITHOUT_CONTENT: Final = (
    DETERMINERS
    | PRONOUNS
    | AUXILIARIES
    | PREPOSITIONS
    | cues.COURTESY
    | {"and", "or", "but", "not", "so"}
)


@lru_cache(maxsize=1)
def feature_names() -> Sequence[str]:
    """Return the names of all features, in order."""
    statement, turn = Statement("a", 0, 1, 0, 0, "prose"), Turn("", "user", 0, 1)
    return tuple(describe(statement, turn, NOTHING_AROUND).features)
