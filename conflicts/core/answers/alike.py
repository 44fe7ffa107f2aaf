"""Choose which of many equal answers to one question are compared with another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final

from conflicts.core.answers.index import StatedAnswer
from conflicts.core.cues import cues
from conflicts.core.timeline import Timeline
from memories.core.spelling import letters

ALIKE_READ: Final = 4  # equal answers, the newest


def without_repetitions(
    timeline: Timeline, stated: Sequence[StatedAnswer], asked: StatedAnswer
) -> list[StatedAnswer]:
    """Return answers to one question, oldest first, with the newest `ALIKE_READ` of equal ones.

    So n facts that give k answers cost each of them about k comparisons. Equal are answers in the
    same letters to the same wording, of one place, by texts that announce the same. Those of the
    asking fact's own conversation, which contradicts nothing in it, are all kept.
    """
    talk = timeline.statements[asked.position].conversation
    counts: Counter[Hashable] = Counter()
    kept = []
    for one in reversed(stated):
        if not talk or timeline.statements[one.position].conversation != talk:
            key = _key_of(timeline, one)
            counts[key] += 1
            if counts[key] > ALIKE_READ:
                continue
        kept.append(one)
    return kept[::-1]


def _key_of(timeline: Timeline, one: StatedAnswer) -> Hashable:
    fact, answer = timeline.facts[one.position], one.answer
    return (
        answer.identity, letters(answer.answer), letters(answer.was or ""),
        fact.scope, fact.project, fact.provenance, cues(fact.content),
    )  # fmt: skip
