"""Models of memories, their index, history, reviews, merges, sessions, notes and drift."""

from engram.kernel.models import Provenance
from memories.models.answer import MemoryAnswer
from memories.models.ask import Ask
from memories.models.asked import AskedAnswers
from memories.models.association import CoRecall, EntityCount, EntityDue, MemoryEntity
from memories.models.drift import (
    ErrorSeverity,
    ErrorType,
    NoteSupport,
    PredictionError,
    Resolution,
)
from memories.models.extraction import (
    ExtractedQuote,
    Extraction,
    ExtractionRefusal,
    RefusalDecision,
)
from memories.models.gate import Merge, MergeSuggestion, Relation, SuggestionStatus
from memories.models.index import (
    CorpusSize,
    MemoryTag,
    MemoryTokens,
    MemoryVector,
    Posting,
    TermCount,
)
from memories.models.janitor import JanitorAction, JanitorRun
from memories.models.memory import (
    Derivation,
    Kind,
    Memory,
    MemoryQuerySet,
    State,
)
from memories.models.note import (
    LinkReason,
    NameKind,
    Note,
    NoteChunk,
    NoteLink,
    NoteName,
    NoteTag,
)
from memories.models.recall import PastRecall, PastResult, RecallOrigin
from memories.models.record import (
    ImportProgress,
    Observation,
    RecallDay,
    RecallRecord,
    Revision,
)
from memories.models.report import ReportItem, ReportKind, SessionReport
from memories.models.review import Review, ReviewKind, ReviewStatus
from memories.models.session import CandidateSource, DraftSide, Session, SessionCandidate
from memories.models.session_prompt import SessionPrompt

__all__ = [
    "Ask",
    "AskedAnswers",
    "CandidateSource",
    "CoRecall",
    "CorpusSize",
    "Derivation",
    "DraftSide",
    "EntityCount",
    "EntityDue",
    "ErrorSeverity",
    "ErrorType",
    "ExtractedQuote",
    "Extraction",
    "ExtractionRefusal",
    "ImportProgress",
    "JanitorAction",
    "JanitorRun",
    "Kind",
    "LinkReason",
    "Memory",
    "MemoryAnswer",
    "MemoryEntity",
    "MemoryQuerySet",
    "MemoryTag",
    "MemoryTokens",
    "MemoryVector",
    "Merge",
    "MergeSuggestion",
    "NameKind",
    "Note",
    "NoteChunk",
    "NoteLink",
    "NoteName",
    "NoteSupport",
    "NoteTag",
    "Observation",
    "PastRecall",
    "PastResult",
    "Posting",
    "PredictionError",
    "Provenance",
    "RecallDay",
    "RecallOrigin",
    "RecallRecord",
    "RefusalDecision",
    "Relation",
    "ReportItem",
    "ReportKind",
    "Resolution",
    "Review",
    "ReviewKind",
    "ReviewStatus",
    "Revision",
    "Session",
    "SessionCandidate",
    "SessionPrompt",
    "SessionReport",
    "State",
    "SuggestionStatus",
    "TermCount",
]
