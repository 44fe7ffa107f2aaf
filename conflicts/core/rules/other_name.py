"""Two texts fill one slot with different names: where it is stored, what deploys it."""

from __future__ import annotations

from typing import Final

from conflicts.core.apart import is_other_head
from conflicts.core.rules.pair import Clash, FactPair
from conflicts.core.rules.rule import Rule
from memories.core.frames import other_name

RULE: Final = Rule(
    id="ambiguity.other-words.name",
    meaning="Two statements name different tools, places or sources for one thing: where it is "
    "kept, what deploys it.",
    module=__name__,
    example=(
        "Firmware images of the meter are kept in Artifactory, one folder a release.",
        "Meter firmware images are stored in Nexus.",
    ),
)
STRENGTH: Final = 0.65


def find(pair: FactPair) -> Clash | None:
    """Compare the names that fill one slot, unless the subjects of the texts differ."""
    if not pair.is_one_slot or not pair.names_exclude or is_other_head(pair.a, pair.b):
        return None
    named = other_name(*pair.texts)
    return pair.clash(RULE, named, strength=STRENGTH) if named else None
