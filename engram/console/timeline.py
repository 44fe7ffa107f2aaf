"""Build the timeline of one session: its memories, rankings, judging, trainings and errors.

The number of queries is constant. Texts are only of memories that can be recalled now; everything
else is ids, names and numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from conflicts.models import Conflict
from engram.kernel.models import Event, StageError
from engram.kernel.refusals import MissingError
from memories.models import CandidateSource, Memory, Session, SessionCandidate
from predictor.models import Comparison, Judgement, JudgeStatus, Training

EVENTS_MAX = 1_000  # the newest; older ones are left out and `is_truncated` says so
OTHERS_MAX = 200  # trainings, cards, errors
TEXT_MAX_CHARS = 240
# Shown by their own rows, which have more details than the event.
TOLD_BY_ROWS: Final = ("session.judged", "comparison.recorded", "predictor.drift_reset")
MEMORY: Final = "memory."


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One entry; `text` is of a memory that can be recalled now."""

    at: datetime
    source: str  # session, memory, conflict, predictor, judge, job or error
    event: str
    details: Mapping[str, Any] = field(default_factory=dict)
    actor: str = ""
    object: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class SessionTimeline:
    """A session's entries, oldest first; `session` is None if only others have the key."""

    session_key: str
    session: Session | None
    entries: Sequence[TimelineEntry]
    is_truncated: bool


def timeline(session_key: str, *, now: datetime, shows_details: bool) -> SessionTimeline:
    """Return the timeline of a session of the current workspace.

    Of an earlier, deleted session with the same key only the deletion is shown; memories that other
    keys committed under the session key are not. Error details may contain server names: they are
    included only with `shows_details`.
    """
    session = (
        Session.objects.filter(session_key=session_key)
        .defer("context", "context_embedding", "transcript")
        .first()
    )
    history = Event.objects.filter(session_key=session_key)
    if session is not None:
        kind, _, actor_id = session.caller.partition(":")
        own = Q(actor_kind=kind, actor_id=actor_id)
        history = history.exclude(~own, type__startswith=MEMORY)
    errors = StageError.objects.filter(session_key=session_key).exclude(session_key="")
    deletion = history.filter(type="session.deleted").first()
    if deletion is not None:
        history = history.filter(seq__gte=deletion.seq + (session is not None))
        errors = errors.filter(at__gt=deletion.at)
    events = list(history[: EVENTS_MAX + 1])
    is_truncated = len(events) > EVENTS_MAX
    events = events[:EVENTS_MAX]
    failed = _errors(errors, shows_details=shows_details)
    entries = [*_history(events, now), *_cards(events), *failed]
    if session is not None:
        entries += [
            *_ranking_entries(session),
            *_judging_entries(session),
            *_comparison_entries(session),
            *_training_entries(session),
        ]
    if session is None and not entries:
        raise MissingError("There is no such session.")
    entries.sort(key=lambda entry: entry.at)
    return SessionTimeline(session_key, session, entries, is_truncated)


def _history(events: Sequence[Event], now: datetime) -> Iterator[TimelineEntry]:
    memory_ids = {event.object_id for event in events if event.type.startswith(MEMORY)}
    readable = Memory.objects.recallable(now).filter(pk__in=memory_ids)
    texts = {str(pk): text for pk, text in readable.values_list("pk", "content")}
    # Oldest first, so that events of the same time keep their order.
    for event in reversed(events):
        if event.type in TOLD_BY_ROWS:
            continue
        source, _, name = event.type.partition(".")
        yield TimelineEntry(
            at=event.at,
            source=_source_of(source),
            event=name,
            details=event.data,
            actor=event.actor_label,
            object=event.object_id,
            text=_short(texts.get(event.object_id)) if source == "memory" else None,
        )


def _source_of(first: str) -> str:
    return {"training": "predictor", "comparison": "predictor", "calibration": "judge"}.get(
        first, first
    )


def _short(text: str | None) -> str | None:
    if text is None:
        return None
    line = " ".join(text.split())
    return line if len(line) <= TEXT_MAX_CHARS else f"{line[: TEXT_MAX_CHARS - 1]}…"


def _cards(events: Iterable[Event]) -> Iterator[TimelineEntry]:
    """Return entries of the cards about the session's memories."""
    committed = (event for event in events if event.type == "memory.committed")
    memories = {UUID(event.object_id) for event in committed}
    cards = Conflict.objects.filter(members__memory__in=memories).order_by("created_at").distinct()
    for card in cards.values("id", "kind", "status", "severity", "created_at")[:OTHERS_MAX]:
        details = {name: card[name] for name in ("kind", "status", "severity")}
        yield TimelineEntry(
            card["created_at"], "conflict", "opened", details, object=str(card["id"])
        )


