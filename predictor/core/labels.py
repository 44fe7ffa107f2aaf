"""Compute a memory's label in a session from the judge's relevance and later behaviour.

The rules, in order:

1. A memory that was merged or culled since has no label.
2. *raw* is the judge's relevance. Of a memory that was not judged nothing is known: it has no
   label, unless one of the following rules gives it one. So it is with one that the judge rated
   far apart in two orders of the list: it is unsure.
3. The agent's feedback, when given, replaces raw and rule 4. So does what the agent said at the end
   of how much it used the memory: `weight` of that and the rest of the judge's relevance, all of it
   where the judge has none.
4. Text matches of prompts. Injected and matched: +0.1, at most 1. Injected, never matched, in a
   session scored below 0.3: -0.1, at least -0.1. Not injected: matched once at least 0.3, matched
   twice or more at least 0.6, named by the judge as missing at least 0.7.
5. Later changes by people, or by a provenance class of at least the same weight, only lower the
   label: superseded at most -0.3, forgotten by a person within a day of injection at most -0.5.

However many prompts a memory's words match, this adds at most 0.1 when it was injected, and gives
at most 0.6 when it was not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MIN_CONFIDENCE = 0.6  # of the judge
FLAT = 0.1
WEAK_SESSION = 0.3
MATCH_BONUS = 0.1
MATCHED_ONCE = 0.3
MATCHED_TWICE = 0.6
MISSING = 0.7
SUPERSEDED = -0.3
FORGOTTEN = -0.5

JUDGED = "judged"
USED = "use reported by the agent"
UNKNOWN = "not known"
UNSURE = "the judge is unsure"
CONTRADICTED = "contradicted in the transcript"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts of one memory in one session from which its label is computed.

    Parameters
    ----------
    relevance : the judge's, in [0, 1]; None when it was not judged.
    feedback : the agent's, in [-1, 1]; None when none was given.
    used : how much the agent said that it used the memory, in [0, 1]; None when it did not say.
    weight : of `used` against `relevance`, in [0, 1].
    superseded : whether it was superseded after the session began, by a person or by a provenance
        class of at least the same weight, and not by the session itself.
    is_withdrawn : whether it was merged or culled.
    is_unsure : whether the judge read it without a relevance to tell.
    is_contradicted : whether the transcript contradicts it, so that its words say nothing of use.
    """

    relevance: float | None = None
    was_injected: bool = False
    hit_count: int = 0
    feedback: float | None = None
    used: float | None = None
    weight: float = 1.0
    is_named_missing: bool = False
    superseded: bool = False
    forgotten_by_person_within_24h: bool = False
    is_withdrawn: bool = False
    is_unsure: bool = False
    is_contradicted: bool = False


@dataclass(frozen=True, slots=True)
class AdjustedLabel:
    """A label before (`raw`) and after behaviour (`final`), None without one, and its rules."""

    raw: float | None
    final: float | None
    reasons: tuple[str, ...] = ()


def label(evidence: Evidence, *, session_score: float) -> AdjustedLabel:
    """Return the label of a memory in a session scored ``session_score`` in [0, 1]."""
    if evidence.is_withdrawn:
        return AdjustedLabel(None, None, ("withdrawn",))
    raw = None if evidence.relevance is None else min(1.0, max(0.0, evidence.relevance))
    reasons = [_why_unknown(evidence) if raw is None else JUDGED]
    value = raw
    if evidence.feedback is not None:
        value = min(1.0, max(-1.0, evidence.feedback))
        reasons.append("agent feedback")
    elif evidence.used is not None:
        value = blend(evidence.used, evidence.relevance, evidence.weight)
        reasons.append(USED)
    elif raw is not None or _is_known_by_words(evidence):
        value, matched = _adjust(raw or 0.0, evidence, session_score)
        reasons += matched
    if evidence.superseded:
        value = min(SUPERSEDED, value if value is not None else SUPERSEDED)
        reasons.append("superseded")
    if evidence.forgotten_by_person_within_24h and evidence.was_injected:
        value = min(FORGOTTEN, value if value is not None else FORGOTTEN)
        reasons.append("forgotten by a person")
    return AdjustedLabel(raw, value, tuple(reasons))


def blend(used: float, relevance: float | None, weight: float) -> float:
    """Return the agent's word on a memory's use, with what the judge says where it says something.

    Both are in [0, 1], and so is the result.
    """
    if relevance is None:
        return min(1.0, max(0.0, used))
    return min(1.0, max(0.0, weight * used + (1.0 - weight) * relevance))


def is_flat(relevances: Iterable[float]) -> bool:
    """Return whether all relevances are within 0.1 of each other."""
    values = list(relevances)
    return not values or max(values) - min(values) <= FLAT + 1e-9


def _why_unknown(evidence: Evidence) -> str:
    if evidence.is_contradicted:
        return CONTRADICTED
    return UNSURE if evidence.is_unsure else UNKNOWN


def _is_known_by_words(evidence: Evidence) -> bool:
    """Return whether prompts or topics tell of a memory that was not shown."""
    is_told = evidence.hit_count > 0 or evidence.is_named_missing
    return is_told and not evidence.was_injected and not evidence.is_contradicted


def _adjust(raw: float, evidence: Evidence, session_score: float) -> tuple[float, list[str]]:
    hits = evidence.hit_count
    if evidence.was_injected:
        if hits > 0:
            return min(1.0, raw + MATCH_BONUS), ["injected and matched"]
        if session_score < WEAK_SESSION:
            return raw - MATCH_BONUS, ["never matched in a weak session"]
        return raw, []
    value, reasons = raw, []
    if hits >= 2:
        value, reasons = max(value, MATCHED_TWICE), ["matched twice or more"]
    elif hits == 1:
        value, reasons = max(value, MATCHED_ONCE), ["matched once"]
    if evidence.is_named_missing:
        value, reasons = max(value, MISSING), [*reasons, "named as missing"]
    return value, reasons
