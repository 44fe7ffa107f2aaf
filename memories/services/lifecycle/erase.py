"""Erasing for good: a memory, every copy of its words, and whatever quotes it."""

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
from memories.core.content import content_hash, normalise_quote
from memories.core.text import terms
from memories.models import (
    Memory,
    Merge,
    MergeSuggestion,
    Observation,
    Review,
    Revision,
    TermCount,
)
from memories.services.index.search_index import WordIndex
from memories.services.index.statement_hashes import lock_statements
from memories.services.lifecycle.states import absorbed_ids
from memories.services.locks import lock
from memories.services.review.ask import flag_derived
from memories.services.sessions.erase import erase_quotes, pieces_of
from memories.signals import memories_erased

QUOTE_CHARS = 16


@dataclass(frozen=True, slots=True)
class _Words:
    """Everything that the erased memories ever said."""

    hashes: frozenset[str]
    texts: frozenset[str]  # normalised

    def quoted_in(self, value: Any) -> bool:
        """Tell whether a text, or any text within a JSON value, holds one of the wordings.

        A short wording ("Yes.") is only found where it stands alone.
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
    """Erase a memory of any state in one transaction; history keeps that it was done, and by whom.

    A memory elsewhere in the workspace that says exactly the same is a copy, and goes with it; so
    does what accepted merges made part of it.
    What was derived from it stays and is flagged: a person decides.
    """
    with in_workspace(workspace):
        digest = Memory.objects.filter(pk=memory_id).values_list("content_hash", flat=True).first()
        if digest is None:
            raise MissingError("There is no such memory.")
        lock_statements([digest])
        same = Memory.objects.filter(Q(pk=memory_id) | Q(content_hash=digest))
        said_so = list(same.values_list("pk", flat=True))
        copies = Memory.objects.filter(pk__in=[*said_so, *absorbed_ids(said_so)])
        memories = lock(list(copies.values_list("pk", flat=True)), to_erase=True)
        if memory_id not in {memory.id for memory in memories}:
            raise MissingError("There is no such memory.")
        ids = [memory.id for memory in memories]
        said = _words_of(memories)
        flagged = flag_derived(ids, actor=actor, now=now)
        # Before others are told: who writes on a session locks it, and has either written by now,
        # which those who are told find, or waits and then finds its transcript gone.
        sessions = erase_quotes(said.quoted_in, said.texts)
        memories_erased.send(
            Memory,
            memory_ids=ids,
            quoted_in=said.quoted_in,
            pieces=pieces_of(said.texts),
            first_seq=_first_seq(ids, said, sessions),
            now=now,
        )
        _erase_elsewhere(ids, said)
        _erase_traces(ids)
        words = WordIndex()
        for memory in memories:
            words.drop(memory.id, memory.content)
        Memory.objects.filter(pk__in=ids).delete()
        record(
            "memory.erased",
            of=("memory", memory_id),
            actor=actor,
            now=now,
            data={"copies": len(ids) - 1, "flagged": flagged},
        )
        words.write()
        gone = {term for memory in memories for term in terms(memory.content)}
        TermCount.objects.filter(term__in=gone, memories__lte=0).delete()


def _words_of(memories: Collection[Memory]) -> _Words:
    """Collect what the memories say, said, and were told."""
    texts = {memory.content for memory in memories}
    for model in (Observation, Revision):
        texts |= set(model.objects.filter(memory__in=memories).values_list("content", flat=True))
    return _Words(
        frozenset(content_hash(text) for text in texts),
        frozenset(normalise_quote(text) for text in texts),
    )


def _first_seq(ids: Collection[UUID], said: _Words, sessions: Collection[UUID]) -> int:
    """Return the number of history's first event about what has held one of the wordings.

    0 when history does not tell of all of it. Numbers only grow, where clocks may go back. Other
    memories may have held one before: what was split off is younger than what it said.
    """
    holders = {*ids, *sessions}
    for model in (Observation, Revision):
        found = model.objects.filter(content_hash__in=said.hashes).order_by()
        holders.update(found.values_list("memory_id", flat=True))
    told = Event.objects.filter(object_id__in=[str(holder) for holder in holders]).order_by()
    firsts = told.values("object_id").annotate(first=Min("seq")).values_list("first", flat=True)
    return min(firsts) if len(firsts) == len(holders) else 0


def _erase_elsewhere(ids: Collection[UUID], said: _Words) -> None:
    """Erase the words where other memories keep them, except what those say themselves now."""
    others = Q(content_hash__in=said.hashes) & ~Q(memory__in=ids)
    own = list(
        Memory.objects.filter(content_hash__in=said.hashes)
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
    _delete(row for row in Review.objects.iterator() if said.quoted_in(row.request))
    notes = Review.objects.exclude(note="")
    quoting = [review.pk for review in notes.iterator() if said.quoted_in(review.note)]
    notes.filter(pk__in=quoting).update(note="Erased.")
    forget_quotes(said.quoted_in, pieces_of(said.texts))
    _delete(
        row
        for row in Merge.objects.iterator()
        if said.quoted_in([row.before, row.after, row.reasons])
    )
    _delete(row for row in MergeSuggestion.objects.iterator() if said.quoted_in(row.reasons))


def _delete(rows: Iterable[Any]) -> None:
    for row in list(rows):
        row.delete()


def _erase_traces(ids: Collection[UUID]) -> None:
    """Empty what history and kept answers say of them, and take them out of uncounted recalls."""
    named = [str(memory_id) for memory_id in ids]
    Event.objects.filter(object_id__in=named).update(data={}, session_key="")
    forget_answers(ids)
    with connection.cursor() as cursor:
        for memory_id in ids:
            cursor.execute(
                "UPDATE memories_recallrecord SET memory_ids = array_remove(memory_ids, %s)"
                " WHERE workspace_id = %s AND %s = ANY(memory_ids)",
                [memory_id, current_workspace_id(), memory_id],
            )
