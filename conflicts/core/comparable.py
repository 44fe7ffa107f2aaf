"""Shared questions of the rules: same conversation, same subject, settled since."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.cues import Cue
from conflicts.core.facts import Fact
from conflicts.core.members import members_of
from conflicts.core.qualifiers import name_other_members, qualifiers
from conflicts.core.statements import Statement
from conflicts.core.two_things import name_two_things
from memories.core.calendar_words import MONTHS, SEASONS, WEEKDAYS
from memories.core.gate import PROVENANCE_RANK
from memories.core.slots import slot_of
from memories.core.topic_words import stems

_SCOPE_JOINT: Final = re.compile(r"[:/]")
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


def belong_together(a: Statement, b: Statement) -> bool:
    """Return whether two facts share a conversation or lineage, or one supersedes the other."""
    return bool(
        (a.conversation and a.conversation == b.conversation)
        or a.fact.lineage == b.fact.lineage
        or a.fact.supersedes == b.fact.id
        or b.fact.supersedes == a.fact.id
    )


def is_less_trusted(a: Statement, b: Statement) -> bool:
    """Return whether the provenance of `a` ranks below that of `b`."""
    return _rank(a) < _rank(b)


def _rank(statement: Statement) -> int:
    return PROVENANCE_RANK.get(statement.fact.provenance, 0)


def other_qualifier(a: Statement, b: Statement) -> bool:
    """Return whether the texts name different members of one family: staging, production.

    Where both give a value to an attribute, the members in their values do not count: "The region
    of the archive is EU".
    """
    if not name_other_members(a.qualifiers, b.qualifiers):
        return False
    left, right = _without_value(a.fact), _without_value(b.fact)
    return not (left and right) or name_other_members(qualifiers(left), qualifiers(right))


def _without_value(fact: Fact) -> str:
    """Return scope and text without the value of an attribute, "" where no value is given."""
    slot = slot_of(fact.content)
    return f"{fact.scope} {fact.content.replace(slot.written, '')}" if slot else ""


def scope_words(fact: Fact) -> frozenset[str]:
    """Stems of the last part of a scope, which names its thing: "svc:billing" is billing."""
    return frozenset(stems(_SCOPE_JOINT.split(fact.scope)[-1].replace("-", " ")))


def _kind(fact: Fact) -> str:
    first, *rest = _SCOPE_JOINT.split(fact.scope)
    return first.lower() if rest else ""


def other_entity(a: Statement, b: Statement) -> bool:
    """Return whether a text's entity and the other's are different ones of one kind.

    "svc:billing" and "svc:search" are of one kind, "svc:billing" and "team:finance" are not.
    """
    mine, theirs = scope_words(a.fact), scope_words(b.fact)
    return bool(
        _kind(a.fact) == _kind(b.fact)
        and _kind(a.fact) in _KINDS_OF_THINGS
        and mine.isdisjoint(theirs)
        and ((theirs & b.stems and not theirs & a.stems) or (mine & a.stems and not mine & b.stems))
    )


def is_of_other_place(a: Statement, b: Statement) -> bool:
    """Return whether the scopes name two things of one kind, and neither text the other's.

    For texts that may leave out what their scope says: "The timeout is 30 s" in "svc:billing".
    """
    mine, theirs = scope_words(a.fact), scope_words(b.fact)
    return (
        _kind(a.fact) == _kind(b.fact)
        and _kind(a.fact) in _KINDS_OF_THINGS
        and mine.isdisjoint(theirs)
        and theirs.isdisjoint(a.stems)
        and mine.isdisjoint(b.stems)
    )


_WORD: Final = re.compile(r"\w[\w-]*")


def other_member(a: Statement, b: Statement) -> bool:
    """Return whether both texts name members of one kind, and none in common: "tenant Acme".

    "Account DE99 instead of DE11" names account DE11 too.
    """
    mine, theirs = members_of(a.fact.content), members_of(b.fact.content)
    return any(
        mine[kind].isdisjoint(theirs[kind])
        and not _mentions(b, mine[kind])
        and not _mentions(a, theirs[kind])
        for kind in mine.keys() & theirs.keys()
    )


def _mentions(statement: Statement, names: frozenset[str]) -> bool:
    return not names.isdisjoint(_WORD.findall(statement.fact.content.lower()))


def is_real(statement: Statement) -> bool:
    """Return whether a text states a fact: no question, proposal, exercise or recollection."""
    if statement.has(Cue.UNREAL):
        return False
    is_own = bool(_TOLD.match(statement.fact.content))
    return any(
        claim.modality in {"fact", "plan"} or (is_own and claim.modality == "quote")
        for claim in statement.reading.claims
    )


# What the writer told others is the writer's own word: "Told the caller that we are closed."
_TOLD: Final = re.compile(r"(?:told|informed|replied|answered|explained)\b", re.IGNORECASE)
_PERIOD: Final = re.compile(
    r"^(?:(?:at\sthe\s)?end\sof|in|for|by|during|from|on|until|kw|week|since)?\s?"
    r"(?P<period>(?:week|kw|cw|q|sprint|round|day|visit|version|v)\s?\d+(?:\.\d+)*|"
    rf"(?:{'|'.join((*MONTHS, *WEEKDAYS, *SEASONS))})s?(?:\s\d{{4}})?|\d{{4}})\b"
    r"(?!\s(?:is|was)\b)",  # a value before its attribute: "1902 is the year of …"
    re.IGNORECASE,
)


def other_period(a: Statement, b: Statement) -> bool:
    """Return whether both texts begin with different periods: "Week 40: …", "In May …"."""
    mine, theirs = _PERIOD.match(a.fact.content), _PERIOD.match(b.fact.content)
    return bool(mine and theirs and mine["period"].lower() != theirs["period"].lower())


def is_comparable(a: Statement, b: Statement) -> bool:
    """Return whether two statements can contradict each other at all: facts about one thing."""
    return may_be_of_one_thing(a, b) and is_real(a) and is_real(b)


def may_be_of_one_thing(a: Statement, b: Statement) -> bool:
    """Return whether two statements may be about one thing.

    They come from different conversations, and neither names another environment, tenant, season
    or thing than the other.
    """
    return not (
        belong_together(a, b)
        or other_qualifier(a, b)
        or other_entity(a, b)
        or other_period(a, b)
        or other_member(a, b)
        or name_two_things(a, b)
    )
