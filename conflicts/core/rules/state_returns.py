"""A named state returns to an earlier value, and no text mentions the return."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from conflicts.core.facts import Finding
from conflicts.core.questions import ask_state
from conflicts.core.rules.rule import Rule
from conflicts.core.severity import severity_of
from conflicts.core.states import ThingState, find_returns
from conflicts.core.timeline import Timeline

RULE: Final = Rule(
    id="reversal.state-returns",
    meaning="A named state (status, phase, stage, …) came back to an earlier value, and nothing "
    "says that it was set back.",
    module=__name__,
    example=(
        "EIP-3 has status Draft",
        "EIP-3 has status Review",
        "EIP-3 has status Draft",
    ),
)
CONFIDENCE: Final = 0.9


def find(
    timeline: Timeline, fresh: Collection[int], states: Mapping[int, ThingState]
) -> list[Finding]:
    """Return histories of one thing's state that come back, each at most one finding.

    ``states`` hold the facts that declare a state and nothing else, by position.
    """
    histories: dict[tuple[str, ...], list[tuple[int, ThingState]]] = defaultdict(list)
    for i in sorted(states):
        histories[(*states[i].key, timeline.facts[i].project)].append((i, states[i]))
    triggers = set(fresh)
    return [
        _make_finding(timeline, [(i, states[i]) for i in positions], newest, between)
        for history in histories.values()
        if not triggers.isdisjoint(i for i, _ in history)
        for positions, newest, between in find_returns(history)
        if not triggers.isdisjoint(positions)
    ]


def _make_finding(
    timeline: Timeline,
    path: Sequence[tuple[int, ThingState]],
    newest: ThingState,
    between: ThingState,
) -> Finding:
    """Ask about the newest value; ``path`` is oldest first."""
    facts = [timeline.facts[i] for i, _ in path]
    values = " → ".join(state.written for _, state in path)
    return Finding(
        kind="reversal",
        fact_ids=tuple(fact.id for fact in facts),
        yes_keeps=tuple(timeline.facts[i].id for i, s in path if s.value == newest.value),
        question=ask_state(newest.subject, newest.attribute, newest.written, between.written),
        reasoning=f"The {newest.attribute} of {newest.subject} went {values} and no memory says "
        "that it was set back.",
        severity=severity_of(facts),
        confidence=CONFIDENCE,
        suggestion=None,
        rules=(RULE.id,),
    )
