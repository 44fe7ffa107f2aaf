"""Delete a judge's own words, which may quote memories, when a memory is erased.

While a memory is forgotten, `status/records.py` withholds the words. When it is erased they are
deleted from every judgement that saw it or quotes it; `settle` stores no words of a judge that was
still running. The numbers stay. Of sessions whose transcript is erased they are deleted, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from engram.kernel.models import Event
from predictor.models import Judgement, PredictorState

# The text fields of `raw`.
WORDS = ("reasoning", "missing_topics")


def strip_words(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a judge's answer without its text fields."""
    return {name: value for name, value in raw.items() if name not in WORDS}


def note_erased(
    sender: Any,
    *,
    memory_ids: Sequence[UUID],
    quoted_in: Callable[[Any], bool],
    pieces: Sequence[str],
    now: datetime,
    **_: Any,
) -> None:
    """Delete the words of judgements that saw, or quote, memories about to be erased.

    The search runs before the state is locked, because other writers wait for that lock; under the
    lock only judgements settled meanwhile are searched.
    """
    settled = Event.objects.filter(type="session.judged").order_by("-seq")
    last = settled.values_list("seq", flat=True).first() or 0
    quoting = _find_quoting(Judgement.objects.all(), memory_ids, quoted_in, pieces)
    PredictorState.objects.select_for_update().first()  # locked before judgements, as in `settle`
    since = [UUID(key) for key in settled.filter(seq__gt=last).values_list("object_id", flat=True)]
    if since:
        late = Judgement.objects.filter(session__in=since)
        quoting |= _find_quoting(late, memory_ids, quoted_in, pieces)
    _strip(Judgement.objects.filter(pk__in=quoting))


def note_transcripts_erased(
    sender: Any, *, session_ids: Sequence[UUID], now: datetime, **_: Any
) -> None:
    """Delete the words of the judgements of sessions whose transcripts are erased."""
    PredictorState.objects.select_for_update().first()
    _strip(Judgement.objects.filter(session__in=session_ids))


def _strip(judgements: QuerySet[Judgement]) -> None:
    """Delete the judge's words; the state is locked."""
    for judgement in judgements.order_by("pk").select_for_update():
        judgement.raw = strip_words(judgement.raw)
        judgement.missing_topics = []
        judgement.save(update_fields=["raw", "missing_topics"])


def _find_quoting(
    judgements: QuerySet[Judgement],
    memory_ids: Sequence[UUID],
    quoted_in: Callable[[Any], bool],
    pieces: Sequence[str],
) -> set[UUID]:
    """Return the ids of the judgements that saw the memories, or quote them.

    Only answers that contain one of the pieces are read; the topics are part of the answer.
    """
    rows = judgements.order_by()
    saw = rows.filter(memory_ids__overlap=list(memory_ids))
    found = set(saw.values_list("pk", flat=True))
    near = Q()
    for piece in pieces:
        near |= Q(words__iregex=piece) if piece else ~Q(raw={})
    written = rows.exclude(raw={}).annotate(words=Cast("raw", TextField())).filter(near)
    for pk, raw, topics in written.values_list("pk", "raw", "missing_topics").iterator():
        if pk not in found and quoted_in([raw, topics]):
            found.add(pk)
    return found
