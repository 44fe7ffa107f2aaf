"""Tables of memories: what was said, how it is found, how it changed."""

from memories.models.index import CorpusSize, MemoryTag, MemoryVector, Posting, TermCount
from memories.models.memory import (
    Derivation,
    Kind,
    Memory,
    MemoryQuerySet,
    Provenance,
    State,
)
from memories.models.record import ImportProgress, Observation, RecallRecord, Revision

__all__ = [
    "CorpusSize",
    "Derivation",
    "ImportProgress",
    "Kind",
    "Memory",
    "MemoryQuerySet",
    "MemoryTag",
    "MemoryVector",
    "Observation",
    "Posting",
    "Provenance",
    "RecallRecord",
    "Revision",
    "State",
    "TermCount",
]
