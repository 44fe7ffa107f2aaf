"""The type of a rule: why a card was opened, with an id that never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DATE_FORMAT: Final = "%d %B %Y"  # of dates in the reasoning of a finding


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
    """

    id: str
    meaning: str
    module: str
    example: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Return the path of the deciding file, from the root of the repository."""
        return f"{self.module.replace('.', '/')}.py"
