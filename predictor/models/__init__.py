"""Tables of the predictor: judged sessions, comparisons, models, calibration."""

from predictor.models.calibration import CalibrationItem, CalibrationSample
from predictor.models.comparison import Comparison, ComparisonOutcome
from predictor.models.judging import JudgeKind, Judgement, JudgeStatus, Label
from predictor.models.learning import (
    CanarySession,
    ModelVersion,
    Training,
    TrainingLease,
    TrainingStatus,
)
from predictor.models.state import PredictorState

__all__ = [
    "CalibrationItem",
    "CalibrationSample",
    "CanarySession",
    "Comparison",
    "ComparisonOutcome",
    "JudgeKind",
    "JudgeStatus",
    "Judgement",
    "Label",
    "ModelVersion",
    "PredictorState",
    "Training",
    "TrainingLease",
    "TrainingStatus",
]
