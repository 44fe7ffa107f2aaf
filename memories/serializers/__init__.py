"""Memories as callers send and see them."""

from memories.serializers.commit import (
    BatchAnswerSerializer,
    BatchSerializer,
    CommittedSerializer,
    DraftSerializer,
    RevisionSerializer,
    draft_of,
    present_committed,
)
from memories.serializers.forgetting import (
    ForgetAnswerSerializer,
    ForgetSerializer,
    IdsSerializer,
    RestoreAnswerSerializer,
)
from memories.serializers.history import HistoryEntrySerializer
from memories.serializers.memory import MemorySerializer, present, present_one
from memories.serializers.recall import RecallAnswerSerializer, RecallSerializer

__all__ = [
    "BatchAnswerSerializer",
    "BatchSerializer",
    "CommittedSerializer",
    "DraftSerializer",
    "ForgetAnswerSerializer",
    "ForgetSerializer",
    "HistoryEntrySerializer",
    "IdsSerializer",
    "MemorySerializer",
    "RecallAnswerSerializer",
    "RecallSerializer",
    "RestoreAnswerSerializer",
    "RevisionSerializer",
    "draft_of",
    "present",
    "present_committed",
    "present_one",
]
