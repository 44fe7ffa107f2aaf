"""A fact answers that something is gone, and another answer relies on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from conflicts.core.answers.departures import Departure, fuller_names, is_elsewhere
from conflicts.core.answers.gone import MIN_STEMS, Gone, find_gone, has_identifier, is_meant
from conflicts.core.answers.history import Histories
from conflicts.core.answers.index import AnswerIndex, StatedAnswer
from conflicts.core.answers.question_words import names_its_thing
from conflicts.core.answers.questions import MIN_COSINE
from conflicts.core.answers.sorts import sort_of
from conflicts.core.comparable import is_comparable
from conflicts.core.cues import GOES_BACK, REPLACES, Cue
from conflicts.core.facts import Finding
from conflicts.core.questions import ANSWER_CHARS, quote
from conflicts.core.rules.gone_then_used import is_replaced
from conflicts.core.rules.rule import DATE_FORMAT, Rule
from conflicts.core.stale import make_stale
from conflicts.core.timeline import Timeline
from memories.core.answer_values import compare_values, is_yes_or_no
from memories.core.answers import Answer
from memories.core.topic_words import named_stems, stems

RULE: Final = Rule(
    id="stale.answer-gone",
    meaning="A statement answers that something is no longer there, and another one, older or "
    "newer, names it as an answer that still holds.",
    module=__name__,
    example=(
        "Rule changes need a nod from Mireille.",
        "We had cake for Mireille on Friday, she starts at the bank on Monday.",
    ),
    answers=(
        (Answer("Who approves rule changes?", "Mireille"),),
        (Answer("Does Mireille still work here?", "no", was="yes"),),
    ),
)
CONFIDENCE: Final = 0.75
_SPEAKS_OF_PAST: Final = (*GOES_BACK, Cue.PAST, Cue.END)
MIN_WEIGHT: Final = 0.8


def find(histories: Histories, fresh: Collection[int]) -> list[Finding]:
    """Return the answers that name what another answer says is gone."""
    timeline = histories.timeline
    triggers = frozenset(fresh)
    found = []
    for gone in find_gone(timeline):
        for leaning, named in _relying(timeline, histories.index, gone):
            end = gone.stated.position
            if triggers.isdisjoint((leaning.position, end)) or leaning.position == end:
                continue
            if (
                _stands_on(histories, leaning, gone.stated, named)
                if leaning.position < end
                else _is_used_later(timeline, leaning, gone.stated, named)
            ):
                found.append(_make_finding(timeline, leaning, gone.stated))
    return found


def _relying(
    timeline: Timeline, index: AnswerIndex, gone: Gone
) -> Iterator[tuple[StatedAnswer, frozenset[str]]]:
    """Yield the answers that name a thing or presuppose it, with the stems that do."""
    found = index.naming_any(gone.thing)
    if gone.departure:
        found = _of_who_left(timeline, gone, gone.departure, found)
    for leaning in found:
        named = gone.thing & frozenset(stems(leaning.answer.answer))
        is_whole = is_meant(gone, _told(timeline, leaning), named)
        is_mostly = bool(gone.presupposed) and 2 * len(named) > len(gone.thing)
        if (is_whole or is_mostly) and _is_thing(timeline, leaning, gone, named):
            yield leaning, named
    if len(gone.presupposed) >= MIN_STEMS:
        for leaning in index.presupposing(gone.presupposed):
            if not is_yes_or_no(leaning.answer.answer):
                yield leaning, gone.presupposed


def _of_who_left(
    timeline: Timeline, gone: Gone, departure: Departure, found: Sequence[StatedAnswer]
) -> list[StatedAnswer]:
    """Return the answers that may name who left: no namesake, and nobody of another place."""
    answers = [one.answer.answer for one in found]
    added = fuller_names(departure.name, [timeline.facts[gone.stated.position].content, *answers])
    kept = []
    for one in found:
        fact = timeline.facts[one.position]
        own = fuller_names(departure.name, [one.answer.answer])
        is_namesake = any(mine.isdisjoint(other) for mine in own for other in added)
        told = f"{fact.scope} {fact.content} {one.answer.question}"
        if not is_namesake and not is_elsewhere(departure.place, told):
            kept.append(one)
    return kept


def _told(timeline: Timeline, stated: StatedAnswer) -> frozenset[str]:
    """Return the stems of a memory with those of one question and answer of it."""
    answer, fact = stated.answer, timeline.facts[stated.position]
    return frozenset(stems(f"{fact.content} {answer.question} {answer.answer}"))


def _is_thing(timeline: Timeline, leaning: StatedAnswer, gone: Gone, named: frozenset[str]) -> bool:
    """Return whether the words of an answer name the thing that is gone."""
    thing = gone.thing
    value = frozenset(stems(leaning.answer.answer))
    is_proper = not named.isdisjoint(named_stems(gone.stated.answer.question))
    if named == thing and (is_proper or named == value or len(named) >= MIN_STEMS):
        return timeline.overlap(named) >= MIN_WEIGHT
    old = timeline.statements[leaning.position]
    own_names = value & (old.names | named_stems(leaning.answer.answer))
    names = named & (old.names | named_stems(gone.stated.answer.question))
    if own_names and not own_names <= named | frozenset(stems(gone.stated.answer.question)):
        return bool(names) and len(own_names & named) * 2 >= len(own_names)
    is_named = (
        bool(names)
        or has_identifier(named, thing, _told(timeline, leaning))
        or (len(named) >= MIN_STEMS and named >= value)
    )
    return is_named and timeline.overlap(named) >= MIN_WEIGHT


def _stands_on(
    histories: Histories,
    leaning: StatedAnswer,
    gone: StatedAnswer,
    named: frozenset[str],
) -> bool:
    """Return whether an older answer still holds for all that was said to its question since."""
    timeline, index = histories.timeline, histories.index
    old, end = (timeline.statements[one.position] for one in (leaning, gone))
    if not is_comparable(old, end) or timeline.has_cue(leaning.position, Cue.TEMPORARY, Cue.PAST):
        return False
    if any(answer.was and named & frozenset(stems(answer.was)) for answer in old.fact.answers):
        return False  # who says that it was left relies on it no more
    history = histories.read(index.same_question(leaning))
    holding = [one.position for one in history.holding]
    if leaning.position not in holding or holding[-1] > gone.position:
        return False
    if _names_successor(timeline, index, leaning, gone):
        return False
    return not is_replaced(timeline, leaning.position, gone.position, named)


def _is_used_later(
    timeline: Timeline, leaning: StatedAnswer, gone: StatedAnswer, named: frozenset[str]
) -> bool:
    """Return whether a newer answer relies on what is gone, and nothing says that it is back."""
    end, new = (timeline.statements[one.position] for one in (gone, leaning))
    if not is_comparable(end, new) or timeline.has_cue(leaning.position, *_SPEAKS_OF_PAST):
        return False
    if is_yes_or_no(leaning.answer.answer) or any(answer.was for answer in new.fact.answers):
        return False
    near = {*timeline.neighbours(gone.position), *timeline.neighbours(leaning.position)}
    return not any(
        i > gone.position
        and i != leaning.position
        and not named.isdisjoint(timeline.statements[i].stems)
        and timeline.has_cue(i, *REPLACES)
        for i in sorted(near)
    )


def _names_successor(
    timeline: Timeline, index: AnswerIndex, leaning: StatedAnswer, gone: StatedAnswer
) -> bool:
    """Return whether the fact that tells the end gives the older question another answer."""
    return any(
        answer.was is not None
        and compare_values(answer.was, leaning.answer.answer) == "same"
        and sort_of(answer.question) == sort_of(leaning.answer.question)
        and (
            index.cosine(answer, leaning.answer) >= MIN_COSINE
            or names_its_thing(answer.question, leaning.answer.question)
        )
        for answer in timeline.facts[gone.position].answers
    )


def _make_finding(timeline: Timeline, leaning: StatedAnswer, gone: StatedAnswer) -> Finding:
    old, end = timeline.facts[leaning.position], timeline.facts[gone.position]
    asked, value = (
        quote(text, ANSWER_CHARS) for text in (leaning.answer.question, leaning.answer.answer)
    )
    if old.observed_at < end.observed_at:
        told = f"Since {old.observed_at:{DATE_FORMAT}} the answer to {asked} is {value}, which is"
        lacking = "gives another answer"
    else:
        told = f"On {old.observed_at:{DATE_FORMAT}} the answer to {asked} is {value}, which was"
        lacking = "says that it is back"
    return make_stale(
        old,
        end,
        reasoning=f"{told} reported gone on {end.observed_at:{DATE_FORMAT}}, and no memory "
        f"{lacking}.",
        confidence=CONFIDENCE,
        rule_id=RULE.id,
    )
