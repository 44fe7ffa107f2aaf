"""Admin pages of memories, notes, recalls, prediction errors, gate, janitor, reviews, sessions."""

from memories.admin.drift import PredictionErrorAdmin
from memories.admin.gate import MergeAdmin, MergeSuggestionAdmin
from memories.admin.janitor import JanitorRunAdmin
from memories.admin.memories import MemoryAdmin
from memories.admin.notes import NoteAdmin
from memories.admin.recalls import PastRecallAdmin
from memories.admin.reports import ReportItemAdmin
from memories.admin.reviews import ReviewAdmin
from memories.admin.sessions import SessionAdmin

__all__ = [
    "JanitorRunAdmin",
    "MemoryAdmin",
    "MergeAdmin",
    "MergeSuggestionAdmin",
    "NoteAdmin",
    "PastRecallAdmin",
    "PredictionErrorAdmin",
    "ReportItemAdmin",
    "ReviewAdmin",
    "SessionAdmin",
]
