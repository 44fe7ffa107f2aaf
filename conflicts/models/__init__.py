"""Tables of conflicts: cards, members, decisions, judgements, and detection's queue and runs."""

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
    "Narrative",
    "NarrativeLease",
]
