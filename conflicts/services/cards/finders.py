"""Who found a card, by which rules, and what that finding is worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conflicts.core.rules.registry import rule_of
from conflicts.core.rules.reported import UNKNOWN
from conflicts.core.rules.rule import Rule
from conflicts.models import Conflict
from conflicts.models.judgement import JudgedRelation, Judgement
from engram.kernel.models import Event

TOLD = {
    "rules": "The rules",
    "narrative": "The narrative pass",
    "agent": "An agent",
    "person": "A person",
}
FOUND = ("conflict.opened", "conflict.joined")


@dataclass(frozen=True, slots=True)
class Finder:
    """One that found the card: its kind, its name, what it said, and how often it was right."""

    kind: str
    name: str
    said: str = ""
    weight: float | None = None  # in (0, 1), where the finder has a record


def finders(card: Conflict, events: Sequence[Event], *, is_withheld: bool) -> tuple[Finder, ...]:
    """Return who found a card, in the order in which they did; a withheld card quotes nobody."""
    found: list[Finder] = []
    for kind in card.detected_by:
        if kind == "agent" and (judged := _judgements(card)):
            found.extend(
                Finder(kind, f"{TOLD[kind]}: {one.agent}", "" if is_withheld else one.reason,
                       one.weight)
                for one in judged
            )  # fmt: skip
        elif kind in {"agent", "person"}:
            found.append(Finder(kind, _reporter(kind, events)))
        else:
            found.append(Finder(kind, TOLD.get(kind, kind)))
    return tuple(found)


def rules_of(card: Conflict) -> tuple[Rule, ...]:
    """Return the rules that found a card, first the one that opened it."""
    return tuple(map(rule_of, card.rules))


def further_rules(card: Conflict, found_by: Iterable[str]) -> list[str]:
    """Return the rules that found a card besides the one that opened it, with those that do now."""
    known = dict.fromkeys([*card.further_rules, *found_by])
    return [rule for rule in known if rule not in (card.rule, UNKNOWN.id)]


def _judgements(card: Conflict) -> list[Judgement]:
    told = card.judgements.filter(relation=JudgedRelation.CONTRADICTS)
    return list(told.order_by("created_at", "pk"))


def _reporter(kind: str, events: Sequence[Event]) -> str:
    """Name who reported by hand, as history tells it (events come newest first)."""
    by = {"agent": "key", "person": "user"}[kind]
    told = [e for e in events if e.type in FOUND and e.actor_kind == by and e.actor_label]
    return f"{TOLD[kind]}: {told[-1].actor_label}" if told else TOLD[kind]
