"""List the sources of the inbox, one line each."""

from __future__ import annotations

from engram.console.inbox.calibration import CalibrationSource
from engram.console.inbox.conflicts import ConflictSource
from engram.console.inbox.drift import DriftSource
from engram.console.inbox.mutings import MutingSource
from engram.console.inbox.refusals import RefusalSource
from engram.console.inbox.reviews import ReviewSource
from engram.console.inbox.source import Source
from engram.console.inbox.suggestions import SuggestionSource
from engram.kernel.models import Role

SOURCES: list[Source] = [
    ConflictSource(),
    ReviewSource(),
    DriftSource(),
    SuggestionSource(),
    CalibrationSource(),
    MutingSource(),
    RefusalSource(),
]


def sources_for(role: Role) -> list[Source]:
    """Return the sources that a role may see."""
    return [source for source in SOURCES if role.includes(source.sees)]


def source_named(name: str, role: Role) -> Source | None:
    """Return the source of a name, if the role may see it."""
    return next((source for source in sources_for(role) if source.name == name), None)
