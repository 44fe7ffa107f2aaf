"""Two facts answer one question differently, and nothing settles it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from conflicts.core.answers.history import Histories, History
from conflicts.core.answers.index import StatedAnswer
from conflicts.core.facts import Finding
from conflicts.core.parts import MAX_MEMBERS
from conflicts.core.questions import ANSWER_CHARS, OF_SOME, ask_ambiguity, quote
from conflicts.core.rules.rule import Rule
from conflicts.core.severity import severity_of
from memories.core.answer_values import compare_values
from memories.core.answers import Answer

RULE: Final = Rule(
    id="ambiguity.two-answers",
    meaning="Two statements answer one question, by their writers' word or their plain wording, "
    "and differently.",
    module=__name__,
    example=(
        "Refunds over 500 EUR go across the desk of the support lead.",
        "The treasurer has the last word when a customer wants much money back.",
    ),
    answers=(
        (Answer("Who approves refunds over 500 EUR?", "the support lead"),),
        (Answer("Who approves refunds over 500 EUR?", "the treasurer"),),
    ),
)
CONFIDENCE: Final = 0.8


def find(histories: Histories, history: History, asked_by: StatedAnswer) -> list[Finding]:
    """Return one finding of all answers that contradict each other; yes keeps the newest.

    Those that agree with a side belong to it, so that each further one joins the same card.
    """
    if not history.clashes:
        return []
    timeline = histories.timeline
    older, newest = max(history.clashes, key=lambda pair: (pair[1].position, pair[0].position))
    sides = {one for pair in history.clashes for one in pair}
    agreeing = (one for one in history.holding if _agrees(histories, one, sides, asked_by))
    answer_of = {one.position: one.answer.answer for one in (*agreeing, *sides)}
    members = sorted(answer_of)
    keeps = [i for i in members if compare_values(answer_of[i], newest.answer.answer) == "same"]
    facts = [timeline.facts[i] for i in members]
    asked, new, old = (
        quote(text, ANSWER_CHARS)
        for text in (newest.answer.question, newest.answer.answer, older.answer.answer)
    )
    return [
        Finding(
            kind="ambiguity",
            fact_ids=tuple(fact.id for fact in facts),
            yes_keeps=tuple(timeline.facts[i].id for i in keeps),
            question=ask_ambiguity(
                timeline.facts[newest.position].content, timeline.facts[older.position].content
            ),
            # A card lists some of many members; it quotes none that it may leave out.
            reasoning=OF_SOME
            if len(members) > MAX_MEMBERS
            else f"Asked {asked}, these memories answer {new} and {old}, and no later memory "
            "settles which one holds.",
            severity=severity_of(facts),
            confidence=CONFIDENCE,
            suggestion=None,
            rules=(RULE.id,),
            answers=tuple((timeline.facts[i].id, answer_of[i]) for i in members),
        )
    ]


def _agrees(
    histories: Histories,
    one: StatedAnswer,
    sides: Collection[StatedAnswer],
    asked_by: StatedAnswer,
) -> bool:
    """Return whether an answer to just this question agrees with one side, against another."""
    if one in sides or not histories.index.are_one(one, asked_by):
        return False
    return any(
        compare_values(one.answer.answer, side.answer.answer) == "same" for side in sides
    ) and any(
        histories.are_exclusive(*sorted((one, side), key=lambda stated: stated.position))
        for side in sides
    )
