"""Find a value that one text says was left for another one, where a second text still states it.

For people only, as all of `contrast.py`: nothing is decided by it.
"""

from __future__ import annotations

from collections.abc import Sequence

from memories.core.claim_types import Term
from memories.core.reading import read_cached

Place = tuple[int, int]  # where words begin and end in a text


def left_and_stated(change: str, other: str) -> tuple[Place, Place] | None:
    """Return where `change` has what came instead, and `other` what was left; None if neither."""
    claims = read_cached(other).claims
    for claim in read_cached(change).claims:
        step = claim.transition
        if step is None or not step.old or not step.new or step.old & step.new:
            continue
        if any(step.new & one.keys for one in claims):
            continue
        came = _first_run(step.new, claim.terms, change)
        runs = (_first_run(step.old, one.terms, other) for one in claims if not one.transition)
        left = next((run for run in runs if run and run[1] == step.old), None)
        if came and left:
            return came[0], left[0]
    return None


def _first_run(
    keys: frozenset[str], terms: Sequence[Term], text: str
) -> tuple[Place, set[str]] | None:
    """Return where a text has the first terms of some keys, side by side, and which; else None."""
    named = [term for term in terms if term.key in keys and not term.is_denied]
    if not named or any(text.count(term.written) != 1 for term in named):
        return None
    start, end = place_in(named[0].written, text)
    taken = {named[0].key}
    for term in named[1:]:
        further, after = place_in(term.written, text)
        if text[end:further] != " ":
            break
        end = after
        taken.add(term.key)
    return (start, end), taken


def place_in(words: str, text: str) -> Place:
    """Return the first place of some words that a text has."""
    start = text.index(words)
    return start, start + len(words)
