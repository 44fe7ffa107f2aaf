"""The type of a rule: why a card was opened, with an id that never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memories.core.answers import Answer

DATE_FORMAT: Final = "%-d %b %Y"  # of dates in the reasoning of a finding


@dataclass(frozen=True, slots=True)
class Rule:
    """Why a card was opened.

    Attributes
    ----------
    id
        Stored on cards, so it never changes. The first part is the kind of finding that the rule
        makes, or who reported it.
    meaning
        One line in plain words.
    module
        The module that decides, with dots.
    example
        Statements, oldest first, of which the rule makes a card; empty for what is reported.
    answers
        What the writer of each statement of the example said that it answers; empty where the
        statements alone make the card.
    """

    id: str
    meaning: str
    module: str
    example: tuple[str, ...] = ()
    answers: tuple[tuple[Answer, ...], ...] = ()

    @property
    def shown_example(self) -> tuple[str, ...]:
        """Return the statements of the example, each with the answers that go with it."""
        if not self.answers:
            return self.example
        return tuple(
            " ".join((text, *(f"({_shown(one)})" for one in answers)))
            for text, answers in zip(self.example, self.answers, strict=True)
        )

    @property
    def path(self) -> str:
        """Return the path of the deciding file, from the root of the repository."""
        return f"{self.module.replace('.', '/')}.py"


def _shown(one: Answer) -> str:
    before = f", was {one.was}" if one.was is not None else ""
    return f"{one.question} {one.answer}{before}"
