"""Tell a question from the same one with a limit: "When do we open?", "... over Easter?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final

from conflicts.core.answers.question_guards import Asked, rates
from conflicts.core.answers.question_words import QuestionWords, words_of_question
from memories.core.function_words import DETERMINERS, PREPOSITIONS
from memories.core.topic_words import stems, tokens

# What a question may add without asking for less: the kind of thing, and that it is so now.
_IDLE: Final = frozenset(
    stems("service system tool name number person people team network amount value level kind "
          "type sort way time date place cost price long many much exactly actual actually current "
          "currently usual usually normal normally general generally regular regularly default "
          "standard official set allow permit require need find call locate happen own project "
          "everyone anyone someone somebody everybody anybody minimum maximum unit item piece")
)  # fmt: skip
_ASKED: Final = re.compile(
    r"\bhow\s(?P<measure>[a-z]{2,30})\b|\b(?:which|what)\s(?P<noun>[\w-]{1,40})\s(?:is|are|was|were|do|does|did|has|have|can|may|"
    r"must|should|will|[\w-]{1,30}(?<!s)s)\b",
    re.IGNORECASE,
)
_AUXILIARY: Final = frozenset(
    ("is", "are", "was", "were", "do", "does", "did", "can", "could", "may", "might", "must",
     "should", "will", "would")
)  # fmt: skip
_MIN_TOLD: Final = 2  # words of both questions in a text that speaks of the matter
_PERIOD: Final = re.compile(
    r"\b(?:(?:this|next|last|coming|every\sother)\s(?:week|sprint|month|quarter|term|season|year|"
    r"time|weekend|spring|summer|autumn|winter)|today|tonight|tomorrow|yesterday)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[A-Z]\w{0,40}?(?:[a-z]{2}|\d)[\w-]{0,40}")  # no acronym: "API"
# "paid invoices", "seated guests": a participle before a noun tells which ones.
_PARTICIPLE: Final = re.compile(r"[a-z]{2,30}ed|paid|sold|lost|built|frozen|broken|hidden|stolen")


def is_limited(a: Asked, b: Asked) -> bool:
    """Return whether one question asks the other one of a part or case alone; symmetric.

    One has then all content words of the other, and more: nouns, a period or a rate that neither
    the other question nor its memory, scope or answer tell.
    """
    return _limits(a, b) or _limits(b, a)


def _limits(one: Asked, other: Asked) -> bool:
    """Return whether a question is the other one with a limit."""
    mine, theirs = words_of_question(one.question), words_of_question(other.question)
    if not theirs.stems - _IDLE <= mine.stems:
        return False
    told = f"{other.question} {other.content} {other.answer}"
    if _PERIOD.search(one.question) and not _PERIOD.search(told):
        return True
    if not rates(one.question) <= rates(told):
        return True
    added = (mine.nouns | _modifiers(one.question, theirs)) - _naming(one.question, other.question)
    added -= _IDLE | theirs.stems | other.around | frozenset(stems(other.answer))
    # What a text that speaks of the matter does not tell is a fuller name: "credit card".
    is_told = len(mine.stems & theirs.stems & frozenset(stems(one.content))) >= _MIN_TOLD
    return not added.isdisjoint(one.around) if is_told else bool(added)


def _modifiers(question: str, other: QuestionWords) -> frozenset[str]:
    """Return the stems of participles before a noun that the other question has."""
    return frozenset(
        stem
        for word, noun in pairwise(tokens(question))
        if _PARTICIPLE.fullmatch(word) and not other.nouns.isdisjoint(stems(noun))
        for stem in stems(word)
    )


def _naming(question: str, other: str) -> frozenset[str]:
    """Return the stems of words that limit nothing: what is asked for or done, a kind, a doer.

    "On which *host*" for "where", "how *large*" for "what", "does Milo *eat*" for "get",
    "*freezer* C1", "Bruno the *bull*", "does the *bakery* bake" for "are baked".
    """
    asked, listed = _ASKED.search(question), tokens(question)
    done = {stem for word in tokens(other) if _PARTICIPLE.fullmatch(word) for stem in stems(word)}
    found = [(asked["noun"] or asked["measure"]) if asked else "", _predicate(listed)]
    for before, word, following in zip(listed, listed[1:], [*listed[2:], ""], strict=False):
        is_kind = word.islower() and before.lower() not in DETERMINERS
        does_it = not done.isdisjoint(stems(following)) and not _PARTICIPLE.fullmatch(following)
        if does_it or (is_kind and _NAME.fullmatch(following)):
            found.append(word)
        if word == "the" and _NAME.fullmatch(before):
            found.append(following)
    return frozenset(stem for word in found for stem in stems(word))


def _predicate(listed: Sequence[str]) -> str:
    """Return the word that ends the clause behind an auxiliary: "does Milo *eat* at noon"."""
    at = next((i for i, word in enumerate(listed) if word.lower() in _AUXILIARY), len(listed))
    clause = list(takewhile(lambda word: word.lower() not in PREPOSITIONS, listed[at + 1 :]))
    return clause[-1] if len(clause) > 1 else ""
