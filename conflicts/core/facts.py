"""Input and output of the detective: facts and findings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memories.core.answers import Answer

FindingKind = Literal["reversal", "ambiguity", "stale"]
Severity = Literal["low", "medium", "high"]
Suggestion = Literal["yes", "no", "both_valid"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One live memory, or a past one, as the detective sees it.

    ``lineage`` names the chain of versions, ``id`` this version; ``observed_at`` is aware or
    naive, but the same for all facts of a call; ``supersedes`` is the id of the fact that this
    one replaces explicitly; ``writer`` names the key that wrote it: the same ``session_key`` of
    another writer is another session; ``answers`` are the questions that its writer says it
    answers; ``is_past`` is true of what was replaced since: only a return to it is looked for.
    """

    id: str
    lineage: str
    content: str
    scope: str
    project: str
    agent: str
    session_key: str
    observed_at: datetime
    provenance: str
    supersedes: str | None = None
    kind: str = "semantic"
    writer: str = ""
    answers: tuple[Answer, ...] = ()
    is_past: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """Facts that contradict each other, or leave open which of them is true.

    ``fact_ids`` are all that take part, oldest first; ``yes_keeps`` the facts that say what the
    question names; ``unlisted`` are more facts that disagree with them, since a card lists only so
    many; ``confidence`` is in [0, 1]; ``suggestion`` is the detector's opinion and never a
    decision; ``rules`` are the ids of the rules that found it, first the one whose reason the
    question gives; ``answers`` are what facts answer to one question, as pairs of fact id and
    answer, where the finding rests on that.
    """

    kind: FindingKind
    fact_ids: tuple[str, ...]
    yes_keeps: tuple[str, ...]
    question: str
    reasoning: str
    severity: Severity
    confidence: float
    suggestion: Suggestion | None
    rules: tuple[str, ...]
    unlisted: tuple[str, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DetectiveSettings:
    """Thresholds of the deterministic tier; similarities are cosines of the local model.

    Attributes
    ----------
    neighbour_cosine
        From which cosine on two facts are worth comparing.
    max_neighbours
        Facts compared with one fact, by meaning and by words each.
    max_term_share, min_term_facts
        A word leads to other facts while at most this share of all facts has it, or this many.
    session_minutes
        Longest pause within one conversation.
    min_confidence
        Findings below are not reported.
    question_margin
        Added to the cosines from which two questions are the same, in [-0.2, 0.2]: above 0 fewer
        are.
    embedding_model
        Whose vectors are handed in; "" for one that no weights are fitted to.
    muted_rules
        Ids of rules that find nothing; others may still find something in the same facts.
    """

    neighbour_cosine: float = 0.45
    max_neighbours: int = 24
    max_term_share: float = 0.02
    min_term_facts: int = 30
    session_minutes: float = 15.0
    min_confidence: float = 0.5
    question_margin: float = 0.0
    embedding_model: str = ""
    muted_rules: frozenset[str] = frozenset()
