"""Serializers of the requests and responses of memories."""

from memories.serializers.associations import present_associations
from memories.serializers.commit import (
    BatchAnswerSerializer,
    BatchSerializer,
    CommittedSerializer,
    DraftSerializer,
    PendingSerializer,
    RevisionSerializer,
    draft_of,
    present_committed,
)
from memories.serializers.forgetting import (
    ForgetAnswerSerializer,
    ForgetSerializer,
    RestoreAnswerSerializer,
    RestoreSerializer,
    RollbackAnswerSerializer,
    RollbackSerializer,
)
from memories.serializers.memory import (
    HistoryEntrySerializer,
    MemorySerializer,
    present,
    present_one,
)
from memories.serializers.past_recall import PastResultSerializer, present_past
from memories.serializers.recall import (
    RecallAnswerSerializer,
    RecallSerializer,
    WhyNotQuerySerializer,
    WhyNotSerializer,
    present_recalled,
)
from memories.serializers.review import AnswerSerializer, ReviewSerializer, present_reviews

__all__ = [
    "AnswerSerializer",
    "BatchAnswerSerializer",
    "BatchSerializer",
    "CommittedSerializer",
    "DraftSerializer",
    "ForgetAnswerSerializer",
    "ForgetSerializer",
    "HistoryEntrySerializer",
    "MemorySerializer",
    "PastResultSerializer",
    "PendingSerializer",
    "RecallAnswerSerializer",
    "RecallSerializer",
    "RestoreAnswerSerializer",
    "RestoreSerializer",
    "ReviewSerializer",
    "RevisionSerializer",
    "RollbackAnswerSerializer",
    "RollbackSerializer",
    "WhyNotQuerySerializer",
    "WhyNotSerializer",
    "draft_of",
    "present",
    "present_associations",
    "present_committed",
    "present_one",
    "present_past",
    "present_recalled",
    "present_reviews",
]
