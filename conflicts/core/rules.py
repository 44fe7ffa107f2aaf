"""Shared questions of the rules: same conversation, same subject, settled since."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.cues import Cue
from conflicts.core.facts import Fact
from conflicts.core.statements import Statement, stems

_CONTRASTS: Final[tuple[tuple[str, ...], ...]] = (
    (r"prod(?:uction)?|live", r"staging|stage", r"dev(?:elopment)?|local(?:ly)?|laptop", r"preview",
     r"demo|sandbox", r"ci|test(?:ing)?\s+(?:env\w*|cluster|stack)", r"qa"),
    (r"ios|iphone|ipad", r"android", r"web|browser|desktop", r"windows", r"macos|mac", r"linux"),
    (r"premium|business|enterprise", r"basic|starter|free", r"pro|team|growth", r"standard"),
    (r"express", r"standard|normal|regular"),
    (r"weekdays?|monday|tuesday|wednesday|thursday", r"weekends?|saturday|sunday"),
    (r"summer", r"winter"),
    (r"q1", r"q2", r"q3", r"q4"),
    (r"eu|europe(?:an)?", r"us|usa|america|american", r"uk|britain", r"asia|apac"),
    (r"client|customer|guest", r"staff|employee|internal"),
    (r"arm\s+a", r"arm\s+b", r"arm\s+c"),
    (r"primary", r"secondary", r"replica"),
    (r"office", r"warehouse", r"home", r"remote"),
    (r"inbound|incoming", r"outbound|outgoing"),
)  # fmt: skip
# Scopes "svc:billing" and "svc:search" name two things; "bakery:supply" and "bakery:allergens"
# two sides of one.
_KINDS_OF_THINGS: Final = frozenset(
    {
        "account", "app", "client", "cluster", "customer", "db", "device", "env", "host", "lab",
        "model", "package", "product", "project", "region", "repo", "repository", "room",
        "service", "site", "study", "svc", "system", "tenant", "trial", "user", "vendor",
        "warehouse", "wh",
    }
)  # fmt: skip
_HARD_CONTRASTS: Final = tuple(
    tuple(re.compile(rf"\b(?:{word})\b", re.IGNORECASE) for word in group) for group in _CONTRASTS
)


def belong_together(a: Statement, b: Statement) -> bool:
    """Whether two facts are of one conversation or lineage, or one replaces the other openly."""
    return bool(
        (a.conversation and a.conversation == b.conversation)
        or a.fact.lineage == b.fact.lineage
        or a.fact.supersedes == b.fact.id
        or b.fact.supersedes == a.fact.id
    )


def other_qualifier(a: Statement, b: Statement) -> bool:
    """Whether both texts name a different member of one family: staging against production."""
    left, right = f"{a.fact.scope} {a.fact.content}", f"{b.fact.scope} {b.fact.content}"
    for group in _HARD_CONTRASTS:
        mine = {i for i, word in enumerate(group) if word.search(left)}
        theirs = {i for i, word in enumerate(group) if word.search(right)}
        if mine and theirs and mine.isdisjoint(theirs):
            return True
    return False


def scope_words(fact: Fact) -> frozenset[str]:
    """Stems of the last part of a scope, which names its thing: "svc:billing" is billing."""
    return frozenset(stems(re.split(r"[:/]", fact.scope)[-1].replace("-", " ")))


def _kind(fact: Fact) -> str:
    return re.split(r"[:/]", fact.scope)[0].lower() if re.search(r"[:/]", fact.scope) else ""


def other_entity(a: Statement, b: Statement) -> bool:
    """Whether a text speaks of its own scope's thing, and the other has another of that kind.

    "svc:billing" and "svc:search" are two of a kind, "svc:billing" and "team:finance" are not.
    """
    mine, theirs = scope_words(a.fact), scope_words(b.fact)
    return bool(
        _kind(a.fact) == _kind(b.fact)
        and _kind(a.fact) in _KINDS_OF_THINGS
        and mine.isdisjoint(theirs)
        and ((theirs & b.stems and not theirs & a.stems) or (mine & a.stems and not mine & b.stems))
    )


def is_real(statement: Statement) -> bool:
    """Whether a text speaks of how things are: no question, proposal, exercise or memory of old."""
    return not statement.has(Cue.UNREAL) and any(
        claim.modality in {"fact", "plan"} for claim in statement.reading.claims
    )


_PERIOD: Final = re.compile(
    r"^(?:(?:at\s+the\s+)?end\s+of|in|for|by|during|from|on|until|kw|week|since)?\s*"
    r"(?P<period>(?:week|kw|cw|q|sprint|round|day|visit|version|v)\s*\d+(?:\.\d+)*|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"spring|summer|autumn|winter)s?(?:\s+\d{4})?|\d{4})\b",
    re.IGNORECASE,
)


def other_period(a: Statement, b: Statement) -> bool:
    """Whether both texts open with a period, and not with the same: "Week 40: …", "In May …"."""
    mine, theirs = _PERIOD.match(a.fact.content), _PERIOD.match(b.fact.content)
    return bool(mine and theirs and mine["period"].lower() != theirs["period"].lower())


def is_comparable(a: Statement, b: Statement) -> bool:
    """Whether two statements could stand against each other at all.

    Both speak of how things are, they come from different conversations, and neither names
    another environment, tenant, season or thing than the other.
    """
    return (
        not belong_together(a, b)
        and is_real(a)
        and is_real(b)
        and not other_qualifier(a, b)
        and not other_entity(a, b)
        and not other_period(a, b)
    )
