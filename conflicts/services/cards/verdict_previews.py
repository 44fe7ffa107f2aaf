"""Say what each verdict on a card would do, to the card and to each of its statements."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from conflicts.models.decision import Verdict
from conflicts.services.cards.consequences import (
    CardQuestion,
    Consequences,
    consequences,
    why_unclear,
)
from conflicts.services.cards.naming import CardNames, day_of
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
    """A verdict with its effect; `memory_effects` has the effect on each statement, by number."""

    key: int
    verdict: str
    label: str
    tone: str
    effect: str
    is_possible: bool = True
    is_suggested: bool = False
    asks_for: str = ""
    memory_effects: dict[int, str] = field(default_factory=dict)


def outcomes(
    numbers: dict[UUID, int], question: CardQuestion, suggested: str, names: CardNames
) -> tuple[VerdictPreview, ...]:
    """Return a preview of every verdict; `numbers` are those of the statements on the card."""
    found = []
    for key, (verdict, label, tone) in enumerate(VERDICT_BUTTONS, start=1):
        effect, asks_for, is_possible, member_effects = _effect(verdict, question, numbers)
        named = _name_sides(verdict, names, is_clear=not asks_for)
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
            )
        )
    return tuple(found)


def _name_sides(verdict: Verdict, names: CardNames, *, is_clear: bool) -> str:
    """Return the label of a yes or no that names the side which stays, "" if there is none."""
    if verdict not in {Verdict.YES, Verdict.NO} or names.yes is None or names.other is None:
        return ""
    if names.is_stale:
        gone = day_of(names.other.memory.observed_at)
        return "Still true" if verdict == Verdict.YES else f"No longer true since {gone}"
    if verdict == Verdict.YES:
        return f"Keep {names.yes.dated}"
    return f"Keep {names.other.dated}" if is_clear else f"Not {names.yes.words}"


def _effect(
    verdict: Verdict, question: CardQuestion, numbers: dict[UUID, int]
) -> tuple[str, str, bool, dict[int, str]]:
    """Return the effect as a sentence, "keep" if it is needed, if possible, effects by number."""
    says_yes = {memory.id for memory in question.members if memory.id in question.says_yes}
    if verdict == Verdict.KEEP:
        return (
            "The ticked memories stay; the others are superseded by the newest of them."
            + _aside(question.aside, numbers),
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
            f"{_describe(says_yes, numbers)} {_is_or_are(says_yes)} retired. "
            f"{why_unclear(question, rest)}: tick those that are true."
            + _aside(question.aside, numbers),
            "keep",
            True,
            {numbers[i]: "retired" for i in says_yes},
        )
    return _sentence(verdict, plan, numbers), "", True, _memory_effects(plan, numbers)


def _aside(ids: Collection[UUID], numbers: dict[UUID, int]) -> str:
    """Return a sentence about the statements that a verdict does not change."""
    if not ids:
        return ""
    verb = "speaks" if len(ids) == 1 else "speak"
    return f" {_describe(ids, numbers)} {verb} of something else and {_stays(ids)} as before."


def _stays(ids: Collection[UUID]) -> str:
    return "stays" if len(ids) == 1 else "stay"


def _memory_effects(plan: Consequences, numbers: dict[UUID, int]) -> dict[int, str]:
    stays = (*plan.kept, *plan.aside)
    effects = (("stays", stays), ("superseded", plan.superseded), ("retired", plan.retired))
    return {numbers[memory.id]: effect for effect, memories in effects for memory in memories}


def _sentence(verdict: Verdict, plan: Consequences, numbers: dict[UUID, int]) -> str:
    if verdict == Verdict.DISMISS:
        return "Nothing changes. The detector was wrong and does not ask again."
    if verdict == Verdict.BOTH_VALID:
        return "All stay active. This is remembered as no contradiction."
    parts = []
    if plan.kept:
        kept = [m.id for m in plan.kept]
        parts.append(f"{_describe(kept, numbers)} {_stays(kept)}.")
    if plan.superseded and plan.successor:
        gone = [m.id for m in plan.superseded]
        by = numbers[plan.successor.id]
        parts.append(f"{_describe(gone, numbers)} {_is_or_are(gone)} superseded by #{by}.")
    if plan.retired:
        gone = [m.id for m in plan.retired]
        parts.append(f"{_describe(gone, numbers)} {_is_or_are(gone)} retired.")
    if verdict == Verdict.NONE_VALID:
        parts.append("Your answer below, if you give one, replaces them.")
    return " ".join(parts) + _aside([m.id for m in plan.aside], numbers)


def _describe(ids: Collection[UUID], numbers: dict[UUID, int]) -> str:
    ordered = sorted(numbers[i] for i in ids)
    return (
        " and ".join(f"#{n}" for n in ordered)
        if len(ordered) < 3
        else ", ".join(f"#{n}" for n in ordered)
    )


def _is_or_are(ids: Collection[UUID]) -> str:
    return "is" if len(ids) == 1 else "are"
