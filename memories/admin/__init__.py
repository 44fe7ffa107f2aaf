"""Admin pages of memories, notes, prediction errors, gate, janitor, reviews, sessions, reports."""

from memories.admin.drift import PredictionErrorAdmin
from memories.admin.gate import MergeAdmin, MergeSuggestionAdmin
from memories.admin.janitor import JanitorRunAdmin
from memories.admin.memories import MemoryAdmin
from memories.admin.notes import NoteAdmin
from memories.admin.reports import ReportItemAdmin
from memories.admin.reviews import ReviewAdmin
from memories.admin.sessions import SessionAdmin

__all__ = [
    "JanitorRunAdmin",
    "MemoryAdmin",
    "MergeAdmin",
    "MergeSuggestionAdmin",
    "NoteAdmin",
    "PredictionErrorAdmin",
    "ReportItemAdmin",
    "ReviewAdmin",
    "SessionAdmin",
]
