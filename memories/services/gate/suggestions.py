"""Create merge suggestions: at most one open per pair, none for rejected wordings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.history import event, record, send
from engram.kernel.inserting import insert
from engram.kernel.refusals import InvalidError, StaleError
from memories.models import Memory, MergeSuggestion, SuggestionStatus
from memories.services.disputes import in_one_conflict

STAMPS = ("forgotten_at", "culled_at", "retired_at", "superseded_at")
DetectedBy = Literal["gate", "agent", "person"]


def suggest(
    memory: Memory,
    other: Memory,
    *,
    relation: str,
    detected_by: DetectedBy,
    actor: Actor,
    now: datetime,
    similarity: float | None = None,
    reasons: Sequence[str] = (),
) -> MergeSuggestion | None:
    """Suggest to merge two live memories of one place, in the caller's transaction.

    Return the open suggestion of the pair, or None when a person keeps these two wordings apart.
    """
    if memory.id == other.id:
        raise InvalidError("other", "A memory is not merged with itself.")
    if (memory.scope, memory.project) != (other.scope, other.project):
        raise InvalidError("other", "Only memories of one scope and project are merged.")
    if kept_apart_from(memory.content_hash, [other.content_hash]):
        return None
    wordings = wordings_of(memory.content_hash, other.content_hash)
    pair = pair_of(memory.id, other.id)
    opened = MergeSuggestion.objects.filter(pair=pair, status=SuggestionStatus.OPEN)
    opened.exclude(wordings=wordings).update(status=SuggestionStatus.LAPSED, decided_at=now)
    suggestion = MergeSuggestion(
        memory=memory,
        other=other,
        pair=pair,
        wordings=wordings,
        similarity=similarity,
        relation=relation,
        reasons=list(reasons),
        detected_by=detected_by,
        created_at=now,
    )
    MergeSuggestion.objects.bulk_create([suggestion], ignore_conflicts=True)
    kept = opened.get()
    if kept.id == suggestion.id:
        data = {"suggestion": str(kept.id), "other": str(other.id), "detected_by": detected_by}
        record("merge.suggested", of=("memory", memory.id), actor=actor, now=now, data=data)
    return kept


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two live memories of one place that the gate considers duplicates."""

    memory: Memory
    other: Memory
    relation: str
    similarity: float | None
    reasons: Sequence[str]
    at: datetime


def suggest_all(proposals: Iterable[Proposal], *, actor: Actor, now: datetime) -> set[str]:
    """Create suggestions for many pairs, with a constant number of SQL statements.

    Return the names (`pair_of`) of the pairs that have an open suggestion now.
    """
    rows = {
        pair_of(one.memory.id, one.other.id): MergeSuggestion(
            memory=one.memory,
            other=one.other,
            pair=pair_of(one.memory.id, one.other.id),
            wordings=wordings_of(one.memory.content_hash, one.other.content_hash),
            similarity=one.similarity,
            relation=one.relation,
            reasons=list(one.reasons),
            detected_by="gate",
            created_at=one.at,
        )
        for one in proposals
    }
    rejected = rejected_among({row.wordings for row in rows.values()})
    rows = {pair: row for pair, row in rows.items() if row.wordings not in rejected}
    if not rows:
        return set()
    opened = MergeSuggestion.objects.filter(pair__in=list(rows), status=SuggestionStatus.OPEN)
    reworded = [row.pk for row in opened if row.wordings != rows[row.pair].wordings]
    opened.filter(pk__in=reworded).update(status=SuggestionStatus.LAPSED, decided_at=now)
    # Always in one order, so that two callers cannot wait for each other.
    ordered = [rows[pair] for pair in sorted(rows)]
    MergeSuggestion.objects.bulk_create(ordered, ignore_conflicts=True)
    new = set(opened.values_list("pk", flat=True))
    events = [
        event(
            "merge.suggested", of=("memory", row.memory_id), actor=actor, now=row.created_at,
            data={"suggestion": str(row.pk), "other": str(row.other_id), "detected_by": "gate"},
        )
        for row in rows.values()
        if row.pk in new
    ]  # fmt: skip
    insert(events)
    for one in events:
        send(one)
    return set(rows)


def _as_text(field: str) -> Concat:
    """Return a field as an expression that uses no index, so that the pair is joined by id.

    A join by place would read all memories of the place for each suggestion.
    """
    return Concat(F(field), Value(""))


