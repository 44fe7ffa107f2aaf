"""Find what a session's transcript contradicts, and put it to people.

Stored is where in the transcript it was said, not the words: those are read there, so that they are
withheld and erased with the transcript.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import SYSTEM
from engram.kernel.keys import actor_of
from memories.core.comparing import CHARS_A_CALL, Comparer
from memories.models import Memory, Session
from memories.models.drift import REPORT_SOURCE, TRANSCRIPT_SOURCE
from memories.services.disputes import disputes_of
from memories.services.drift.signal_limit import with_open_signal
from memories.services.drift.signals import store_session_signals
from predictor.core.contradicted import find_contradicted, read_sayings
from predictor.services.judging.pool import JudgingPool

Place = tuple[int, int]  # start and end of a quote in a transcript


def places_contradicting(pool: JudgingPool) -> dict[UUID, Place]:
    """Return by memory where the transcript contradicts it; pure, for the contents of the pool."""
    transcript = pool.session.transcript
    sayings = read_sayings(pool.contents, transcript)
    found = find_contradicted(pool.contents, sayings, Comparer(CHARS_A_CALL))
    places = {}
    for number, said in found.items():
        at = transcript.find(said.quote)
        # What stands beside a part that was left out may not be found as it was read.
        places[pool.ids[number]] = (at, at + len(said.quote)) if at >= 0 else (0, 0)
    return places


def signal_contradicted(
    session: Session, places: Mapping[UUID, Place], *, unchanged: set[UUID], now: datetime
) -> None:
    """Store a signal for each memory that a locked session contradicts; memories are locked.

    Only for those that can be recalled, are `unchanged` since they were offered, and about which
    nobody is asked already: by what an agent said, or in an open conflict.
    """
    live = Memory.objects.recallable(now).filter(pk__in=unchanged.intersection(places)).order_by()
    ids = set(live.values_list("pk", flat=True))
    evidence: dict[UUID, Mapping[str, Any]] = {
        pk: {"session": session.session_key, "quote_at": list(places[pk])}
        for pk in sorted(ids - with_open_signal(ids, REPORT_SOURCE) - disputes_of(ids).keys())
    }
    actor = actor_of(session.key) if session.key else SYSTEM
    store_session_signals(session, TRANSCRIPT_SOURCE, evidence, actor=actor, now=now)
