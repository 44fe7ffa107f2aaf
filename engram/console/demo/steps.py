"""What every step of the demo's story has."""

from __future__ import annotations

from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from engram.kernel.actors import Actor
from engram.kernel.models import Role

Labels = dict[str, UUID]  # the memory that each label of the story became


class DemoStep(BaseModel):
    """What happened, and how long ago."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    days_ago: float = Field(gt=0)


def person(name: str) -> Actor:
    """Return a reviewer of the story."""
    return Actor(kind="system", id="", label=name, role=Role.REVIEWER)
