"""Validate what a language model reports about a story.

The model answers with numbers, and only numbers that it was given are accepted. Of its own text a
question is kept only if all of its words are in the card's memories, and reasoning only if it says
nothing that other memories say (`model_reasoning`): otherwise the card could quote other memories,
and the quote would outlive their erasure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from conflicts.core.facts import Fact, Finding, FindingKind, Severity
from conflicts.core.model_reasoning import ORDERS, showable
from conflicts.core.parts import MAX_MEMBERS
from conflicts.core.questions import ask_ambiguity, ask_reversal, ask_stale
from conflicts.core.rules.reported import MODEL
from memories.core.quoting import in_one_line, legible
from memories.core.topic_words import stems, tokens

QUESTION_MAX_CHARS: Final = 400
NARRATIVE_CONFIDENCE: Final = 0.6

_YES_OR_NO = re.compile(
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|must|may|"
    r"might|need)\b(?!['’]t\b)",
    re.IGNORECASE,
)
_LINE_NUMBERS = re.compile(r"\b(?:lines?|facts?|notes?)\s+(?:no\.\s*|#\s*)?\d", re.IGNORECASE)
MIN_SHARED_STEMS: Final = 2
# Words that make a question of a claim and say nothing of themselves; "not" and numbers do.
_FRAMING: Final = re.compile(
    r"is|are|was|were|am|be|been|being|do|does|did|has|have|had|can|could|will|would|shall|should|"
    r"must|may|might|need|an?|the|this|that|these|those|there|its?|they|their|we|our|you|your|of|to|"
    r"in|on|at|for|from|by|with|about|as|if|whether|when|which|who|what|and|or|than|rather|still|"
    r"now|currently|current|any|holds?|valid|true|apply|applies"
)
_REASONING: Final[dict[FindingKind, str]] = {
    "reversal": "The language model read these notes as a value that was changed and later stated "
    "as it was before, without a word that it was changed back.",
    "ambiguity": "The language model read these notes as different answers to one question, "
    "neither of which gives way to the other.",
    "stale": "The language model read the older note as over by what a later one says, and no note "
    "as saying what takes its place.",
}


@dataclass(frozen=True, slots=True)
class Reported:
    """One finding in the model's answer: numbers of lines, its question and its reasoning."""

    kind: FindingKind
    facts: tuple[int, ...]
    yes: tuple[int, ...]
    question: str
    severity: Severity
    reasoning: str = ""


def may_disagree(fact: Fact, others: Sequence[Fact]) -> bool:
    """Return whether any fact is of another memory and another conversation than this one."""
    return any(
        other.lineage != fact.lineage
        and not (
            fact.session_key
            and (other.writer, other.session_key) == (fact.writer, fact.session_key)
        )
        for other in others
    )


def accept_finding(reported: Reported, facts: Sequence[Fact]) -> Finding | None:
    """Return a report as a finding about the offered facts; None when it is invalid.

    ``facts`` are the batch in the order of its numbers. A report is dropped when a number is
    unknown or repeated, when it has no two sides, or when its facts are versions of one memory or
    lines of one conversation.
    """
    named, agreeing = reported.facts, reported.yes
    has_doubles = len(set(named)) != len(named) or len(set(agreeing)) != len(agreeing)
    if has_doubles or not 2 <= len(named) <= MAX_MEMBERS:
        return None
    if not all(1 <= number <= len(facts) for number in named):
        return None
    if not agreeing or not set(agreeing) < set(named):
        return None
    members = [facts[number - 1] for number in sorted(named)]
    if not any(may_disagree(fact, members) for fact in members):
        return None
    for_yes = [facts[number - 1] for number in sorted(agreeing)]
    against = [fact for fact in members if fact not in for_yes]
    question = in_one_line(reported.question)
    if not is_askable(question, members):
        question = _own_question(reported.kind, for_yes, against)
    return Finding(
        kind=reported.kind,
        fact_ids=tuple(fact.id for fact in members),
        yes_keeps=tuple(fact.id for fact in for_yes),
        question=question,
        reasoning=showable(reported.reasoning, members, facts) or _REASONING[reported.kind],
        severity=reported.severity,
        confidence=NARRATIVE_CONFIDENCE,
        suggestion="no" if reported.kind == "stale" else None,
        rules=(MODEL[reported.kind].id,),
    )


def is_askable(question: str, members: Sequence[Fact]) -> bool:
    """Return whether the model's question may be shown: a yes/no question about the facts."""
    if len(question) > QUESTION_MAX_CHARS or not question.endswith("?") or question.count("?") > 1:
        return False
    if not _YES_OR_NO.match(question) or ORDERS.search(question) or _LINE_NUMBERS.search(question):
        return False
    return _says_only(question, members)


def _says_only(question: str, members: Sequence[Fact]) -> bool:
    """Return whether each word and number of a question is in the members' texts."""
    contents = [legible(fact.content) for fact in members]  # as the model read them
    member_stems = {stem for content in contents for stem in stems(content)}
    written = {token.lower() for content in contents for token in tokens(content)}
    for token in tokens(question):
        word = token.lower()
        if _FRAMING.fullmatch(word) or word in written:
            continue
        of_token = set(stems(token))
        if not of_token or not of_token <= member_stems:
            return False
    return len(set(stems(question)) & member_stems) >= min(MIN_SHARED_STEMS, len(member_stems))


def _own_question(kind: FindingKind, for_yes: Sequence[Fact], against: Sequence[Fact]) -> str:
    named, other = for_yes[-1].content, against[-1].content
    ask = {"reversal": ask_reversal, "ambiguity": ask_ambiguity, "stale": ask_stale}[kind]
    return ask(named, other)
