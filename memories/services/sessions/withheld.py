"""Which transcripts may quote what is forgotten, and are withheld wherever people read them."""

from __future__ import annotations

from typing import Final

from django.db.models import Exists, OuterRef, Q

from memories.models import ExtractedQuote, SessionCandidate

WITHHELD: Final = (
    "Not shown: a memory that the session was given, that its prompts named or that was extracted"
    " from it is forgotten, and the words here may say the same."
)


def may_quote_forgotten(session: str = "") -> Q:
    """Return what tells sessions that knew, or stated, a memory that is forgotten now.

    Of rows that belong to sessions, `session` is the field that names theirs. A memory was known
    when it was injected or a prompt matched it; of the hundred candidates of a session the others
    are forgotten sooner or later, and were never part of it. Erasing needs no rule: it erases the
    transcripts that quote a memory, and leaves no record of which sessions knew it.
    """
    pk, key = (f"{session}_id", f"{session}__session_key") if session else ("pk", "session_key")
    known = SessionCandidate.objects.filter(
        Q(was_injected=True) | Q(fts_hit_count__gt=0), session=OuterRef(pk)
    )
    stated = ExtractedQuote.objects.filter(session_key=OuterRef(key)).exclude(session_key="")
    return Q(Exists(known.exclude(memory__forgotten_at=None))) | Q(
        Exists(stated.exclude(memory__forgotten_at=None))
    )
