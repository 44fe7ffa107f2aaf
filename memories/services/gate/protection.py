"""Keep what people decided: pairs they keep apart, memories they wrote, open conflicts."""

from __future__ import annotations

from dataclasses import replace

from engram.kernel.actors import Actor
from memories.core.gate import GateDecision, GateOutcome
from memories.models import Provenance
from memories.services.disputes import disputes_of
from memories.services.gate.report import (
    PROBABLY_KNOWN,
    GateReport,
    JudgedNeighbour,
    NewStatement,
)
from memories.services.gate.suggestions import kept_apart_from
from memories.services.review.trust import is_decided_by_person, why_untrusted


def protect_decided(report: GateReport, statement: NewStatement, actor: Actor) -> GateReport:
    """Replace a merge if a person has decided about the memory since the gate compared it.

    The caller has locked the memory. A verdict that keeps a memory does not change its row, so
    events are read.
    """
    best = report.best
    if best is None or report.outcome != "merged" or not best.decision.folds:
        return report
    spared = protect_trusted(best, statement, actor)
    return replace(report, outcome=spared.decision.outcome, best=spared)


def protect_disputed(report: GateReport) -> GateReport:
    """Replace a merge that would reword a memory in an open conflict by a suggestion.

    The caller has locked the memory. A merge that keeps its wording stays a merge.
    """
    best = report.best
    if best is None or report.outcome != "merged" or not disputes_of([best.memory.id]):
        return report
    reasons = (*best.decision.reasons, "people are asked whether the stored memory holds")
    if best.comparison.relation == "same":
        decision = replace(best.decision, survivor="stored", reasons=reasons)
    elif best.decision.survivor == "stored":
        return report
    else:
        decision = GateDecision("suggested", "stored", reasons, folds=False)
    judged = replace(best, decision=decision)
    return replace(report, outcome=decision.outcome, best=judged)


def respect_decisions(
    statement: NewStatement, judged: list[JudgedNeighbour], actor: Actor
) -> list[JudgedNeighbour]:
    """Keep split or rejected pairs apart, and do not reword trusted memories."""
    known = [one for one in judged if one.decision.outcome in PROBABLY_KNOWN]
    if not known:
        return judged
    apart = kept_apart_from(statement.digest, [one.memory.content_hash for one in known])
    heeded = []
    for one in judged:
        if one in known and one.memory.content_hash in apart:
            decision = GateDecision(
                "created", "stored", ("these two are kept apart since a split or a rejection",)
            )
            heeded.append(replace(one, decision=decision))
        elif one.decision.outcome == "merged":
            heeded.append(protect_trusted(one, statement, actor))
        else:
            heeded.append(one)
    return heeded


def protect_trusted(one: JudgedNeighbour, statement: NewStatement, actor: Actor) -> JudgedNeighbour:
    """Allow a merge to change no more than a revision by the same actor could.

    Where the memory is more trusted, or a person wrote or decided about it, an agent's statement is
    only stored as an observation.
    """
    stored = one.memory
    if actor.is_reviewer:
        return one
    if Provenance(statement.provenance).trust < Provenance(stored.provenance).trust:
        reason = f"the stored memory is {stored.provenance} and stays as it is"
    elif why_untrusted(stored, statement.provenance, actor):
        reason = "the stored memory leads sessions and stays as it is"
    elif is_decided_by_person(stored):
        reason = "a person wrote the stored memory or decided about it"
    else:
        return one
    says_more = one.decision.survivor == "incoming" and one.comparison.relation != "same"
    reasons = (*one.decision.reasons, reason)
    outcome: GateOutcome = "suggested" if says_more else "merged"
    return replace(one, decision=GateDecision(outcome, "stored", reasons, folds=False))
