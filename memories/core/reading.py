"""Parse a text into claims with their terms, values, polarity and modality."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, pairwise
from typing import Literal

from memories.core.claim_types import Claim, Reading, Term, Transition
from memories.core.clauses import Clause, fold_phrases, split
from memories.core.function_words import (
    ADDITIVES,
    DETERMINERS,
    OPERATORS,
    POINTERS,
    PREPOSITIONS,
    RESTRICTORS,
)
from memories.core.lexicon import concept_of
from memories.core.modality import modality_of
from memories.core.spelling import collapse, normalise
from memories.core.terms import read_terms
from memories.core.tokeniser import Token, count_pieces, sentences, tokenise
from memories.core.transitions import TransitionSpan, change_in
from memories.core.vocabulary import IRREGULAR_PAST, is_plural

# Most words and signs of a text that the rules read. Prose of 8,000 characters, the greatest length
# of a memory, has about 1,700; a text with more is a table, a log or a dump.
MAX_PIECES = 2000
_MAX_TOKENS = 120  # of one sentence: longer ones (pasted dumps) are cut into stretches
CARRIED_WEIGHT = 0.5
_PAST_AUXILIARIES = frozenset(["was", "were", "did"])
_PRESENT = frozenset(["is", "are", "do", "does", "must", "may", "can", "should", "shall"])
_LINKS = DETERMINERS | PREPOSITIONS
_MAX_KEPT = 1000  # characters
# Past forms that are the present of a plural as well.
_ALSO_PRESENT = frozenset(["cost", "cut", "hit", "let", "put", "read", "set", "shut", "split"])
_HYPHENATED = re.compile(r"\b[A-Za-z]\w*(?:-\w+)+\b")
_OF_USER = re.compile(
    r"^\W{0,3}(?:the\s)?user\s(?:(?:has|just|also)\s){0,2}(?:said|says|told|stated|mentioned|"
    r"explained|noted)(?:\s(?:to\s)?(?:me|us))?\s{0,2}(?:that\b|:)\s{0,2}",
    re.IGNORECASE,
)
# What follows is denied: "It is wrong that the hall opens at 8".
_DENIAL = re.compile(
    r"^\W{0,3}(?:it|that)(?:\s(?:is|was)|['’]s)\s(?:(?:simply|just)\s)?"
    r"(?:wrong|false|untrue|a\s(?:myth|rumou?r|misunderstanding)|"
    r"not\s(?:true|so|right|correct|the\scase))\sthat\s",
    re.IGNORECASE,
)
_FORCES = {"must": "must", "shall": "must", "required": "must", "may": "may", "can": "may",
           "need": "must", "needs": "must", "should": "should"}  # fmt: skip


def read(text: str) -> Reading:
    """Parse a text into claims.

    Parameters
    ----------
    text : str
        Any text; unusual text gives few or no claims, never an error.

    Returns
    -------
    Reading
        The claims in order. `words` is the union of the claims' words. It has no claims, and has
        `too_long`, when the text is too long for the rules.
    """
    plain = collapse(normalise(text))
    if reason := _why_too_long(plain):
        return Reading(text, (), frozenset(), too_long=reason)
    claims: list[Claim] = []
    for reported in sentences(plain):
        sentence, is_denied = _affirmed(without_user(reported))
        tokens = tokenise(sentence)
        words_read = (token.lower for token in tokens if token.kind != "symbol")
        opening = tuple(islice(words_read, 2))
        for start in range(0, len(tokens), _MAX_TOKENS):
            for clause in split(fold_phrases(tokens[start : start + _MAX_TOKENS])):
                claim = _claim(clause, sentence, opening, claims[-1] if claims else None)
                claims.append(replace(claim, polarity=not claim.polarity) if is_denied else claim)
    words = frozenset(word for claim in claims for word in claim.words)
    keys = frozenset(term.key for claim in claims for term in claim.terms if term.weight == 1)
    return Reading(text, tuple(claims), words, keys)


def without_user(sentence: str) -> str:
    """Return what an agent notes of its user's word: "The user said that …" without its beginning.

    It is no quotation of others.
    """
    return _OF_USER.sub("", sentence, count=1)


def _affirmed(sentence: str) -> tuple[str, bool]:
    """Return a sentence of one clause without the words that deny it, and whether there are such.

    Of several clauses nothing says which of them is denied.
    """
    affirmed = _DENIAL.sub("", sentence, count=1)
    if affirmed == sentence or len(split(fold_phrases(tokenise(affirmed)))) != 1:
        return sentence, False
    return affirmed, True


def why_too_long(text: str) -> str:
    """Return why a text is too long for the rules, "" when it is not."""
    return _why_too_long(collapse(normalise(text))) if len(text) > MAX_PIECES else ""


def _why_too_long(plain: str) -> str:
    if len(plain) <= MAX_PIECES or count_pieces(plain, MAX_PIECES) <= MAX_PIECES:
        return ""
    return f"a text of more than {MAX_PIECES:,} words and signs"


def read_cached(text: str) -> Reading:
    """Parse a text like `read`; cache short texts."""
    return _read_short(text) if len(text) <= _MAX_KEPT else read(text)


@lru_cache(maxsize=1024)
def _read_short(text: str) -> Reading:
    return read(text)


def _claim(clause: Clause, sentence: str, opening: Sequence[str], previous: Claim | None) -> Claim:
    change = change_in(clause)
    parsed = read_terms(clause, change)
    terms = parsed.terms
    if previous is not None and clause.tokens[0].lower in POINTERS:
        terms = _carry_subject(previous, terms) + terms
    lowers = [token.lower for token in clause.tokens]
    text = sentence[clause.tokens[0].start : clause.tokens[-1].end]
    verb = next((term.key for term in terms if term.is_verb), "")
    return Claim(
        text=text,
        subject=_subject(clause, terms),
        words=frozenset(t.key for t in terms if t.kind in ("word", "name") and t.weight == 1),
        identifiers=_identifiers(terms, text),
        quantities=tuple(term.quantity for term in terms if term.quantity is not None),
        dates=frozenset(term.key for term in terms if term.kind == "date"),
        versions=frozenset(term.key for term in terms if term.kind == "version"),
        polarity=parsed.polarity,
        modality=modality_of(clause, sentence, opening),
        transition=_transition(clause.tokens, change, terms),
        terms=terms,
        verb=verb,
        agent_prep=parsed.agent_prep,
        is_past=_is_past(clause),
        force=_force(clause),
        cues=frozenset(lower for lower in lowers if lower in ADDITIVES or lower in RESTRICTORS),
        operators=_operators(lowers),
        tense=_tense(clause),
        unread=parsed.unread,
    )


def _carry_subject(previous: Claim, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return the names and nouns of the previous claim for a leading pronoun, at half weight.

    They can be matched but need no match.
    """
    own = {term.key for term in terms}
    return tuple(
        replace(term, region="subject", prep="", weight=CARRIED_WEIGHT, is_denied=False)
        for term in previous.terms
        if term.kind in ("word", "name")
        and term.weight >= CARRIED_WEIGHT
        and term.region in ("subject", "predicate")
        and not (term.is_verb or term.is_denied or term.key in own)
    )[:8]


