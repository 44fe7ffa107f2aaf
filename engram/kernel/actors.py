"""The author of a change: an API key, a signed-in person, or Engram itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from engram.kernel.models import Provenance, Role
from engram.kernel.refusals import InvalidError


@dataclass(frozen=True, slots=True)
class Claims:
    """What a key may claim without a review."""

    provenance_ceiling: Provenance = Provenance.ASSISTANT_DERIVED
    may_relay: bool = False  # may commit `user_stated`, even above the ceiling
    may_pin: bool = False  # may create and change pins and constraints
    agent: str = ""  # the fixed agent name of the key; "": each call names its agent


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a change, as recorded in history."""

    kind: Literal["key", "user", "system"]
    id: str
    label: str
    role: Role
    claims: Claims = Claims()

    @property
    def caller(self) -> str:
        """Return kind and id as one text; sessions and stored responses belong to it."""
        return f"{self.kind}:{self.id}"

    @property
    def is_person(self) -> bool:
        """Return whether the actor is a signed-in person."""
        return self.kind == "user"

    @property
    def is_reviewer(self) -> bool:
        """Return whether the actor's role includes that of a reviewer."""
        return self.role.includes(Role.REVIEWER)

    @property
    def counts_as_person(self) -> bool:
        """Return whether what the actor writes and decides counts as a person's."""
        return self.is_person or self.is_reviewer

    @property
    def may_pin(self) -> bool:
        """Return whether the actor may create and change pins and constraints."""
        return self.claims.may_pin or self.counts_as_person

    @property
    def highest_provenance(self) -> Provenance:
        """Return the most trusted class of provenance that the actor may claim."""
        if self.claims.may_relay or self.counts_as_person:
            return Provenance.USER_STATED
        return self.claims.provenance_ceiling

    def may_claim(self, provenance: Provenance) -> bool:
        """Return whether the actor may claim this class of provenance.

        `may_relay` allows `user_stated` in addition to the classes up to the ceiling, and none
        between.
        """
        if self.counts_as_person:
            return True
        if self.claims.may_relay and provenance == Provenance.USER_STATED:
            return True
        return provenance.trust <= self.claims.provenance_ceiling.trust

    def agent_name(self, claimed: str) -> str:
        """Return the agent name to store: the key's own, else the one that the call names.

        Nothing depends on a claimed name. Raise `InvalidError` when it differs from the key's own.
        """
        own = self.claims.agent
        if own and claimed not in {"", own}:
            raise InvalidError("agent", f"This key writes as {own!r}; leave the name out.")
        return own or claimed

    @property
    def key_id(self) -> UUID | None:
        """Return the id of the API key, if the actor is one."""
        return UUID(self.id) if self.kind == "key" else None

    @property
    def user_id(self) -> int | None:
        """Return the id of the user, if the actor is one."""
        return int(self.id) if self.kind == "user" else None


SYSTEM = Actor(kind="system", id="", label="engram", role=Role.ADMIN)
