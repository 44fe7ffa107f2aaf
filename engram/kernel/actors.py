"""Who does something: a key, a signed-in person, or Engram itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from engram.kernel.models import Provenance, Role
from engram.kernel.refusals import InvalidError


@dataclass(frozen=True, slots=True)
class Claims:
    """What the calls of a key may claim without asking a person."""

    provenance_ceiling: Provenance = Provenance.ASSISTANT_DERIVED
    may_relay: bool = False  # may pass on a user's own words, whatever the ceiling
    may_pin: bool = False  # may write and change pins and constraints
    agent: str = ""  # the name that it always writes under; "": the name that a call claims


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a change, as history names it."""

    kind: Literal["key", "user", "system"]
    id: str
    label: str
    role: Role
    claims: Claims = Claims()

    @property
    def caller(self) -> str:
        """Return kind and id in one: what a session and an idempotent answer belong to."""
        return f"{self.kind}:{self.id}"

    @property
    def is_person(self) -> bool:
        """Tell whether a signed-in person acts."""
        return self.kind == "user"

    @property
    def is_reviewer(self) -> bool:
        """Tell whether what the actor writes and decides counts as a person's."""
        return self.role.includes(Role.REVIEWER)

    @property
    def may_pin(self) -> bool:
        """Tell whether the actor may write and change what leads everybody's sessions."""
        return self.claims.may_pin or self.is_reviewer or self.is_person

    @property
    def highest_provenance(self) -> Provenance:
        """Return the most trusted class that the actor may claim."""
        if self.claims.may_relay or self.is_reviewer or self.is_person:
            return Provenance.USER_STATED
        return self.claims.provenance_ceiling

    def may_claim(self, provenance: Provenance) -> bool:
        """Tell whether the actor may say that a statement is of this class.

        `may_relay` adds a user's own words to what the ceiling allows, and nothing between.
        """
        if self.is_reviewer or self.is_person:
            return True
        if self.claims.may_relay and provenance == Provenance.USER_STATED:
            return True
        return provenance.trust <= self.claims.provenance_ceiling.trust

    def agent_name(self, claimed: str) -> str:
        """Return the agent's name to write under: the key's own, else what the call claims.

        Nothing is trusted for a claimed name. Raise `InvalidError` when it is not the key's own.
        """
        own = self.claims.agent
        if own and claimed not in {"", own}:
            raise InvalidError("agent", f"This key writes as {own!r}; leave the name out.")
        return own or claimed

    @property
    def key_id(self) -> UUID | None:
        """Return the API key's id when a key acts."""
        return UUID(self.id) if self.kind == "key" else None

    @property
    def user_id(self) -> int | None:
        """Return the user's id when a person acts."""
        return int(self.id) if self.kind == "user" else None


SYSTEM = Actor(kind="system", id="", label="engram", role=Role.ADMIN)
