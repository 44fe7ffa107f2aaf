"""Who does something: a key, a signed-in person, or Engram itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from engram.kernel.models import Role


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a change, as history names it."""

    kind: Literal["key", "user", "system"]
    id: str
    label: str
    role: Role

    @property
    def is_person(self) -> bool:
        """Tell whether a signed-in person acts."""
        return self.kind == "user"

    @property
    def key_id(self) -> UUID | None:
        """Return the API key's id when a key acts."""
        return UUID(self.id) if self.kind == "key" else None

    @property
    def user_id(self) -> int | None:
        """Return the user's id when a person acts."""
        return int(self.id) if self.kind == "user" else None


SYSTEM = Actor(kind="system", id="", label="engram", role=Role.ADMIN)
