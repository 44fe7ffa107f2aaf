"""What a judge wrote in its own words: it may quote the memories that it saw, and more.

While one of them is forgotten the words are shown to nobody (`session_records`); when one is erased
they are gone, from every judgement that saw it and from every other that quotes it, and a judge
that read it and has yet to answer brings none (`settle`). The numbers stay.
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

# What of `raw` is words.
WORDS = ("reasoning", "missing_topics")


def strip_words(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict's numbers."""
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
    """Take the words out of the judgements that saw memories about to be erased, or quote them.

    They are looked for before the state is locked, for which others wait; under the lock only
    those that were settled meanwhile: sessions are settled, and history numbered, one by one.
    """
    settled = Event.objects.filter(type="session.judged").order_by("-seq")
    last = settled.values_list("seq", flat=True).first() or 0
    quoting = _quoting(Judgement.objects.all(), memory_ids, quoted_in, pieces)
    PredictorState.objects.select_for_update().first()  # before judgements, as who settles one does
    since = [UUID(key) for key in settled.filter(seq__gt=last).values_list("object_id", flat=True)]
    if since:
        late = Judgement.objects.filter(session__in=since)
        quoting |= _quoting(late, memory_ids, quoted_in, pieces)
    for judgement in Judgement.objects.filter(pk__in=quoting).order_by("pk").select_for_update():
        judgement.raw = strip_words(judgement.raw)
        judgement.missing_topics = []
        judgement.save(update_fields=["raw", "missing_topics"])


def _quoting(
    judgements: QuerySet[Judgement],
    memory_ids: Sequence[UUID],
    quoted_in: Callable[[Any], bool],
    pieces: Sequence[str],
) -> set[UUID]:
    """Return which of these judgements saw the memories, or quote them.

    Read are only the answers that hold a piece; their topics are a part of them.
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
