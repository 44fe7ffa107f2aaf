"""Find edits that put other words in the place of a memory's own.

All other words of the supporting statement stay. Whether the new words name another thing is asked
of the embedding model: by the likelihood of both statements, and the cosine of both phrases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from memories.core.answer_values import compare_values
from memories.core.drift.edits import Edit
from memories.core.drift.estimate import Estimate
from memories.core.drift.parts import words_of
from memories.core.drift.substitution import edited_place, lower_words
from memories.core.function_words import DETERMINERS
from memories.core.likelihood import UNKNOWN

_PROBABLE: Final = 0.5  # likelihood from which both wordings may well say the same
_EXCLUDED: Final = 0.7  # likelihood from which one wording rules the other out
_PHRASE_WORDS: Final = re.compile(r"\w+")


def replaced_phrase(
    text: str, edits: Iterable[Edit], estimate: Estimate, *, near: float
) -> tuple[Edit, str] | None:
    """Return the first edit that replaced words of a memory by others, and which."""
    told = ((edit, other_phrase(text, edit, estimate, near=near)) for edit in edits)
    return next((found for found in told if found[1]), None)


def other_phrase(text: str, edit: Edit, estimate: Estimate, *, near: float) -> str:
    """Return which words of a memory an edit replaced by others, "" where it did more than that.

    Phrases of at least the cosine `near` may be names of one thing and are left alone: "caretaker"
    and "janitor".
    """
    if (after := edit.replacement) is None:
        return ""
    if (place := edited_place(edit.before.text, after.text)) is None:
        return ""
    own, gone, come = (lower_words(told) for told in (text, *place))
    if not gone or not gone <= own or not come.isdisjoint(own):
        return ""
    if not (words_of(place.old) and words_of(place.new)) or compare_values(*place) == "same":
        return ""
    found = estimate(edit.before.text, after.text)
    if found is UNKNOWN or found.same + found.refines >= _PROBABLE or _is_short_for(*place):
        return ""
    is_excluded = found.contradicts + found.updates >= _EXCLUDED
    is_other = is_excluded or estimate.nearness(*place) < near
    return f"{place.old} vs {place.new}" if is_other else ""


def _is_short_for(one: str, other: str) -> bool:
    """Return whether one phrase is the initials of the other: "GPs", "general practitioners"."""
    sides = [
        [word for word in _PHRASE_WORDS.findall(side.lower()) if word not in DETERMINERS]
        for side in (one, other)
    ]
    initials = ["".join(word[0] for word in side) for side in sides]
    return any(
        len(short) == 1 and len(long) > 1 and initial in (short[0], short[0].removesuffix("s"))
        for short, long, initial in ((*sides, initials[1]), (*sides[::-1], initials[0]))
    )
