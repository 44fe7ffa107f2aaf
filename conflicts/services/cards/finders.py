"""List who found a card, by which rules, and the weight of each finder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conflicts.core.rules.registry import rule_of
from conflicts.core.rules.reported import UNKNOWN
from conflicts.core.rules.rule import Rule
from conflicts.models import Conflict
from conflicts.models.judgement import JudgedRelation, Judgement
from engram.kernel.models import Event
from memories.services.review.trust import PERSONS_ROLES, by_persons

LABELS = {
    "rules": "The rules",
    "narrative": "The language model",
    "agent": "An agent",
    "person": "A person",
}
CALLERS = ("user", "key")
FOUND = ("conflict.opened", "conflict.joined")


@dataclass(frozen=True, slots=True)
class Finder:
    """One finder of a card: kind, name, stated reason, and weight by its record."""

    kind: str
    name: str
    reason: str = ""
    weight: float | None = None  # in (0, 1), where the finder has a record


def finders(card: Conflict, events: Sequence[Event], *, is_withheld: bool) -> tuple[Finder, ...]:
    """Return the finders of a card in order; without reasons when the card is withheld."""
    found: list[Finder] = []
    for kind in card.detected_by:
        if kind == "agent" and (judged := _judgements(card)):
            found.extend(
                Finder(kind, f"{LABELS[kind]}: {one.agent}", "" if is_withheld else one.reason,
                       one.weight)
                for one in judged
            )  # fmt: skip
        elif kind in {"agent", "person"}:
            found.append(Finder(kind, _reporter(kind, events)))
        else:
            reason = card.model_reasoning if kind == "narrative" and not is_withheld else ""
            found.append(Finder(kind, LABELS.get(kind, kind), reason))
    return tuple(found)


def rules_of(card: Conflict) -> tuple[Rule, ...]:
    """Return the rules that found a card, first the one that opened it."""
    return tuple(map(rule_of, card.rules))


def further_rules(card: Conflict, found_by: Iterable[str]) -> list[str]:
    """Return the rules that found a card besides the one that opened it, with those that do now."""
    known = dict.fromkeys([*card.further_rules, *found_by])
    return [rule for rule in known if rule not in (card.rule, UNKNOWN.id)]


def _judgements(card: Conflict) -> list[Judgement]:
    judged = card.judgements.filter(relation=JudgedRelation.CONTRADICTS)
    judged = judged.exclude(key__role__in=PERSONS_ROLES)
    return list(judged.order_by("created_at", "pk"))


def _reporter(kind: str, events: Sequence[Event]) -> str:
    """Return the label of the reporter by the card's events, which come newest first."""
    found = [e for e in events if e.type in FOUND and e.actor_kind in CALLERS and e.actor_label]
    of_persons = Event.objects.filter(by_persons(), pk__in=[e.pk for e in found])
    persons = set(of_persons.values_list("pk", flat=True))
    found = [e for e in found if (e.pk in persons) == (kind == "person")]
    return f"{LABELS[kind]}: {found[-1].actor_label}" if found else LABELS[kind]
