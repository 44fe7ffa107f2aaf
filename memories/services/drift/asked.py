"""Withhold and erase what was asked of notes where it states a forgotten or erased memory.

A prediction error about notes keeps the query, cut after `QUERY_KEPT_CHARS` characters: it may be
the beginning of a long statement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final
from uuid import UUID

from django.db.models.functions import Left, Length, Lower

from memories.core.content import content_hash, normalise_quote
from memories.models import Memory, PredictionError
from memories.services.drift.note_errors import QUERY_KEPT_CHARS
from memories.services.index.statement_hashes import forgotten_wordings

BEGINNING_CHARS: Final = 60  # a cut query that begins as a forgotten memory does is withheld
COMPARED_CHARS: Final = 400  # of a cut query and an erased wording, normalised


def queries_of_forgotten(errors: Iterable[PredictionError]) -> set[UUID]:
    """Return the errors about notes whose query states a forgotten memory, in any wording of it."""
    asked = {error.pk: error.query for error in errors if error.query and not error.memory_id}
    hashes = {pk: content_hash(query) for pk, query in asked.items()}
    forgotten = forgotten_wordings(set(hashes.values()))
    found = {pk for pk, digest in hashes.items() if digest in forgotten}
    cut = {pk: _beginning(query) for pk, query in asked.items() if len(query) >= QUERY_KEPT_CHARS}
    if cut:
        begin = Left(Lower("content"), BEGINNING_CHARS)
        alike = Memory.objects.exclude(forgotten_at=None).annotate(begin=begin)
        known = set(
            alike.filter(begin__in=set(cut.values())).order_by().values_list("begin", flat=True)
        )
        found |= {pk for pk, beginning in cut.items() if beginning in known}
    return found


def erase_cut_queries(texts: Collection[str]) -> None:
    """Delete the errors about notes whose query is the beginning of an erased wording.

    `texts` are normalised. Whole queries are found as other quotes are.
    """
    of_notes = PredictionError.objects.filter(memory=None).annotate(chars=Length("query"))
    cut = of_notes.filter(chars__gte=QUERY_KEPT_CHARS).only("pk", "query").order_by()
    stating = [
        row.pk
        for row in cut.iterator()
        if any(text.startswith(normalise_quote(row.query)[:COMPARED_CHARS]) for text in texts)
    ]
    PredictionError.objects.filter(pk__in=stating).delete()


def _beginning(query: str) -> str:
    return query.lower()[:BEGINNING_CHARS]
