"""Decide the relation of two claims: `same`, `refines`, `contradicts` or `different`.

Every rule first requires that everything else agrees. Two claims contradict when one slot has
values that exclude each other; when two slots differ they are on two topics. Pairs that no rule
can judge are `different`: precision is preferred to recall.
"""

from __future__ import annotations

from memories.core import one_value
from memories.core.agreements import agreement
from memories.core.cases import (
    Case,
    CaseReading,
    Relation,
    build_case,
    different,
    names,
    on_topic,
    positions,
)
from memories.core.claim_types import Claim
from memories.core.contradictions.registry import RULES
from memories.core.other_subjects import other_subject

__all__ = ["OF_TWO_THINGS", "CaseReading", "Relation", "relate"]

OF_TWO_THINGS = "one sentence of two things"


def relate(a: Claim, b: Claim) -> CaseReading:
    """Decide the relation of two claims.

    Returns
    -------
    CaseReading
        `contradicts` and `same` are symmetric; `refines` names the finer side.
    """
    return one_value.find(a, b) or _relate_cases(a, b, build_case(a, b))


def _relate_cases(a: Claim, b: Claim, case: Case) -> CaseReading:
    if not on_topic(case):
        # A paraphrase may have few common words; different values as well make it unlikely.
        is_clear = bool(case.found.clashes or case.found.opposed)
        confidence = 0.5 if is_clear else 0.45
        return different("they speak of different things", confidence=confidence)
    if a.modality != b.modality:
        return different(f"one is a {a.modality}, the other a {b.modality}", confidence=0.6)
    if reason := other_subject(case):
        return different(reason, confidence=0.7)
    if a.modality == "fact":
        for rule in RULES:
            if verdict := rule(case):
                return verdict
    if reason := _find_substitution(case):
        return different(reason, confidence=0.6)
    return agreement(case)


def _find_substitution(case: Case) -> str:
    """Return a reason when one sentence has different words in one slot, else "".

    A paraphrase has another structure; the same structure with another filler ("picks her up from
    school", "picks her up from violin lessons") is another fact.
    """
    left_a, left_b = case.left_a, case.left_b
    if not case.both_left or case.a.verb != case.b.verb or case.parity_differs:
        return ""
    if any(term.is_verb for term in left_a + left_b):
        return ""
    if {(t.region, t.prep) for t in left_a} != {(t.region, t.prep) for t in left_b}:
        return ""
    pairs = case.found.same
    if any((p.a.region, p.a.prep) != (p.b.region, p.b.prep) for p in pairs) or len(pairs) < 3:
        return ""
    follows = [b for _, b in sorted(positions(case, pairs))]
    if follows != sorted(follows):
        return ""
    return f"{OF_TWO_THINGS}: {names(left_a)} vs {names(left_b)}"
