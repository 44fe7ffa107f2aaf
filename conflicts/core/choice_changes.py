"""Changes that name nothing but the new choice: "We use REST", "We switched to GraphQL".

The old claim and its restatement are found by the other products of the kind, because the change
shares no word with either.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from conflicts.core.comparable import is_comparable
from conflicts.core.cues import NO_STANDING_CLAIM, Cue
from conflicts.core.reversals import ANNOUNCES, Reversal, is_taken_back
from conflicts.core.statements import Statement
from conflicts.core.timeline import Timeline
from memories.core.alignment import kinds_of
from memories.core.lexicon import KINDS, is_product
from memories.core.topic_words import stems

# With more facts about the old product, nothing says which of its uses was changed.
MOST_USES: Final = 6
MOST_CHANGES: Final = 6  # to one product
MIN_COSINE: Final = 0.35  # of the old claim and its restatement
STRENGTH: Final = 0.6
# Words of an announcement that name no matter: "we have finally switched over to".
_ANNOUNCING: Final = frozenset(
    stems(
        "switched switching swapped moved move migrated changed adopted chose replaced completed"
        " fully finally good last week now over"
    )
)
# Words of "The API is REST-based", "Run npm install to set up".
_USE: Final = frozenset(
    stems(
        "api app backend base build built ci code install project run set stack test tests written"
    )
)


def find_choice_returns(timeline: Timeline, change: int) -> Iterator[Reversal]:
    """Yield the returns to a product that a fact like "We switched to GraphQL" has left."""
    turn = timeline.statements[change]
    brought = _brought(turn)
    if not brought or not turn.has(Cue.SWITCH):
        return
    for left in _others_of_kind(brought):
        uses = timeline.facts_with(left)
        if len(uses) > MOST_USES or (turn.left_words and left not in turn.left_words):
            continue
        for earlier in (i for i in uses if i < change and _may_be_left(timeline, i, turn)):
            for restated in (k for k in uses if k > change):
                if _restates(timeline, earlier, change, restated, brought):
                    yield Reversal(earlier, change, restated, STRENGTH)


def find_choice_changes(timeline: Timeline, i: int) -> Iterator[int]:
    """Yield the facts that change to another product of a kind of which fact ``i`` names one."""
    for product in sorted(_products(timeline.statements[i])):
        for other in _others_of_kind(product):
            facts = timeline.facts_with(other)
            yield from islice((j for j in facts if timeline.has_cue(j, Cue.SWITCH)), MOST_CHANGES)


def _products(statement: Statement) -> frozenset[str]:
    return frozenset(filter(is_product, statement.stems))


def _brought(turn: Statement) -> str:
    """Return the product that a change brings, "" where it names none or any other matter."""
    products = _products(turn)
    new = products - turn.left_words
    if len(new) != 1 or turn.stems - products - _ANNOUNCING:
        return ""
    return next(iter(new))


def _states_use(new: Statement) -> bool:
    """Return whether a text says what is used, and names no other matter: "Our CI is Jenkins"."""
    products = _products(new)
    kinds = {word for product in products for kind in kinds_of(product) for word in stems(kind)}
    return not new.stems - products - kinds - _USE


@lru_cache(maxsize=1024)
def _others_of_kind(product: str) -> tuple[str, ...]:
    """Return the other products of the kinds of one, in alphabetical order."""
    kinds = kinds_of(product)
    others = (other for other, theirs in KINDS.items() if not kinds.isdisjoint(theirs))
    return tuple(sorted(set(others) - {product}))


def _may_be_left(timeline: Timeline, earlier: int, turn: Statement) -> bool:
    """Return whether an older fact states the use of a product, and names no other matter."""
    old = timeline.statements[earlier]
    if old.stems != _products(old) or old.fact.scope != turn.fact.scope:
        return False
    return is_comparable(old, turn) and not old.has(*NO_STANDING_CLAIM)


def _restates(timeline: Timeline, earlier: int, change: int, restated: int, brought: str) -> bool:
    """Return whether a later fact states the old use again and says nothing of a change."""
    old, turn, new = (timeline.statements[i] for i in (earlier, change, restated))
    if brought in new.stems or new.fact.scope != turn.fact.scope or not _states_use(new):
        return False
    if not is_comparable(old, new) or not is_comparable(turn, new):
        return False
    if timeline.cosine(earlier, restated) < MIN_COSINE or new.has(*ANNOUNCES):
        return False
    return not is_taken_back(timeline, old.stems, change, restated)
