"""What a workspace may change: one validated object, each value with its range and meaning."""

from typing import Literal
from zoneinfo import available_timezones

from pydantic import BaseModel, ConfigDict, Field, field_validator


class WorkspaceSettings(BaseModel):
    """Settings of one workspace. Thresholds belong to the embedding model named here."""

    model_config = ConfigDict(frozen=True)  # a name that a release dropped is ignored

    gate_policy: Literal["merge", "suggest", "off"] = Field(
        "merge", description="What the redundancy gate does with near-duplicates."
    )
    gate_threshold: float = Field(
        0.6,
        ge=0.3,
        le=1.0,
        description="Cosine above which two memories are compared claim by claim.",
    )
    weight_user_stated: float = Field(
        1.0, gt=0, le=1.0, description="Provenance weight of what a user said."
    )
    weight_episode_summary: float = Field(
        0.95, gt=0, le=1.0, description="Provenance weight of session summaries."
    )
    weight_assistant_derived: float = Field(
        0.9, gt=0, le=1.0, description="Provenance weight of what an agent concluded."
    )
    detection_enabled: bool = Field(True, description="Whether the detective reads new memories.")
    time_zone: str = Field("UTC", max_length=64, description="Time zone of the pages.")

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in available_timezones():
            raise ValueError("not a time zone name such as Europe/Berlin")
        return name

    def provenance_weight(self, provenance: str) -> float:
        """Return the weight in (0, 1] of a provenance class; an unknown one gets the lowest."""
        weights = {
            "user_stated": self.weight_user_stated,
            "episode_summary": self.weight_episode_summary,
            "assistant_derived": self.weight_assistant_derived,
        }
        return weights.get(provenance, min(weights.values()))
