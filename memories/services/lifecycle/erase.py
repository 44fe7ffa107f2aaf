"""Erase a memory permanently, with every copy of its text and everything that quotes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Min, Q

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.idempotency import forget_answers, forget_quotes
from engram.kernel.models import Event, Workspace
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.content import QUOTE_CHARS, content_hash, normalise_quote
from memories.core.text import terms
from memories.models import (
    ExtractedQuote,
    Memory,
    Merge,
    MergeSuggestion,
    Observation,
    Review,
    Revision,
    TermCount,
)
from memories.services.drift.asked import erase_cut_queries
from memories.services.index.search_index import WordIndex
from memories.services.index.statement_hashes import lock_statements, texts_of
from memories.services.lifecycle.erase_answers import answering_elsewhere, erase_answers
from memories.services.lifecycle.states import absorbed_ids
from memories.services.locks import lock
from memories.services.review.ask import flag_derived
from memories.services.sessions.erase import erase_quotes, pieces_of
from memories.services.sessions.erase_extracted import erase_extracted
from memories.services.sessions.reported import erase_reported
from memories.services.sessions.withheld import mark_knew_erased
from memories.signals import memories_erased

_UNNAMED = """
    UPDATE memories_recallrecord SET memory_ids = array_remove(memory_ids, %(memory)s), kept = NULL
    WHERE workspace_id = %(workspace)s AND %(memory)s = ANY(memory_ids)
