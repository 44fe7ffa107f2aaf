"""Tables of conflicts: cards, their members, decisions, and the detective's work."""

from conflicts.models.card import Conflict, ConflictComment, ConflictMember, ConflictPair
from conflicts.models.decision import Decision
from conflicts.models.detection import DetectionDue, DetectionLease, DetectionRun

__all__ = [
    "Conflict",
    "ConflictComment",
    "ConflictMember",
    "ConflictPair",
    "Decision",
    "DetectionDue",
    "DetectionLease",
    "DetectionRun",
]
