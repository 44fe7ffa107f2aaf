"""A pair of facts that may contradict each other, with the properties that rules read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from conflicts.core import apart
from conflicts.core.conditions import are_day_parts, are_parted
from conflicts.core.rules.rule import Rule
from conflicts.core.statements import Statement
from conflicts.core.timeline import Timeline
from memories.core.claims import ClaimComparison

MIN_NEARNESS: Final = 0.80
MIN_MATTER_WEIGHT: Final = 2.9
MIN_SLOT_NEARNESS: Final = 0.76
MIN_SLOT_WEIGHT: Final = 1.9
MIN_SHARED_WEIGHT: Final = 4.5
# How reasons of claim comparison begin.
_OTHER_SUBJECT: Final = "other subject"
_OTHER_ITEM: Final = "other item"


@dataclass(frozen=True, slots=True)
class Clash:
    """Positions of two disagreeing facts, why they disagree, and the rule that says so."""

    older: int
    newer: int
    reasons: tuple[str, ...]
    strength: float
    rule: Rule


@dataclass(frozen=True)
class FactPair:
    """Two facts of a timeline by position, the older first, and how their claims compare."""

    timeline: Timeline
    older: int
    newer: int
    comparison: ClaimComparison

    @cached_property
    def a(self) -> Statement:
        """The older statement."""
        return self.timeline.statements[self.older]

    @cached_property
    def b(self) -> Statement:
        """The newer statement."""
        return self.timeline.statements[self.newer]

    @cached_property
    def texts(self) -> tuple[str, str]:
        """The texts of both."""
        return self.a.fact.content, self.b.fact.content

    @cached_property
    def cosine(self) -> float:
        """The cosine of the two vectors."""
        return self.timeline.cosine(self.older, self.newer)

    @cached_property
    def shared(self) -> float:
        """Weight of the words that both use."""
        return self.timeline.overlap(self.a.stems & self.b.stems)

    @cached_property
    def nearness(self) -> float:
        """Meaning and words together."""
        return self.timeline.nearness(self.older, self.newer)

    @cached_property
    def names_exclude(self) -> bool:
        """Return whether other names exclude each other; the names of two subjects do not."""
        return not self.comparison.reasons[0].startswith(_OTHER_SUBJECT)

    @cached_property
    def is_of_other_thing(self) -> bool:
        """Return whether claim comparison reads the only claims of both as on two things.

        Between sentences with other verbs another subject may be the same thing otherwise named.
        """
        one, other = self.a.reading.claims, self.b.reading.claims
        if len(one) != 1 or len(other) != 1:
            return False
        reason = self.comparison.reasons[0]
        is_one_frame = one[0].verb == other[0].verb
        return reason.startswith(_OTHER_ITEM) or (
            is_one_frame and reason.startswith(_OTHER_SUBJECT)
        )

    @cached_property
    def is_denied_by_one(self) -> bool:
        """Return whether each text makes one claim, and just one of them denies something."""
        one, other = self.a.reading.claims, self.b.reading.claims
        are_single = len(one) == len(other) == 1
        return are_single and one[0].polarity != other[0].polarity

    @cached_property
    def are_siblings(self) -> bool:
        """Return whether the workspace tells what the texts speak of apart."""
        return self.timeline.siblings.are_apart(*self.texts)

    @cached_property
    def is_one_slot(self) -> bool:
        """Return whether the texts share enough to fill one slot of one sentence."""
        return self.nearness >= MIN_SLOT_NEARNESS and self.shared >= MIN_SLOT_WEIGHT

    @cached_property
    def is_one_case(self) -> bool:
        """Return whether neither weekdays, parts of the day nor conditions part the texts."""
        a, b = self.a, self.b
        return not (apart.is_other_day(a, b) or are_day_parts(a, b) or are_parted(a, b))

    @cached_property
    def is_one_matter(self) -> bool:
        """Return whether the texts share enough to speak of one matter in one case."""
        is_near = self.nearness >= MIN_NEARNESS and self.shared >= MIN_MATTER_WEIGHT
        return is_near and self.is_one_case

    @cached_property
    def shares_much(self) -> bool:
        """Return whether the texts share enough words to be about one subject."""
        return self.is_one_matter and self.shared >= MIN_SHARED_WEIGHT

    def clash(self, rule: Rule, *reasons: str, strength: float) -> Clash:
        """Return a clash of the two texts."""
        return Clash(self.older, self.newer, reasons, strength, rule)