"""


@dataclass(frozen=True, slots=True)
class _Wordings:
    """All wordings of the erased memories."""

    hashes: frozenset[str]
    texts: frozenset[str]  # normalised

    def quoted_in(self, value: Any) -> bool:
        """Return whether a text, or any text within a JSON value, contains one of the wordings.

        A short wording ("Yes.") is only found as a whole text.
        """
        if isinstance(value, str):
            text = normalise_quote(value)
            return text in self.texts or any(
                len(wording) >= QUOTE_CHARS and wording in text for wording in self.texts
            )
        if isinstance(value, dict):
            return any(self.quoted_in(item) for item in value.values())
        return isinstance(value, list) and any(self.quoted_in(item) for item in value)


def erase(workspace: Workspace, memory_id: UUID, *, actor: Actor, now: datetime) -> None:
    """Erase a memory of any state in one transaction; history records who erased it.

    Memories of the workspace with exactly the same statement are erased as well, and so are those
    that accepted merges absorbed into it. Memories derived from it stay and get a review.
    """
    with in_workspace(workspace):
        digest = Memory.objects.filter(pk=memory_id).values_list("content_hash", flat=True).first()
        if digest is None:
            raise MissingError("There is no such memory.")
        lock_statements([digest])
        same = Memory.objects.filter(Q(pk=memory_id) | Q(content_hash=digest))
        said_so = list(same.values_list("pk", flat=True))
        copies = {*said_so, *absorbed_ids(said_so)}
        locked = lock({*copies, *answering_elsewhere(copies)}, to_erase=True)
        memories = [memory for memory in locked if memory.id in copies]
        if memory_id not in {memory.id for memory in memories}:
            raise MissingError("There is no such memory.")
        ids = [memory.id for memory in memories]
        wordings = _wordings_of(memories)
        flagged = flag_derived(ids, actor=actor, now=now)
        # Before the signal: a writer of a session locks it. It has either committed by now, and
        # receivers of the signal find its rows, or it waits and then finds the transcript erased.
        sessions = erase_quotes(wordings.quoted_in, wordings.texts)
        mark_knew_erased(ids)
        erase_extracted(wordings.quoted_in, pieces_of(wordings.texts))
        erase_reported(ids, wordings.quoted_in, pieces_of(wordings.texts))
        answering = erase_answers(ids, wordings.hashes)
        memories_erased.send(
            Memory,
            memory_ids=ids,
            answering=answering,
            quoted_in=wordings.quoted_in,
            pieces=pieces_of(wordings.texts),
            first_seq=_first_seq(ids, wordings, sessions),
            now=now,
        )
        _erase_elsewhere(ids, wordings)
        forget_answers(answering)
        _erase_traces(ids)
        words = WordIndex()
        for memory in memories:
            words.drop(memory.id, memory.content)
        erased_terms = {term for text in texts_of(ids) for term in terms(text)}
        Memory.objects.filter(pk__in=ids).delete()
        record(
            "memory.erased",
            of=("memory", memory_id),
            actor=actor,
            now=now,
            data={"copies": len(ids) - 1, "flagged": flagged},
        )
        words.write()
        TermCount.objects.filter(term__in=erased_terms, memories__lte=0).delete()


def _wordings_of(memories: Collection[Memory]) -> _Wordings:
    """Collect the wordings of memories: present, former, observed, and quotes they are made of."""
    texts = {memory.content for memory in memories}
    quotes = ExtractedQuote.objects.filter(memory__in=memories)
    texts |= set(quotes.values_list("text", flat=True))
    for model in (Observation, Revision):
        texts |= set(model.objects.filter(memory__in=memories).values_list("content", flat=True))
    return _Wordings(
        frozenset(content_hash(text) for text in texts),
        frozenset(normalise_quote(text) for text in texts),
    )


def _first_seq(ids: Collection[UUID], wordings: _Wordings, sessions: Collection[UUID]) -> int:
    """Return the sequence number of the first event about an object that held one of the wordings.

    0 when some object has no event. Sequence numbers only grow, unlike clocks. Other memories can
    have held a wording earlier: a split memory is younger than its wording.
    """
    holders = {*ids, *sessions}
    for model in (Observation, Revision):
        found = model.objects.filter(content_hash__in=wordings.hashes).order_by()
        holders.update(found.values_list("memory_id", flat=True))
    events = Event.objects.filter(object_id__in=[str(holder) for holder in holders]).order_by()
    firsts = events.values("object_id").annotate(first=Min("seq")).values_list("first", flat=True)
    return min(firsts) if len(firsts) == len(holders) else 0


def _erase_elsewhere(ids: Collection[UUID], wordings: _Wordings) -> None:
    """Erase the wordings from rows of other memories, except their present content."""
    others = Q(content_hash__in=wordings.hashes) & ~Q(memory__in=ids)
    own = list(
        Memory.objects.filter(content_hash__in=wordings.hashes)
        .exclude(pk__in=ids)
        .values_list("content_hash", flat=True)
    )
    for model in (Observation, Revision):
        model.objects.filter(others).exclude(content_hash__in=own).delete()
    named = [str(memory_id) for memory_id in ids]
    for row in Observation.objects.filter(gate__nearest_id__in=named):
        row.gate = row.gate | {"reasons": []}
        row.save(update_fields=["gate"])
    _delete(Review.objects.filter(result__in=ids))
    _delete(row for row in Review.objects.iterator() if wordings.quoted_in(row.request))
    notes = Review.objects.exclude(note="")
    quoting = [review.pk for review in notes.iterator() if wordings.quoted_in(review.note)]
    notes.filter(pk__in=quoting).update(note="Erased.")
    forget_quotes(wordings.quoted_in, pieces_of(wordings.texts))
    erase_cut_queries(wordings.texts)
    _delete(
        row
        for row in Merge.objects.iterator()
        if wordings.quoted_in([row.before, row.after, row.reasons])
    )
    _delete(row for row in MergeSuggestion.objects.iterator() if wordings.quoted_in(row.reasons))


def _delete(rows: Iterable[Any]) -> None:
    for row in list(rows):
        row.delete()


def _erase_traces(ids: Collection[UUID]) -> None:
    """Remove the memories from history, stored responses and uncounted recalls."""
    named = [str(memory_id) for memory_id in ids]
    Event.objects.filter(object_id__in=named).update(data={}, session_key="")
    forget_answers(ids)
    with connection.cursor() as cursor:
        for memory_id in ids:
            cursor.execute(_UNNAMED, {"memory": memory_id, "workspace": current_workspace_id()})
