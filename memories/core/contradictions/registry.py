"""All rules that find a contradiction, in the order in which they run.

Each rule is a module with `find`, which returns a reading, or None when the rule does not apply.
The first reading decides. `RULES` are of two claims: denied or reversed claims are checked before
differing ones. `TEXT_RULES` are of whole texts, where no two claims contradict each other
(`memories/core/text_contradictions.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from memories.core.cases import Case, CaseReading
from memories.core.claim_types import Reading
from memories.core.contradictions import (
    denial,
    exchange,
    moved_away,
    negation,
    one_at_a_time,
    opposites,
    order,
    owner,
    pairing,
    restricted,
    value,
)

RULES: Final[tuple[Callable[[Case], CaseReading | None], ...]] = (
    denial.find,
    exchange.find,
    value.find,
    opposites.find,
    negation.find,
    one_at_a_time.find,
    moved_away.find,
    owner.find,
    restricted.find,
)
TEXT_RULES: Final[tuple[Callable[[Reading, Reading], CaseReading | None], ...]] = (
    pairing.find,
    order.find,
)
