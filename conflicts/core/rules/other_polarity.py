"""Of two texts with many common words one affirms what the other denies."""

from __future__ import annotations

from typing import Final

from conflicts.core.absence import absent_stems
from conflicts.core.opposites import denied_words
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from conflicts.core.stated_values import denies_other_value
from memories.core.frames import people
from memories.core.topics import other_topic

RULE: Final = Rule(
    id="ambiguity.other-words.negation",
    meaning="One statement affirms what another, in other words, denies.",
    module=__name__,
    example=(
        "Interns have access to the production database of billing.",
        "Access to the production billing database is never given to interns.",
    ),
)
STRENGTH: Final = 0.60
MIN_DENIED_WEIGHT: Final = 2.5


def find(pair: FactPair) -> Clash | None:
    """Look for words that one text affirms and the other denies."""
    if (
        not pair.shares_much
        or _are_of_other_people(pair)
        or denies_other_value(pair.a, pair.b)
        or other_topic(pair.a.reading, pair.b.reading, None)
        or absent_stems(pair.a) & absent_stems(pair.b)
    ):
        return None
    denied = denied_words(pair.a, pair.b)
    if pair.timeline.overlap(denied) < MIN_DENIED_WEIGHT:
        return None
    return pair.clash(RULE, "one affirms what the other denies", strength=STRENGTH)


def _are_of_other_people(pair: FactPair) -> bool:
    """Return whether each text names people of its own: what one may not do another may."""
    mine, theirs = map(people, pair.texts)
    return bool(mine and theirs and mine.isdisjoint(theirs))
