"""Say what each verdict on a card would do, to the card and to each of its statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from conflicts.models.decision import Verdict
from conflicts.services.cards.consequences import (
    CardQuestion,
    Consequences,
    consequences,
    why_unclear,
)
from conflicts.services.cards.naming import CardNames, day_of, name_answer
from engram.kernel.labels import letter_of
from engram.kernel.refusals import InvalidError

# Verdict, label and tone, in the order of the keys 1 to 6. The first two name their sides, if any.
VERDICT_BUTTONS = (
    (Verdict.YES, "Yes", "keep"),
    (Verdict.NO, "No", "drop"),
    (Verdict.KEEP, "Keep the ticked ones", "keep"),
    (Verdict.BOTH_VALID, "Both are valid", "calm"),
    (Verdict.NONE_VALID, "None is valid", "drop"),
    (Verdict.DISMISS, "Not a conflict", "calm"),
)


@dataclass(frozen=True, slots=True)
class VerdictPreview:
    """A verdict with its effect; `memory_effects` has the effect on each statement, by number.

    `whole` is the statement that `label` gives in part, else "".
    """

    key: int
    verdict: str
    label: str
    tone: str
    effect: str
    is_possible: bool = True
    is_suggested: bool = False
    asks_for: str = ""
    memory_effects: dict[int, str] = field(default_factory=dict)
    whole: str = ""


class _Called(NamedTuple):
    """What a member is called: by its value, its day (each "" if it has no own), or its number."""

    number: int
    value: str
    day: str

    @property
    def as_successor(self) -> str:
        """Return the member in the middle of a sentence."""
        return self.value or (f"that of {self.day}" if self.day else letter_of(self.number))


def outcomes(
    numbers: dict[UUID, int], question: CardQuestion, suggested: str, names: CardNames
) -> tuple[VerdictPreview, ...]:
    """Return a preview of every verdict; `numbers` are those of the statements on the card."""
    found = []
    called = _call_members(numbers, question, names)
    for key, (verdict, label, tone) in enumerate(VERDICT_BUTTONS, start=1):
        effect, asks_for, is_possible, member_effects = _effect(verdict, question, called)
        named, whole = _name_sides(verdict, names, count=len(question.live), is_clear=not asks_for)
        found.append(
            VerdictPreview(
                key=key,
                verdict=verdict.value,
                label=named or label,
                tone="calm" if named.startswith("Keep") and verdict == Verdict.NO else tone,
                effect=effect,
                asks_for=asks_for,
                is_possible=is_possible,
                is_suggested=verdict == suggested,
                memory_effects=member_effects,
                whole=whole,
            )
        )
    return tuple(found)


def _name_sides(
    verdict: Verdict, names: CardNames, *, count: int, is_clear: bool
) -> tuple[str, str]:
    """Return the label of an answer to this card, "" where the general one does.

    A yes or no names the side which stays; `count` is the number of live memories. With it comes
    the statement that the label gives in part, else "".
    """
    if verdict == Verdict.BOTH_VALID and count > 2:
        return "All are valid", ""
    label = name_answer(verdict, names, is_clear=is_clear)
    side = names.other if verdict == Verdict.NO and is_clear else names.yes
    return label, side.whole if label and side and not names.is_stale else ""


def _call_members(
    numbers: dict[UUID, int], question: CardQuestion, names: CardNames
) -> dict[UUID, _Called]:
    """Return what effects call the live members: their value if there are two, or their day."""
    values = {}
    if names.has_values and len(question.live) == 2:
        values = {side.memory.id: side.value for side in (names.yes, names.other) if side}
    days = {memory.id: day_of(memory.observed_at) for memory in question.live}
    count = Counter(days.values())
    return {
        pk: _Called(numbers[pk], values.get(pk, ""), day if count[day] == 1 else "")
        for pk, day in days.items()
    }


def _effect(
    verdict: Verdict, question: CardQuestion, called: dict[UUID, _Called]
) -> tuple[str, str, bool, dict[int, str]]:
    """Return the effect as a sentence, "keep" if it is needed, if possible, effects by number."""
    says_yes = {memory.id for memory in question.members if memory.id in question.says_yes}
    if verdict == Verdict.KEEP:
        return (
            "The ticked memories stay; the others are superseded by the newest of them."
            + _aside(question.aside, called),
            "keep",
            bool(question.members),
            {},
        )
    try:
        plan = consequences(question, verdict, [])
    except InvalidError:
        if verdict == Verdict.YES or not says_yes:
            return "No memory that says so is active any more.", "", False, {}
        rest = [memory for memory in question.members if memory.id not in says_yes]
        return (
            f"{_describe(says_yes, called)} {_is_or_are(says_yes)} retired. "
            f"{why_unclear(question, rest)}: tick those that are true."
            + _aside(question.aside, called),
            "keep",
            True,
            {called[i].number: "retired" for i in says_yes},
        )
    return _sentence(verdict, plan, called), "", True, _memory_effects(plan, called)


def _aside(ids: Collection[UUID], called: dict[UUID, _Called]) -> str:
    """Return a sentence about the statements that a verdict does not change."""
    if not ids:
        return ""
    verb = "speaks" if len(ids) == 1 else "speak"
    return f" {_describe(ids, called)} {verb} of something else and {_stays(ids)} as before."


def _stays(ids: Collection[UUID]) -> str:
    return "stays" if len(ids) == 1 else "stay"


def _memory_effects(plan: Consequences, called: dict[UUID, _Called]) -> dict[int, str]:
    stays = (*plan.kept, *plan.aside)
    effects = (("stays", stays), ("superseded", plan.superseded), ("retired", plan.retired))
    return {called[memory.id].number: effect for effect, memories in effects for memory in memories}


def _sentence(verdict: Verdict, plan: Consequences, called: dict[UUID, _Called]) -> str:
    if verdict == Verdict.DISMISS:
        return "Nothing changes. The detector was wrong and does not ask again."
    if verdict == Verdict.BOTH_VALID:
        return "All stay active. This is remembered as no contradiction."
    parts = []
    if plan.kept:
        kept = [m.id for m in plan.kept]
        parts.append(f"{_describe(kept, called)} {_stays(kept)}.")
    if plan.superseded and plan.successor:
        gone = [m.id for m in plan.superseded]
        by = "it" if len(plan.kept) == 1 else called[plan.successor.id].as_successor
        parts.append(f"{_describe(gone, called)} {_is_or_are(gone)} superseded by {by}.")
    if plan.retired:
        gone = [m.id for m in plan.retired]
        parts.append(f"{_describe(gone, called)} {_is_or_are(gone)} retired.")
    if verdict == Verdict.NONE_VALID:
        parts.append("An answer, if one is given with it, replaces them.")
    return " ".join(parts) + _aside([m.id for m in plan.aside], called)


def _describe(ids: Collection[UUID], called: dict[UUID, _Called]) -> str:
    """Name members at the beginning of a sentence, in the order of the card."""
    ordered = sorted(called[pk] for pk in ids)
    begins = ""
    words = [f"“{one.value}”" if one.value else "" for one in ordered]
    if not all(words):
        words = [one.day for one in ordered]
        begins = "The statement of " if len(words) == 1 else "The statements of "
    if not all(words):
        words, begins = [letter_of(one.number) for one in ordered], ""
    return begins + (" and " if len(words) < 3 else ", ").join(words)


def _is_or_are(ids: Collection[UUID]) -> str:
    return "is" if len(ids) == 1 else "are"
