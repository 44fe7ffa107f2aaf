"""Delete past recalls with what they quote: erased memories, deleted sessions and transcripts.

Records that are not counted yet are emptied first. A sweep that moves one meanwhile holds it: the
update waits for the sweep, and the row that it moved is then found among the past recalls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from memories.models import PastRecall, PastResult, RecallRecord, Session
from memories.services.pieces import may_quote

ROWS_A_READ: Final = 200


def note_erased(
    sender: Any,
    *,
    memory_ids: Collection[UUID],
    quoted_in: Callable[[Any], bool],
    pieces: Collection[str],
    **_: Any,
) -> None:
    """Delete the past recalls that returned an erased memory, or whose query quotes it.

    What returned it was asked about it, and may hold a part of it.
    """
    near_records = may_quote(pieces, "kept") | Q(memory_ids__overlap=list(memory_ids))
    _empty(RecallRecord.objects.filter(near_records), memory_ids, quoted_in)
    returning = PastResult.objects.filter(memory__in=list(memory_ids)).order_by()
    delete_past(list(returning.values_list("recall", flat=True).distinct()))
    near = PastRecall.objects.filter(may_quote(pieces, "query", "asked")).order_by("pk")
    quoting = [
        row.pk
        for row in near.only("pk", "query", "asked").iterator(chunk_size=ROWS_A_READ)
        if quoted_in([row.query, row.asked])
    ]
    delete_past(quoting)


def note_session_erased(sender: Any, *, session: Session, **_: Any) -> None:
    """Delete the past recalls of a session, whose queries were said in it."""
    _delete_said_in([session])


def note_transcripts_erased(sender: Any, *, session_ids: Collection[UUID], **_: Any) -> None:
    """Delete the past recalls of sessions with their transcripts."""
    rows = Session.objects.filter(pk__in=list(session_ids))
    _delete_said_in(rows.only("pk", "session_key", "caller"))


def delete_past(ids: Collection[UUID]) -> int:
    """Delete past recalls with their results; return the number of recalls."""
    if not ids:
        return 0
    results = PastResult.objects.filter(recall__in=list(ids))
    results._raw_delete(results.db)
    recalls = PastRecall.objects.filter(pk__in=list(ids))
    return int(recalls._raw_delete(recalls.db))


def _delete_said_in(sessions: Iterable[Session]) -> None:
    """Delete what is kept of recalls in sessions; other callers' under the same key stays."""
    said, uncounted = Q(pk__in=[]), Q(pk__in=[])
    for session in sessions:
        said |= Q(session_key=session.session_key, caller=session.caller)
        uncounted |= Q(session_key=session.session_key, kept__caller=session.caller)
    records = RecallRecord.objects.filter(kept__isnull=False).filter(uncounted)
    RecallRecord.objects.filter(pk__in=records.order_by("pk").select_for_update()).update(kept=None)
    delete_past(list(PastRecall.objects.filter(said).values_list("pk", flat=True)))


def _empty(
    records: QuerySet[RecallRecord],
    memory_ids: Collection[UUID],
    quoted_in: Callable[[Any], bool],
) -> None:
    near = records.filter(kept__isnull=False).order_by("pk").only("pk", "kept", "memory_ids")
    quoting = [
        row.pk
        for row in near.iterator(chunk_size=ROWS_A_READ)
        if {*memory_ids} & {*row.memory_ids} or quoted_in(row.kept)
    ]
    RecallRecord.objects.filter(pk__in=quoting).update(kept=None)
