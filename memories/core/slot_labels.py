"""Values with the noun that they label behind any verb: "is mounted at rack position P9-27"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memories.core.function_words import PREPOSITIONS, words_of
from memories.core.slot_nouns import attribute_of
from memories.core.slot_types import Frame, Thing
from memories.core.slot_words import ARTICLES

# Of which a thing has one whatever is done with it; not "room": it is washed in one bay and parked
# in another.
_LABELLED: Final = words_of("number position plate code postcode shelfmark extension version")
_CODE: Final = re.compile(r"[A-Z0-9][\w./-]{0,20}")
_MAX_NOUN: Final = 2


def frames_of_label(thing: Thing, words: Sequence[str]) -> Iterator[Frame]:
    """Read "is listed under staff number 21772" as "the staff number is 21772".

    ``words`` are those behind the verb of being, a participle first, or from another verb on
    ("wears shirt number 8").
    """
    noun = next((at for at, word in enumerate(words) if word in _LABELLED and at > 0), 0)
    value = words[noun + 1 :]
    if not noun or not value or not all(map(_CODE.fullmatch, value)):
        return
    if not any(map(str.isdigit, "".join(value))):
        return
    start = noun
    while noun - start < _MAX_NOUN - 1 and words[start - 1] not in PREPOSITIONS | ARTICLES:
        start -= 1
    lead = start - 1 - (words[start - 1] in ARTICLES)
    if words[lead] in PREPOSITIONS if lead > 0 else lead == 0 and words[0].endswith("s"):
        yield Frame(attribute_of(words[start : noun + 1]), thing, value)
