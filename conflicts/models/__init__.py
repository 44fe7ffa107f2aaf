"""Tables of conflicts: cards, members, decisions, judgements, proposals to mute, and
detection's queue and runs."""

from conflicts.models.card import Conflict, ConflictComment, ConflictMember, ConflictPair
from conflicts.models.decision import Decision
from conflicts.models.detection import (
    Awaits,
    DetectionDue,
    DetectionLease,
    DetectionRun,
    Narrative,
    NarrativeLease,
)
from conflicts.models.judgement import JudgedRelation, Judgement
from conflicts.models.muting import Muting, MutingStatus

__all__ = [
    "Awaits",
    "Conflict",
    "ConflictComment",
    "ConflictMember",
    "ConflictPair",
    "Decision",
    "DetectionDue",
    "DetectionLease",
    "DetectionRun",
    "JudgedRelation",
    "Judgement",
    "Muting",
    "MutingStatus",
    "Narrative",
    "NarrativeLease",
]
