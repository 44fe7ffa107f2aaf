"""Compute the labels of sessions from the judge, prompt matches, and later changes of memories.

Changes of a memory count until `SETTLED_AFTER` the session's end; then the label is final. Until
then `relabel` updates the label with each change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from engram.kernel.models import Event
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.models import (
    CandidateSource,
    Memory,
    Merge,
    Provenance,
    Session,
    SessionCandidate,
)
from memories.services.locks import lock
from memories.services.review.trust import by_persons
from memories.services.sessions.reported import reported_use
from predictor.core.labels import CONTRADICTED, UNSURE, Evidence, label
from predictor.models import JudgeKind, Label

SETTLED_AFTER = timedelta(days=7)
REGRETTED_WITHIN = timedelta(hours=24)  # of being injected
AT_ONCE = timedelta(seconds=1)  # accepting a review and its effect are microseconds apart
RELABELLED_MAX = 5_000  # labels updated by one change of memories, the newest sessions first
NAMED_AS_MISSING = "named as missing"
SUPERSEDED, FORGOTTEN = "memory.superseded", "memory.forgotten"


@dataclass(frozen=True, slots=True)
class MemoryOutcome:
    """Later changes of a memory that affect labels."""

    superseded_at: datetime | None = None  # by a person, or by a class of at least the same weight
    superseded_in: tuple[str, UUID | None] = ("", None)  # session key and key of the successor
    forgotten_at: datetime | None = None  # by a person
    withdrawn_at: datetime | None = None  # merged or culled


def read_outcomes(memories: Collection[Memory]) -> dict[UUID, MemoryOutcome]:
    """Return the outcomes of memories by id, without those that nothing happened to."""
    found = {m.id: MemoryOutcome(withdrawn_at=m.culled_at) for m in memories if m.culled_at}
    superseded = [m for m in memories if m.superseded_at is not None]
    forgotten = [m for m in memories if m.forgotten_at is not None]
    if not superseded and not forgotten:
        return found
    by_person = _by_person([*superseded, *forgotten])
    merged = _merged_ids([m.id for m in superseded])
    successors = _successors([m.superseded_by_id for m in superseded if m.superseded_by_id])
    for memory in superseded:
        outcome = found.get(memory.id, MemoryOutcome())
        if memory.id in merged:
            found[memory.id] = replace(outcome, withdrawn_at=memory.superseded_at)
        elif (
            (memory.id, SUPERSEDED) in by_person
            or _trust_of(successors.get(memory.superseded_by_id)) >= _trust_of(memory)
        ):  # fmt: skip
            successor = successors.get(memory.superseded_by_id)
            written_in = (successor.session_key, successor.key_id) if successor else ("", None)
            found[memory.id] = replace(
                outcome, superseded_at=memory.superseded_at, superseded_in=written_in
            )
    for memory in forgotten:
        if (memory.id, FORGOTTEN) in by_person:
            outcome = found.get(memory.id, MemoryOutcome())
            found[memory.id] = replace(outcome, forgotten_at=memory.forgotten_at)
    return found


def _by_person(memories: Collection[Memory]) -> set[tuple[UUID, str]]:
    """Return (memory id, event type) for the memories that a person superseded or forgot.

    This includes requests of agents that a person accepted, matched by time.
    """
    known = {str(memory.id): memory for memory in memories}
    types = [SUPERSEDED, FORGOTTEN, "review.accepted"]
    events = Event.objects.filter(object_id__in=known, type__in=types).order_by("seq")
    persons = set(events.filter(by_persons()).values_list("seq", flat=True))
    found: dict[tuple[UUID, str], bool] = {}
    for seq, object_id, kind, at in events.values_list("seq", "object_id", "type", "at"):
        memory, is_person = known[object_id], seq in persons
        if kind != "review.accepted":
            found[memory.id, kind] = is_person
            continue
        stamps = {SUPERSEDED: memory.superseded_at, FORGOTTEN: memory.forgotten_at}
        for what, stamp in stamps.items():
            if is_person and stamp and abs(stamp - at) < AT_ONCE:
                found[memory.id, what] = True
    return {key for key, is_person in found.items() if is_person}


def _merged_ids(ids: Collection[UUID]) -> set[UUID]:
    merges = Merge.objects.filter(
        absorbed__in=ids, split_at=None, absorbed__superseded_by=F("memory")
    )
    return set(merges.order_by().values_list("absorbed_id", flat=True))


def _successors(ids: Collection[UUID]) -> dict[UUID | None, Memory]:
    rows = Memory.objects.filter(pk__in=ids).order_by()
    return {row.pk: row for row in rows.only("pk", "provenance", "session_key", "key")}


def _trust_of(memory: Memory | None) -> int:
    return 0 if memory is None else Provenance(memory.provenance).trust


@dataclass(frozen=True, slots=True)
class Said:
    """What the agent said of a memory's use, 0..1, and how much that weighs against the judge's.

    `is_judge`: the agent's word is the verdict that the session is learned from.
    """

    used: float | None = None
    weight: float = 1.0
    is_judge: bool = False


NOTHING_SAID = Said()


def evidence(
    row: SessionCandidate,
    session: Session,
    outcome: MemoryOutcome,
    *,
    relevance: float | None,
    is_named_missing: bool,
    is_unsure: bool = False,
    is_contradicted: bool = False,
    said: Said = NOTHING_SAID,
) -> Evidence:
    """Return the evidence about a memory in a session.

    What the session itself has superseded is not superseded for it: it used the memory so.
    """
    until = (session.ended_at or session.started_at) + SETTLED_AFTER
    regretted_until = min(until, session.started_at + REGRETTED_WITHIN)
    own = bool(session.session_key) and outcome.superseded_in == (
        session.session_key,
        session.key_id,
    )
    return Evidence(
        relevance=None if said.is_judge else relevance,
        was_injected=row.was_injected,
        hit_count=row.fts_hit_count,
        feedback=row.feedback,
        used=said.used,
        weight=said.weight,
        is_named_missing=is_named_missing,
        is_unsure=is_unsure,
        is_contradicted=is_contradicted,
        superseded=not own and _between(outcome.superseded_at, session.started_at, until),
        forgotten_by_person_within_24h=_between(
            outcome.forgotten_at, session.started_at, regretted_until
        ),
        is_withdrawn=outcome.withdrawn_at is not None and outcome.withdrawn_at <= until,
    )


def _between(at: datetime | None, since: datetime, until: datetime) -> bool:
    return at is not None and since <= at <= until


def relabel(memory_ids: Sequence[UUID], *, now: datetime) -> int | None:
    """Recompute the labels of changed memories in recent sessions.

    Return how many labels changed; None when no recent session has labels of them.

    Called in the transaction of the change, which holds the memories' locks that `settle` takes.
    """
    found = Label.objects.filter(
        memory__in=memory_ids, session__ended_at__gte=now - SETTLED_AFTER
    ).order_by("-session__ended_at", "pk")
    labels = list(
        found.select_related("session", "session__judgement")
        .defer("session__transcript", "session__context", "session__judgement__raw")
        .annotate(agent_weight=F("session__judgement__raw__agent__weight"))[:RELABELLED_MAX]
    )
    if not labels:
        return None
    known = read_outcomes(
        Memory.objects.filter(pk__in={row.memory_id for row in labels}).defer("content")
    )
    rows = _candidates(labels)
    used = reported_use({row.session_id for row in labels}, {row.memory_id for row in labels})
    changed = [row for row in labels if _relabel_one(row, rows, known, used)]
    changed.sort(key=lambda row: row.pk)
    Label.objects.bulk_update(changed, ["raw", "final", "reasons", "is_sampled"])
    return len(changed)


def _candidates(labels: Sequence[Label]) -> dict[tuple[UUID, UUID], SessionCandidate]:
    rows = SessionCandidate.objects.filter(
        session__in={row.session_id for row in labels}, memory__in={row.memory_id for row in labels}
    )
    return {(row.session_id, row.memory_id): row for row in rows.order_by()}


def _relabel_one(
    known: Any,
    rows: Mapping[tuple[UUID, UUID], SessionCandidate],
    outcomes: Mapping[UUID, MemoryOutcome],
    used: Mapping[tuple[UUID, UUID], float],
) -> bool:
    """Recompute a label, without saving it; return whether it changed."""
    row = rows.get((known.session_id, known.memory_id))
    if row is None:
        return False
    now_known = evidence(
        row,
        known.session,
        outcomes.get(known.memory_id, MemoryOutcome()),
        relevance=known.relevance,
        is_named_missing=NAMED_AS_MISSING in known.reasons,
        is_unsure=UNSURE in known.reasons,
        is_contradicted=CONTRADICTED in known.reasons,
        said=Said(
            used=used.get((known.session_id, known.memory_id)),
            weight=1.0 if known.agent_weight is None else known.agent_weight,
            is_judge=known.session.judgement.kind == JudgeKind.AGENT,
        ),
    )
    found = label(now_known, session_score=known.session.judgement.overall or 0.0)
    before = (known.raw, known.final, known.reasons)
    if before == (found.raw, found.final, list(found.reasons)):
        return False
    known.raw, known.final, known.reasons = found.raw, found.final, list(found.reasons)
    # A memory that only a prompt matched was never scored and is not trained on.
    known.is_sampled = row.source != CandidateSource.FTS_ONLY and found.final is not None
    return True


def note_hidden(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Update labels of memories that were superseded, forgotten or culled."""
    if relabel(memory_ids, now=now) is None:
        return
    workspace_id = current_workspace_id()

    def again() -> None:
        with in_workspace(workspace_id):
            lock(memory_ids)
            relabel(memory_ids, now=now)

    # The event of a person who accepted an agent's request is written after the memory was hidden.
    if Memory.objects.filter(pk__in=memory_ids, superseded_at=now).exists():
        transaction.on_commit(again, robust=True)


def note_revived(sender: Any, *, memory_ids: Sequence[UUID], now: datetime, **_: Any) -> None:
    """Update labels of memories that became live again."""
    relabel(memory_ids, now=now)
