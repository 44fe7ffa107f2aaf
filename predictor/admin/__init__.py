"""Admin pages of the predictor, all read-only."""

from predictor.admin.judged import ComparisonAdmin, JudgementAdmin
from predictor.admin.learned import ModelVersionAdmin, TrainingAdmin

__all__ = ["ComparisonAdmin", "JudgementAdmin", "ModelVersionAdmin", "TrainingAdmin"]