def _errors(errors: QuerySet[StageError], *, shows_details: bool) -> Iterator[TimelineEntry]:
    for row in errors[:OTHERS_MAX]:
        details = {"stage": row.stage, "detail": row.detail if shows_details else ""}
        yield TimelineEntry(row.at, "error", row.code, details)


def _ranking_entries(session: Session) -> Iterator[TimelineEntry]:
    """Return entries of the ranking at the start, and of prompts' matches."""
    rows = SessionCandidate.objects.filter(session=session).order_by()
    pool = ~Q(source=CandidateSource.FTS_ONLY)
    given, matched = Q(was_injected=True), Q(fts_hit_count__gt=0)
    counts = rows.aggregate(
        candidates=Count("pk", filter=pool),
        scored=Count("pk", filter=Q(predictor_score__isnull=False)),
        attenuated=Count("pk", filter=pool & Q(diversity__lt=1)),
        injected=Count("pk", filter=given),
        injected_matched=Count("pk", filter=given & matched),
        fts_only=Count("pk", filter=~pool),
        explored=Count("pk", filter=Q(source=CandidateSource.EXPLORATION)),
    )
    best = rows.filter(predictor_rank=1).values_list("memory_id", flat=True).first()
    at = session.started_at

    def entry(event: str, moment: datetime, *names: str, **more: Any) -> TimelineEntry:
        return TimelineEntry(
            moment, "predictor", event, {name: counts[name] for name in names} | more
        )

    yield entry("prefilter", at, "candidates", "injected")
    yield entry(
        "scored",
        at,
        "scored",
        "explored",
        top_pick=None if best is None else str(best),
        alpha=session.alpha,
        phase=session.phase,
        model_version=session.model_version,
        no_opinion_reason=session.no_opinion_reason,
    )
    yield entry("diversity", at, "attenuated", "candidates")
    if session.prompt_count:
        moment = session.ended_at or session.active_at or at
        yield entry(
            "fts_overlap",
            moment,
            "injected",
            "injected_matched",
            "fts_only",
            prompts=session.prompt_count,
        )


def _judging_entries(session: Session) -> Iterator[TimelineEntry]:
    judgement = Judgement.objects.filter(session=session).first()
    if judgement is None:
        return
    if judgement.status != JudgeStatus.SKIPPED:
        yield TimelineEntry(judgement.due_at, "job", "judging_due", object=str(judgement.id))
    details = {
        "status": judgement.status,
        "attempts": judgement.attempts,
        "kind": judgement.kind,
        "version": judgement.version,
        "model": judgement.model,
        "overall": judgement.overall,
        "confidence": judgement.confidence,
        "memories": len(judgement.memory_ids),
        "is_flat": judgement.is_flat,
        "void_reason": judgement.void_reason,
    }
    if judgement.judged_at is not None:
        is_done = judgement.status == JudgeStatus.DONE
        event = "judged" if is_done else f"judging_{judgement.status}"
        yield TimelineEntry(judgement.judged_at, "judge", event, details, object=str(judgement.id))


_COMPARED: Final = (
    "outcome", "void_reason", "predictor_ndcg", "baseline_ndcg", "margin", "drafted_margin",
    "is_evidence", "model_version", "alpha_served", "alpha", "phase", "success_rate",
)  # fmt: skip


def _comparison_entries(session: Session) -> Iterator[TimelineEntry]:
    row = Comparison.objects.filter(session=session).first()
    if row is None:
        return
    details = {name: getattr(row, name) for name in _COMPARED}
    yield TimelineEntry(row.created_at, "predictor", "comparison", details, object=str(row.id))
    if row.is_drift_reset:
        details = {"success_rate": row.success_rate, "alpha": row.alpha, "phase": row.phase}
        yield TimelineEntry(row.created_at, "predictor", "drift_reset", details, object=str(row.id))


_TRAINED: Final = (
    "status", "reason", "loss", "version", "session_count", "duration_ms", "canary_ndcg_delta",
)  # fmt: skip


def _training_entries(session: Session) -> Iterator[TimelineEntry]:
    """Return entries of the trainings that used the session."""
    learned: list[UUID] = [session.id]
    rows = Training.objects.filter(trained_session_ids__contains=learned).order_by("started_at")
    for row in rows.values("id", "started_at", "finished_at", *_TRAINED)[:OTHERS_MAX]:
        details = {name: row[name] for name in _TRAINED}
        at = row["finished_at"] or row["started_at"]
        yield TimelineEntry(at, "predictor", "trained", details, object=str(row["id"]))
