"""A changed value is stated again later, and no text mentions that it was changed back."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from conflicts.core.choice_changes import find_choice_changes, find_choice_returns
from conflicts.core.facts import Finding
from conflicts.core.questions import ask_reversal
from conflicts.core.reversals import Reversal, find_reversals, is_change
from conflicts.core.rules.rule import DATE_FORMAT, Rule
from conflicts.core.severity import severity_of
from conflicts.core.subjects import are_of_one_subject
from conflicts.core.timeline import Timeline

RULE: Final = Rule(
    id="reversal.value-returns",
    meaning="A change was noted, yet the value from before it is stated again later as if "
    "nothing had happened.",
    module=__name__,
    example=(
        "The storefront keeps carts in Memcached.",
        "Moved the storefront carts from Memcached to Valkey.",
        "Cart lookups of the storefront read Memcached.",
    ),
)
MAX_CONFIDENCE: Final = 0.95


def find(timeline: Timeline, fresh: Collection[int], states: Collection[int]) -> list[Finding]:
    """Return the returns that hold one of the ``fresh`` facts, the strongest first.

    ``states`` declare a state and nothing else: they take no part. There is one finding a change,
    and it shares no two facts with a stronger one.
    """
    free = set(fresh).difference(states)
    near = {j for i in free for j in (i, *timeline.neighbours(i))}
    near.update(j for i in free for j in find_choice_changes(timeline, i))
    changes = [i for i in sorted(near.difference(states)) if is_change(timeline, i)]
    timeline.prepare(changes)
    found = [
        reversal
        for change in changes
        for reversal in (*find_reversals(timeline, change), *find_choice_returns(timeline, change))
        if not free.isdisjoint((reversal.earlier, change, reversal.restated))
        and reversal.earlier not in states
        and reversal.restated not in states
        and are_of_one_subject(
            timeline.facts[i] for i in (reversal.earlier, change, reversal.restated)
        )
    ]
    chosen: list[Reversal] = []
    for reversal in sorted(found, key=lambda a: (-a.strength, a.earlier, a.change, a.restated)):
        facts = {reversal.earlier, reversal.change, reversal.restated}
        if all(
            reversal.change != a.change and len(facts & {a.earlier, a.change, a.restated}) < 2
            for a in chosen
        ):
            chosen.append(reversal)
    return [_make_finding(timeline, reversal) for reversal in chosen]


def _make_finding(timeline: Timeline, reversal: Reversal) -> Finding:
    """Ask whether the old value holds again; yes keeps both statements of it."""
    old, turn, new = (
        timeline.facts[i] for i in (reversal.earlier, reversal.change, reversal.restated)
    )
    return Finding(
        kind="reversal",
        fact_ids=(old.id, turn.id, new.id),
        yes_keeps=(old.id, new.id),
        question=ask_reversal(new.content, turn.content),
        reasoning=f"A change was noted on {turn.observed_at:{DATE_FORMAT}}, yet the earlier claim "
        f"is stated as current again on {new.observed_at:{DATE_FORMAT}} without a word about going "
        "back.",
        severity=severity_of([old, turn, new]),
        confidence=round(min(MAX_CONFIDENCE, 0.4 + 0.4 * reversal.strength), 3),
        suggestion=None,
        rules=(RULE.id,),
    )