def _is_live(member: str, now: datetime) -> Q:
    live = Q(**{f"{member}__{stamp}": None for stamp in STAMPS})
    return live & (Q(**{f"{member}__expires_at": None}) | Q(**{f"{member}__expires_at__gt": now}))


def in_status(
    status: str, now: datetime, *, with_disputed: bool = False
) -> QuerySet[MergeSuggestion]:
    """Return the suggestions of a status.

    An open one counts as lapsed while a member is hidden or reworded, or while both are in one open
    conflict. It is open again when the member is restored with the same wording, or the conflict is
    closed and both are live. `with_disputed` ignores conflicts.
    """
    rows = MergeSuggestion.objects.annotate(
        one=Concat(F("memory__content_hash"), Value(":"), F("other__content_hash")),
        two=Concat(F("other__content_hash"), Value(":"), F("memory__content_hash")),
        scope_of_one=_as_text("memory__scope"),
        project_of_one=_as_text("memory__project"),
    )
    same_place = Q(scope_of_one=_as_text("other__scope"), project_of_one=_as_text("other__project"))
    same_wording = Q(wordings=F("one")) | Q(wordings=F("two"))
    is_valid = _is_live("memory", now) & _is_live("other", now) & same_wording & same_place
    if not with_disputed:
        is_valid &= ~in_one_conflict("memory", "other")
    is_open = Q(status=SuggestionStatus.OPEN)
    if status == SuggestionStatus.OPEN:
        return rows.filter(is_open & is_valid)
    if status == SuggestionStatus.LAPSED:
        return rows.filter(Q(status=SuggestionStatus.LAPSED) | (is_open & ~is_valid))
    return rows.filter(status=status)


def demand_unchanged(suggestion: MergeSuggestion, now: datetime) -> None:
    """Raise `StaleError` when a member of an open suggestion was hidden or reworded since.

    A dispute does not matter: a suggestion can be rejected while both are in an open conflict.
    """
    valid = in_status(SuggestionStatus.OPEN, now, with_disputed=True)
    if not valid.filter(pk=suggestion.pk).exists():
        raise StaleError(
            "One of the two memories was changed or hidden meanwhile.",
            [suggestion.memory_id, suggestion.other_id],
            cause=CHANGED_MEANWHILE,
        )


def reopen_accepted(suggestion_id: UUID, *, actor: Actor, now: datetime) -> bool:
    """Open an accepted suggestion again whose merge was undone, in the caller's transaction.

    Return False, and leave it, where it is not accepted, or a member was hidden or reworded.
    """
    accepted = MergeSuggestion.objects.filter(pk=suggestion_id, status=SuggestionStatus.ACCEPTED)
    suggestion = accepted.select_for_update().first()
    if suggestion is None:
        return False
    was = {name: getattr(suggestion, name) for name in ("status", "decided_at", "decided_by")}
    rows = MergeSuggestion.objects.filter(pk=suggestion_id)
    rows.update(status=SuggestionStatus.OPEN, decided_at=None, decided_by="")
    if (
        not in_status(SuggestionStatus.OPEN, now, with_disputed=True)
        .filter(pk=suggestion_id)
        .exists()
    ):
        rows.update(**was)
        return False
    note_reopened(suggestion, actor=actor, now=now)
    return True


def note_reopened(suggestion: MergeSuggestion, *, actor: Actor, now: datetime) -> None:
    """Record that a suggestion asks again."""
    data = {"suggestion": str(suggestion.id), "other": str(suggestion.other_id)}
    of = ("memory", suggestion.memory_id)
    record("merge.reopened", of=of, actor=actor, now=now, data=data)


def wordings_of(a: str, b: str) -> str:
    """Return the key of two wordings by their content hashes, independent of order."""
    return ":".join(sorted((a, b)))


def pair_of(a: UUID, b: UUID) -> str:
    """Return the key of two memories by their ids, independent of order."""
    return ":".join(sorted((str(a), str(b))))


def kept_apart_from(digest: str, others: Collection[str]) -> set[str]:
    """Return those hashes among `others` that a person keeps apart from `digest`."""
    names = {wordings_of(digest, other): other for other in others}
    return {names[wordings] for wordings in rejected_among(names)}


def rejected_among(wordings: Collection[str]) -> set[str]:
    """Return those keys (`wordings_of`) of wordings that a person keeps apart."""
    rejected = MergeSuggestion.objects.filter(
        wordings__in=list(wordings), status=SuggestionStatus.REJECTED
    )
    return set(rejected.values_list("wordings", flat=True))
