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

from predictor.models import Judgement

# What of `raw` is words.
WORDS = ("reasoning", "missing_topics")


def without_words(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict's numbers."""
    return {name: value for name, value in raw.items() if name not in WORDS}


def note_erased(
    sender: Any,
    *,
    memory_ids: Sequence[UUID],
    quoted_in: Callable[[Any], bool],
    now: datetime,
    **_: Any,
) -> None:
    """Take the words out of the judgements that saw memories about to be erased, or quote them."""
    saw = Judgement.objects.filter(memory_ids__overlap=list(memory_ids))
    quoting = set(saw.order_by().values_list("pk", flat=True))
    rows = Judgement.objects.exclude(raw={}).order_by()
    for pk, raw, topics in rows.values_list("pk", "raw", "missing_topics").iterator():
        if pk not in quoting and quoted_in([raw, topics]):
            quoting.add(pk)
    for judgement in Judgement.objects.filter(pk__in=quoting).order_by("pk").select_for_update():
        judgement.raw = without_words(judgement.raw)
        judgement.missing_topics = []
        judgement.save(update_fields=["raw", "missing_topics"])
