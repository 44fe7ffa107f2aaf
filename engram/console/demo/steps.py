"""What every step of the demo's story has."""

from __future__ import annotations

from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Labels = dict[str, UUID]  # the memory that each label of the story became


class DemoStep(BaseModel):
    """What happened, and how long ago."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    days_ago: float = Field(gt=0)
