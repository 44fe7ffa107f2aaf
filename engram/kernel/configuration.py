"""What a workspace may change: one validated object, each value with its range and meaning."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class WorkspaceSettings(BaseModel):
    """Settings of one workspace. Thresholds belong to the embedding model named here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    def provenance_weight(self, provenance: str) -> float:
        """Return the weight in (0, 1] of a provenance class; an unknown one gets the lowest."""
        weights = {
            "user_stated": self.weight_user_stated,
            "episode_summary": self.weight_episode_summary,
            "assistant_derived": self.weight_assistant_derived,
        }
        return weights.get(provenance, min(weights.values()))
