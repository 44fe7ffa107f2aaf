"""Tell whether what a person said "still true" of stands in the note as it did then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, Final

from memories.core.answers import Answer
from memories.core.drift.parts import VALUE_WEIGHT, weights_of, words_of
from memories.core.drift.passages import Statement, without_links
from memories.core.drift.support import heading_digest
from memories.core.drift.verdict import Verdict

# Of the memory's words and values: a statement with less of them is about something else.
_LEAST_SHARE: Final = 0.25


class NoteWords:
    """The statements of a note with their words, read once for all memories that link it."""

    def __init__(self, present: Sequence[Statement]):
        self._present = present

    @cached_property
    def _said(self) -> list[tuple[str, Set[str]]]:
        return [
            (f"{one.heading} > {one.text}{one.withdrawn}", words_of(one.text).keys())
            for one in self._present
        ]

    def bearing_on(self, memory: str, answers: Sequence[Answer]) -> str:
        """Return a digest of the statements that are about what a memory says.

        It stays the same while other statements come, go or change.
        """
        weights = weights_of(without_links(memory), answers)
        least = max(VALUE_WEIGHT, _LEAST_SHARE * sum(weights.values()))
        about = {
            said
            for said, words in self._said
            if sum(weight for key, weight in weights.items() if key in words) >= least
        }
        return heading_digest("\n".join(sorted(about)))


def is_as_accepted(
    accepted: Mapping[str, Any],
    verdict: Verdict,
    bearing: str | None,
    present: Iterable[Statement],
) -> bool:
    """Return whether an answer to one verdict, as it was stored, holds for another.

    The passage that was shown still stands there, what is about the memory is the same, and no
    other statement excludes the memory for sure. A verdict with a bearing of None was no drift:
    nobody was shown it.
    """
    if accepted.get("bearing", "") is None:
        return False
    shown = accepted.get("passage")
    sentence = verdict.sentence
    if shown is not None and shown == passage_of(sentence):
        return True
    if accepted.get("bearing") != bearing or verdict.is_certain:
        return False
    return shown is None or shown in map(passage_of, present)


def passage_of(statement: Statement | None) -> dict[str, str] | None:
    """Return a statement as verdicts store and show it."""
    if statement is None:
        return None
    withdrawn = {"withdrawn": statement.withdrawn} if statement.withdrawn else {}
    return {"heading": statement.heading, "text": statement.text} | withdrawn
