"""The admin of the predictor: everything is read, nothing written."""

from predictor.admin.judged import ComparisonAdmin, JudgementAdmin
from predictor.admin.learned import ModelVersionAdmin, TrainingAdmin

__all__ = ["ComparisonAdmin", "JudgementAdmin", "ModelVersionAdmin", "TrainingAdmin"]
