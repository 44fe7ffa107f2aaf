"""Which transcripts may quote what was forgotten or erased since, and are withheld."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from engram.kernel.models import Event
from memories.models import SessionCandidate


def may_quote_hidden(session: str = "") -> Q:
    """Return what tells sessions of which a memory was forgotten, or since which any was erased.

    `session` is the field of a row that names its session; empty for rows of sessions. Erasing a
    memory erases the transcripts that quote it, not those that say the same in other words; and it
    leaves no record of the sessions that knew it.
    """
    key, began = (f"{session}_id", f"{session}__started_at") if session else ("pk", "started_at")
    known = SessionCandidate.objects.filter(session=OuterRef(key))
    erased = Event.objects.filter(type="memory.erased", at__gte=OuterRef(began))
    return Q(Exists(known.exclude(memory__forgotten_at=None))) | Q(Exists(erased))


def knew_hidden(session: str) -> Q:
    """Return what tells sessions that were given, or named, a memory that is forgotten now.

    For work that needs transcripts: of the hundred candidates of a session some are forgotten
    sooner or later, and hardly any session would be left by `may_quote_hidden`.
    """
    known = SessionCandidate.objects.filter(
        Q(was_injected=True) | Q(fts_hit_count__gt=0), session=OuterRef(f"{session}_id")
    )
    return Q(Exists(known.exclude(memory__forgotten_at=None)))
