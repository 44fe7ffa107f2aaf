"""Which transcripts may quote what is forgotten or erased, and are withheld wherever people read.

One rule: the session was given the memory, a prompt of it matched the memory, or the memory was
extracted from its transcript. Of the hundred candidates of a session the others are forgotten
sooner or later, and were never part of it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memories.models import ExtractedQuote, Session, SessionCandidate

WITHHELD: Final = (
    "Not shown: a memory that the session was given, that its prompts named or that was extracted"
    " from it is forgotten or erased, and the words here may say the same."
)
_KNOWN: Final = Q(was_injected=True) | Q(fts_hit_count__gt=0)


def may_quote_hidden(session: str = "") -> Q:
    """Return what tells sessions that knew a memory which is forgotten now, or was erased.

    Of rows that belong to sessions, `session` is the field that names theirs.
    """
    pk, key = (f"{session}_id", f"{session}__session_key") if session else ("pk", "session_key")
    known = SessionCandidate.objects.filter(_KNOWN, session=OuterRef(pk))
    stated = ExtractedQuote.objects.filter(session_key=OuterRef(key)).exclude(session_key="")
    return (
        Q(**{f"{session}__knew_erased" if session else "knew_erased": True})
        | Q(Exists(known.exclude(memory__forgotten_at=None)))
        | Q(Exists(stated.exclude(memory__forgotten_at=None)))
    )


def mark_knew_erased(memory_ids: Collection[UUID]) -> None:
    """Mark the sessions that knew memories about to be erased: their records go with them."""
    known = SessionCandidate.objects.filter(_KNOWN, memory__in=memory_ids)
    stated = ExtractedQuote.objects.filter(memory__in=memory_ids).exclude(session_key="")
    knew = Session.objects.filter(
        Q(pk__in=known.values("session")) | Q(session_key__in=stated.values("session_key")),
        knew_erased=False,
    )
    locked = knew.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True)
    Session.objects.filter(pk__in=list(locked)).update(knew_erased=True)
