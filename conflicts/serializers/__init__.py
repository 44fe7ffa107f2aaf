"""Request and answer shapes of the conflicts API."""

from conflicts.serializers.bodies import (
    AssignSerializer,
    CommentBodySerializer,
    ReportSerializer,
    SnoozeSerializer,
    VerdictSerializer,
)
from conflicts.serializers.card import (
    ConflictDetailSerializer,
    ConflictSerializer,
    present,
    present_one,
)
from conflicts.serializers.detection import (
    DetectAnswerSerializer,
    DetectionRunSerializer,
    DetectSerializer,
)
from conflicts.serializers.judgement import (
    RelatedSerializer,
    RelationSerializer,
    ReportedSerializer,
    ReportKeptSerializer,
    present_judged,
)
from conflicts.serializers.quality import (
    QualityPeriodSerializer,
    QualitySerializer,
    present_quality,
)

__all__ = [
    "AssignSerializer",
    "CommentBodySerializer",
    "ConflictDetailSerializer",
    "ConflictSerializer",
    "DetectAnswerSerializer",
    "DetectSerializer",
    "DetectionRunSerializer",
    "QualityPeriodSerializer",
    "QualitySerializer",
    "RelatedSerializer",
    "RelationSerializer",
    "ReportKeptSerializer",
    "ReportSerializer",
    "ReportedSerializer",
    "SnoozeSerializer",
    "VerdictSerializer",
    "present",
    "present_judged",
    "present_one",
    "present_quality",
]
