"""Reasons that name how two texts differ, so that each difference is given once.

Two rules may find the same difference, in another order or under another label. Such reasons have
equal `sides`, although their texts differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self


class Difference(str):
    """A reason that names a difference; `sides` are the comparison keys of what differs."""

    __slots__ = ("sides",)
    sides: frozenset[str]

    def __new__(cls, text: str, *sides: str) -> Self:
        """Make a reason from its text and the keys of the two sides, in any order."""
        reason = super().__new__(cls, text)
        reason.sides = frozenset(sides)
        return reason

    def __getnewargs__(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return the arguments that copying and pickling need."""
        return (str(self), *self.sides)


def distinct(reasons: Iterable[str]) -> tuple[str, ...]:
    """Return the reasons in order, each difference once."""
    found: dict[str | frozenset[str], str] = {}
    for reason in reasons:
        found.setdefault(reason.sides if isinstance(reason, Difference) else reason, reason)
    return tuple(found.values())
