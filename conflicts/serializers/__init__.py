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
from conflicts.serializers.muting import MutingSerializer, UnmuteSerializer, present_muting
from conflicts.serializers.quality import (
    QualityPeriodSerializer,
    QualitySerializer,
    present_quality,
)
from conflicts.serializers.question import (
    KnownQuestionSerializer,
    QuestionDetailSerializer,
    QuestionQuerySerializer,
    present_question,
    present_questions,
)

__all__ = [
    "AssignSerializer",
    "CommentBodySerializer",
    "ConflictDetailSerializer",
    "ConflictSerializer",
    "DetectAnswerSerializer",
    "DetectSerializer",
    "DetectionRunSerializer",
    "KnownQuestionSerializer",
    "MutingSerializer",
    "QualityPeriodSerializer",
    "QualitySerializer",
    "QuestionDetailSerializer",
    "QuestionQuerySerializer",
    "RelatedSerializer",
    "RelationSerializer",
    "ReportKeptSerializer",
    "ReportSerializer",
    "ReportedSerializer",
    "SnoozeSerializer",
    "UnmuteSerializer",
    "VerdictSerializer",
    "present",
    "present_judged",
    "present_muting",
    "present_one",
    "present_quality",
    "present_question",
    "present_questions",
]
