"""An answer that an announced change had left is given again, as if nothing had changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from conflicts.core.answers.history import History, Return, stands
from conflicts.core.answers.index import AnswerIndex, StatedAnswer
from conflicts.core.answers.pairs import announces_change, are_comparable, tells_return
from conflicts.core.facts import Finding
from conflicts.core.questions import ANSWER_CHARS, ask_reversal, quote
from conflicts.core.rules.rule import DATE_FORMAT, Rule
from conflicts.core.settled import is_settled
from conflicts.core.severity import severity_of
from conflicts.core.timeline import Timeline
from memories.core.answer_values import compare_values, is_name
from memories.core.answers import Answer
from memories.core.topic_words import stems

RULE: Final = Rule(
    id="reversal.answer-returns",
    meaning="A change of the answer to a question was noted, yet the answer from before it is "
    "given again later.",
    module=__name__,
    example=(
        "Since spring the carts wait in Valkey.",
        "To see a customer's basket, look it up in Memcached.",
    ),
    answers=(
        (Answer("Where are carts stored?", "Valkey", was="Memcached"),),
        (Answer("Where are carts stored?", "Memcached"),),
    ),
)
CONFIDENCE: Final = 0.85
MIN_COSINE: Final = 0.45  # of two questions to which one name is the answer
MIN_COMMON_WEIGHT: Final = 0.8  # of the words that they share


def find(timeline: Timeline, history: History) -> list[Finding]:
    """Return the answers that came back, each with its change."""
    return [_make_finding(timeline, found) for found in history.returns]


def find_named(timeline: Timeline, index: AnswerIndex, fresh: Collection[int]) -> list[Finding]:
    """Return answers that name again what a change had left, to another question on its matter."""
    return [
        _make_finding(timeline, Return(None, change, restated))
        for change, restated in sorted(_named_pairs(timeline, index, fresh), key=_order)
        if _is_named_again(timeline, index, change, restated)
    ]


def _named_pairs(
    timeline: Timeline, index: AnswerIndex, fresh: Collection[int]
) -> set[tuple[StatedAnswer, StatedAnswer]]:
    """Return the changes with the later answers that have a word of what was left, one fresh."""
    found = set()
    for position in fresh:
        for answer in timeline.facts[position].answers:
            own = StatedAnswer(position, answer)
            for restated in index.naming_any(frozenset(stems(answer.was or ""))):
                found.add((own, restated))
            for change in index.leaving_any(frozenset(stems(answer.answer))):
                found.add((change, own))
    return {(change, restated) for change, restated in found if restated.position > change.position}


def _order(pair: tuple[StatedAnswer, StatedAnswer]) -> tuple[tuple[int, str, str], ...]:
    return tuple((one.position, one.answer.question, one.answer.answer) for one in pair)


def _is_named_again(
    timeline: Timeline, index: AnswerIndex, change: StatedAnswer, restated: StatedAnswer
) -> bool:
    """Return whether a later answer is the name that a change left, and nobody says it is back."""
    left, value = change.answer.was or "", restated.answer.answer
    if compare_values(left, value) != "same" or tells_return(timeline, restated):
        return False
    common = index.share_matter(change, restated, least=MIN_COSINE) - frozenset(stems(left))
    return (
        timeline.overlap(common) >= MIN_COMMON_WEIGHT
        and is_name(left)
        and announces_change(timeline, change)
        and stands(timeline, restated)
        and are_comparable(timeline, change, restated)
        and not is_settled(timeline, change.position, restated.position)
    )


def _make_finding(timeline: Timeline, found: Return) -> Finding:
    """Ask whether the old answer holds again; yes keeps both statements of it."""
    held = [found.earlier, found.restated] if found.earlier else [found.restated]
    positions = sorted({one.position for one in (*held, found.change)})
    facts = [timeline.facts[i] for i in positions]
    turn, new = timeline.facts[found.change.position], timeline.facts[found.restated.position]
    changed, asked, value = (
        quote(text, ANSWER_CHARS)
        for text in (
            found.change.answer.question,
            found.restated.answer.question,
            found.restated.answer.answer,
        )
    )
    is_one = found.change.answer.identity == found.restated.answer.identity
    again = "again" if is_one else f"to {asked}"
    keeps = {one.position for one in held}
    return Finding(
        kind="reversal",
        fact_ids=tuple(fact.id for fact in facts),
        yes_keeps=tuple(timeline.facts[i].id for i in sorted(keeps)),
        question=ask_reversal(new.content, turn.content),
        reasoning=f"The answer to {changed} was changed on {turn.observed_at:{DATE_FORMAT}}, yet "
        f"on {new.observed_at:{DATE_FORMAT}} it is {value} {again}, without a word about going "
        "back.",
        severity=severity_of(facts),
        confidence=CONFIDENCE,
        suggestion=None,
        rules=(RULE.id,),
        answers=tuple(
            (timeline.facts[one.position].id, one.answer.answer) for one in (*held, found.change)
        ),
    )
