"""Which transcripts may quote what was forgotten or erased since, and are withheld."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from engram.kernel.models import Event
from memories.models import SessionCandidate


def may_quote_hidden() -> Q:
    """Return what tells sessions of which a memory was forgotten, or since which any was erased.

    Erasing a memory erases the transcripts that quote it, not those that say the same in other
    words; and it leaves no record of the sessions that knew it.
    """
    known = SessionCandidate.objects.filter(session=OuterRef("pk"))
    erased = Event.objects.filter(type="memory.erased", at__gte=OuterRef("started_at"))
    return Q(Exists(known.exclude(memory__forgotten_at=None))) | Q(Exists(erased))


def knew_hidden(session: str) -> Q:
    """Return what tells rows of sessions that were given, or named, a memory that is forgotten now.

    `session` is the field of the row that names its session. For work that needs transcripts: of
    the hundred candidates of a session some are forgotten sooner or later, and hardly any session
    would be left by `may_quote_hidden`.
    """
    known = SessionCandidate.objects.filter(
        Q(was_injected=True) | Q(fts_hit_count__gt=0), session=OuterRef(f"{session}_id")
    )
    return Q(Exists(known.exclude(memory__forgotten_at=None)))
