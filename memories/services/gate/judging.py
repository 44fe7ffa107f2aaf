"""Compare a statement with given neighbours, by their texts alone; needs no database."""

from __future__ import annotations

from collections.abc import Iterable

from engram.kernel.configuration import WorkspaceSettings
from memories.core.claims import ClaimComparison
from memories.core.comparing import Comparer
from memories.core.gate import GateDecision, Side, choose_better_wording, decide
from memories.core.likelihood import Likelihood
from memories.core.objections import objection
from memories.core.reasons import distinct
from memories.models import Memory
from memories.services.gate.neighbours import NearMemory
from memories.services.gate.report import JudgedNeighbour, NewStatement


def judge_among(
    statement: NewStatement,
    found: Iterable[NearMemory],
    config: WorkspaceSettings,
    comparer: Comparer,
) -> list[JudgedNeighbour]:
    """Compare a statement with given neighbours, nearest first.

    The caller applies the decisions of people.
    """
    return judge(statement, near_of(found, config), config, comparer)


def near_texts(found: Iterable[NearMemory], config: WorkspaceSettings) -> list[str]:
    """Return the texts of the neighbours that a statement is compared with, nearest first."""
    return [memory.content for memory, _ in near_of(found, config)]


def estimated(
    found: Iterable[NearMemory], configs: Iterable[WorkspaceSettings]
) -> list[NearMemory]:
    """Return the neighbours whose relation is estimated under any of these settings."""
    every = list(configs)
    return [row for row in found if any(_is_compared(row[1], config) for config in every)]


def near_of(found: Iterable[NearMemory], config: WorkspaceSettings) -> list[NearMemory]:
    """Return the neighbours above the threshold, and always the nearest: its relation is shown."""
    rows = list(found)
    return rows[:1] + [row for row in rows[1:] if not row[1] < config.gate_threshold]


def judge(
    statement: NewStatement,
    near: Iterable[NearMemory],
    config: WorkspaceSettings,
    comparer: Comparer,
) -> list[JudgedNeighbour]:
    """Compare a statement with its near neighbours and decide about each."""
    judged: list[JudgedNeighbour] = []
    for memory, cosine in near:
        comparison = comparer.compare(memory.content, statement.content)
        stored, incoming = comparer.read(memory.content), comparer.read(statement.content)
        better = choose_better_wording(memory.content, statement.content, stored, incoming)
        decision = decide_pair(
            statement, memory, cosine, comparison, config,
            better="stored" if better == "a" else "incoming",
            chances=(
                comparer.estimate(memory.content, statement.content, cosine)
                if _is_compared(cosine, config)
                else None
            ),
        )  # fmt: skip
        if decision.outcome == "suggested" and comparison.relation == "different":
            decision = _leave_to_people(decision, objection(stored, incoming))
        judged.append(JudgedNeighbour(memory, cosine, comparison, decision))
    return judged


def decide_pair(
    statement: NewStatement,
    memory: Memory,
    cosine: float,
    comparison: ClaimComparison,
    config: WorkspaceSettings,
    *,
    better: Side,
    chances: Likelihood | None = None,
) -> GateDecision:
    """Return the decision for one pair under the settings of a workspace."""
    return decide(
        comparison,
        cosine,
        threshold=config.gate_threshold,
        policy=config.gate_policy,
        provenance_stored=memory.provenance,
        provenance_incoming=statement.provenance,
        better=better,
        chances=chances,
    )


def _is_compared(cosine: float, config: WorkspaceSettings) -> bool:
    return config.gate_policy != "off" and cosine >= config.gate_threshold


def _leave_to_people(decision: GateDecision, objection: str) -> GateDecision:
    """Turn a suggestion that no rule could judge into a rejection if there is an objection."""
    if not objection:
        return decision
    return GateDecision("created", "stored", distinct((*decision.reasons, objection)))
