"""Measure what a changed support says about drift.

A statement that was rewritten with many others was mostly reworded; one that was edited alone was
edited for what it says. So how many statements are gone is a part of the evidence, and which share
of those that were near to the memory: neither depends on how long the rest of the note is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from memories.core.answers import Answer
from memories.core.drift.edits import Edit, edits_of
from memories.core.drift.estimate import Estimate
from memories.core.drift.narrowing import narrowing
from memories.core.drift.opposition import opposition
from memories.core.drift.parts import values_of, weights_of
from memories.core.drift.passages import Statement
from memories.core.drift.support import Scored, Support, covered, covered_by, digests_of
from memories.core.likelihood import UNKNOWN

SURELY_SAME: Final = 0.8  # likelihood from which a new wording says what the old one did
_SMALL_EDIT: Final = 0.6
_LEAST_SHARE: Final = 0.25  # of the supported words: what covers less of them is a side remark
_LEAST_GONE: Final = 0.1  # share; below it all edits are equally deliberate
_FEW: Final = 3  # statements that are near to a memory, where it is not known which are
_READ_AGAINST: Final = 3  # statements, the nearest ones, that may exclude the memory
_REWRITTEN: Final = 8  # statements; from here on, all edits are of a note that was rewritten


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about the changed support of a memory.

    Attributes
    ----------
    fall : float
        Greatest fall of similarity from a supporting statement to what replaced it, -2..2.
    lost, lost_values : float
        Share, 0..1, of the memory's supported words (values count twice) that is gone, and of it
        the numbers, dates and names.
    lost_words : mapping of str
        What is gone, by key, as written.
    new_values : tuple of str
        As written: the values that the replacing statement brought.
    same, contradicted : float
        Least likelihood that old and new wording say the same; greatest that they exclude
        each other.
    is_opposed : str
        How the new wording turns the old one round: a negation, an opposite, an order, something
        that joins what the memory says to be the only one; "" when nothing shows.
    against : float
        Greatest likelihood that one of the nearest statements excludes the memory, 0..1.
    gone : float
        Share, 0..1, of the earlier note's statements near to the memory that the present note does
        not have.
    gone_count : int
        How many of all its statements that does not have.
    """

    fall: float
    lost: float
    lost_values: float
    lost_words: Mapping[str, str]
    new_values: tuple[str, ...]
    same: float
    contradicted: float
    is_opposed: str
    against: float
    gone: float
    gone_count: int

    @property
    def features(self) -> tuple[float, ...]:
        """Return the numbers that a calibration weighs, in the order of FEATURES."""
        is_nothing_lost = not (self.lost or self.new_values or self.is_opposed)
        return (
            max(self.fall, 0.0),
            self.lost,
            self.lost_values,
            self.same,
            self.contradicted,
            float(bool(self.is_opposed)),
            float(bool(self.new_values)),
            float(is_nothing_lost),
            self.against,
        )

    @property
    def deliberateness(self) -> float:
        """Return how far the edit was made for the memory's part of the note, -1.04..2.3.

        -ln(share x root of count) of what is gone: a share of at least 0.1, a count of 1..8.
        """
        count = min(_REWRITTEN, max(1, self.gone_count))
        return -math.log(min(1.0, max(_LEAST_GONE, self.gone)) * math.sqrt(count))


FEATURES: Final = (
    "fall", "lost", "lost values", "same", "contradicted", "opposed", "new value", "nothing lost",
    "against",
)  # fmt: skip


def is_reworded(found: Evidence) -> bool:
    """Return whether the changed support surely says the same in other words."""
    return found.same >= SURELY_SAME and not (found.new_values or found.is_opposed)


def weighty_edits(text: str, support: Support, present: Sequence[Scored]) -> tuple[Edit, ...]:
    """Return the edits of supporting statements, none where all are of a side remark.

    What covers few of the supported words is one, unless the new wording turns it round or
    narrows it.
    """
    edits = edits_of(support, present)
    total = sum(len(one.shared) for one in support.sentences)
    is_aside = sum(len(edit.before.shared) for edit in edits) < _LEAST_SHARE * total
    is_against = is_aside and any(
        opposition(text, edit) or narrowing(text, edit, present) for edit in edits
    )
    return () if is_aside and not is_against else edits


def evidence_of(
    text: str,
    support: Support,
    edits: Sequence[Edit],
    present: Sequence[Scored],
    *,
    estimate: Estimate | None,
    answers: Sequence[Answer] = (),
) -> Evidence:
    """Measure the changed support of a memory's text (without its links) and answers."""
    weights = weights_of(text, answers)
    changed = {id(edit.before) for edit in edits}
    held = {
        key
        for sentence in support.sentences
        if id(sentence) not in changed
        for key in covered(sentence.statement)
    }
    total = sum(weights.get(k, 1) for s in support.sentences for k in s.shared) or 1
    own = {key for told in (text, *(one.answer for one in answers)) for key in values_of(told)}
    lost: dict[str, str] = {}
    new_values: dict[str, str] = {}
    opposed = ""
    same, contradicted = 1.0, 0.0
    for edit in edits:
        # In a small edit, a word that left its sentence is gone, whatever another sentence says.
        nearest = edit.candidates[: 1 if edit.likeness >= _SMALL_EDIT else None]
        there = covered_by(nearest)
        gone = {k: w for k, w in edit.before.shared.items() if k not in held and k not in there}
        lost |= gone
        if edit.after is None:
            same = 0.0
            continue
        old = values_of(edit.before.text)
        new_values |= {
            key: written
            for key, written in values_of(edit.after.text).items()
            if key not in old and key not in own and key not in held
        }
        opposed = opposed or opposition(text, edit)
        told = [
            estimate(*_wordings(edit.before.statement, scored.statement)) if estimate else UNKNOWN
            for scored in edit.candidates
        ]
        same = min(same, max(one.same + one.refines for one in told))
        contradicted = max(contradicted, told[0].contradicts + told[0].updates)
    missing = support.digests - digests_of(scored.statement for scored in present)
    return Evidence(
        fall=max((edit.fall for edit in edits), default=0.0),
        lost=sum(weights.get(key, 1) for key in lost) / total,
        lost_values=sum(weights[key] for key in lost if weights.get(key, 1) > 1) / total,
        lost_words=lost,
        new_values=tuple(dict.fromkeys(new_values.values())),
        same=same,
        contradicted=contradicted,
        is_opposed=opposed,
        against=_against(text, present, estimate) if estimate else 0.0,
        gone=_share_gone(support, missing),
        gone_count=len(missing),
    )


def _against(text: str, present: Sequence[Scored], estimate: Estimate) -> float:
    nearest = sorted(present, key=lambda scored: -scored.cosine)[:_READ_AGAINST]
    told = [estimate(text, scored.statement.text) for scored in nearest]
    return max((one.contradicts + one.updates for one in told), default=0.0)


def _share_gone(support: Support, missing: Set[str]) -> float:
    """Return which share of the statements near to the memory is gone, 0..1.

    Which were near is not known of older records: there all count, as if they were a few.
    """
    if support.near:
        return len(support.near & missing) / len(support.near)
    return min(1.0, len(missing) / max(1, min(_FEW, len(support.digests))))


def _wordings(before: Statement, after: Statement) -> tuple[str, str]:
    """Return what to compare: of equal texts under other headings the headings, too."""
    if before.text != after.text:
        return before.text, after.text
    return before.in_context, after.in_context