def _subject(clause: Clause, terms: Sequence[Term]) -> frozenset[str]:
    """Return the clause's topic: before the verb, or the object of a note without subject."""
    named = [t for t in terms if t.region == "subject" and t.kind in ("word", "name", "label")]
    if not named:
        named = []
        for term in terms:
            if term.is_verb or term.weight < 1 or term.kind not in ("word", "name", "label"):
                continue
            if term.region == "aside":
                continue
            if term.prep in ("to", "from", "with", "by", "because", "into", "via") and named:
                break
            named.append(term)
    return frozenset(term.key for term in named)


def _identifiers(terms: Sequence[Term], text: str) -> frozenset[str]:
    names = {term.text.lower() for term in terms if term.kind in ("name", "label")}
    return frozenset(names | {match.lower() for match in _HYPHENATED.findall(text)})


def _is_past(clause: Clause) -> bool:
    if clause.verb < 0 or clause.is_passive:
        return False
    lower = clause.tokens[clause.verb].lower
    if lower in _ALSO_PRESENT and clause.verb and is_plural(clause.tokens[clause.verb - 1].lower):
        return False  # "tickets cost 5 euros"
    is_past_form = lower.endswith("ed") or lower in IRREGULAR_PAST
    return is_past_form and clause.aux < 0


def _operators(lowers: Sequence[str]) -> frozenset[tuple[str, str]]:
    found = set()
    for index, lower in enumerate(lowers):
        if lower not in OPERATORS:
            continue
        governed = ""
        if lower == "or":
            governed = concept_of(lowers[index - 1]) if index else ""
        elif lower not in ("unless", "except"):
            rest = lowers[index + 1 : index + 5]
            governed = next((concept_of(word) for word in rest if word not in _LINKS), "")
        found.add((lower, governed))
    return frozenset(found)


def _tense(clause: Clause) -> Literal["past", "present", ""]:
    if _is_past(clause):
        return "past"
    if clause.aux >= 0:
        lower = clause.tokens[clause.aux].lower
        return "past" if lower in _PAST_AUXILIARIES else "present" if lower in _PRESENT else ""
    if clause.verb < 0 or clause.tokens[clause.verb].kind != "word" or clause.is_imperative:
        return ""
    return "present"


def _force(clause: Clause) -> str:
    for token, following in pairwise(clause.tokens):
        if token.lower == "need" and following.lower == "not":
            return "need"
    return next(
        (
            _FORCES[token.lower]
            for token in clause.tokens
            if token.lower in _FORCES and token.text != "May"
        ),
        "",
    )


def _transition(
    tokens: Sequence[Token], change: TransitionSpan | None, terms: Sequence[Term]
) -> Transition | None:
    if change is None:
        return None
    old = {tokens[index].text for index in change.old}
    new = {tokens[index].text for index in change.new}
    keys = [(term.key, term.text) for term in terms if term.weight == 1 and not term.is_verb]
    return Transition(
        change.kind,
        frozenset(key for key, text in keys if set(text.split()) & old),
        frozenset(key for key, text in keys if set(text.split()) & new),
        change.cue,
    )
