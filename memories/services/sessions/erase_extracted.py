"""Erase from extractions what quotes erased memories, and all that is of a deleted session."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final
from uuid import UUID

from django.db.models import CharField, QuerySet
from django.db.models.functions import Cast

from engram.kernel.models import Job
from memories.models import ExtractedQuote, Extraction, ExtractionRefusal
from memories.models.extraction import WITHOUT_TRANSCRIPT
from memories.services.pieces import delete_quoting, may_quote

Quotes = Callable[[Any], bool]

_LISTS: Final = ("kept", "refused")
_STAYING: Final = ("memory", "outcome", "reason")


def erase_extracted(quoted_in: Quotes, pieces: Sequence[str]) -> None:
    """Erase every text that quotes one of the wordings, in the transaction that erases them.

    `pieces` are patterns, one of which every such text contains, in any case; "" where there is
    none. First the transcripts: see `services/extraction/write.py`.
    """
    waiting = Extraction.objects.exclude(transcript="")
    near = _near(waiting, ["transcript"], pieces)
    quoting = [row.pk for row in near.iterator(chunk_size=20) if quoted_in(row.transcript)]
    Extraction.objects.filter(pk__in=quoting).update(**WITHOUT_TRANSCRIPT)
    delete_quoting(ExtractionRefusal, ["text", "fact", "before", "after"], quoted_in, pieces)
    delete_quoting(ExtractedQuote, ["text"], quoted_in, pieces)
    results = Job.objects.alias(written=Cast("result", CharField()))
    near_results = _near(results, ["written"], pieces).values_list("pk", flat=True)
    _erase_entries(list(near_results), quoted_in)


def erase_extracted_of(session_key: str) -> None:
    """Erase the transcripts, refusals, quotes and results of a session about to be deleted."""
    of_session = Extraction.objects.filter(session_key=session_key)
    of_session.update(**WITHOUT_TRANSCRIPT)
    ExtractionRefusal.objects.filter(session_key=session_key).delete()
    ExtractedQuote.objects.filter(session_key=session_key).delete()
    _erase_entries(list(of_session.values_list("pk", flat=True)), lambda _: True)


def _near(rows: QuerySet[Any], names: Sequence[str], pieces: Sequence[str]) -> QuerySet[Any]:
    """Return the rows of which a column contains a piece."""
    return rows.filter(may_quote(pieces, *names)).order_by("pk")


def _erase_entries(job_ids: Collection[UUID], quoted_in: Quotes) -> None:
    """Remove the entries of results that quote a text; ids and outcomes stay.

    The rows are locked before they are read: two erasures of one result both remain.
    """
    locked = Job.objects.filter(pk__in=job_ids).order_by("pk").select_for_update(no_key=True)
    for job in locked.only("pk", "result").iterator(chunk_size=20):
        changed = dict(job.result)
        for name in _LISTS:
            changed[name] = [
                {key: entry[key] for key in _STAYING if key in entry} if quoted_in(entry) else entry
                for entry in changed.get(name, [])
            ]
        if job.result and changed != job.result:
            Job.objects.filter(pk=job.pk).update(result=changed)
