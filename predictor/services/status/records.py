"""Read all records of a judged session for inspection.

A memory's text is included only while it is recallable. The judge's relevance of a memory that
waits for a person's label is withheld from everybody, so that calibration stays blind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from memories.models import Memory, Session, SessionCandidate
from predictor.models import Comparison, Judgement, Label, Training
from predictor.services.calibration.calibrate import waiting_items

WITHHELD_ERASED = "erased"
WITHHELD_FORGOTTEN = "forgotten"
WITHHELD_CALIBRATION = "calibration"


@dataclass(frozen=True, slots=True)
class InspectedMemory:
    """One memory in a session with its candidate row, judgement and label.

    `content` is None when it may not be recalled now; `is_blind` is whether relevance and label are
    withheld. `candidate` is None when the memory was judged but its candidate row is gone.
    """

    memory: Memory
    content: str | None
    candidate: SessionCandidate | None
    label: Label | None
    relevance: float | None
    is_blind: bool


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """All records of one session; `withheld` is why the judge's words are not shown, or empty."""

    session: Session
    judgement: Judgement | None
    comparison: Comparison | None
    before: Comparison | None
    memories: Mapping[UUID, InspectedMemory]
    trainings: Sequence[Training]
    is_canary: bool
    withheld: str

    def of(self, ids: Sequence[UUID]) -> list[InspectedMemory]:
        """Return the memories of a ranking, in its order."""
        return [self.memories[i] for i in ids if i in self.memories]


def record_of(session_key: str, *, now: datetime) -> SessionRecord | None:
    """Return the records of a session by its key; called inside the workspace."""
    return _record(_sessions().filter(session_key=session_key).first(), now)


def record_of_comparison(comparison_id: UUID, *, now: datetime) -> SessionRecord | None:
    """Return the records of a comparison's session; called inside the workspace."""
    return _record(_sessions().filter(comparison=comparison_id).first(), now)


def _sessions() -> QuerySet[Session]:
    return Session.objects.select_related("judgement", "comparison", "canary").defer(
        "transcript", "context_embedding"
    )


def _record(session: Session | None, now: datetime) -> SessionRecord | None:
    """Gather; the same number of queries however many memories there are."""
    if session is None:
        return None
    judgement: Judgement | None = getattr(session, "judgement", None)
    comparison: Comparison | None = getattr(session, "comparison", None)
    candidates = {row.memory_id: row for row in session.candidates.order_by("rank", "pk")}
    labels = {label.memory_id: label for label in Label.objects.filter(session=session)}
    judged = judgement.memory_ids if judgement is not None else []
    ids = list(dict.fromkeys([*candidates, *judged]))
    memories = Memory.objects.in_bulk(ids)
    shown = set(Memory.objects.recallable(now).filter(pk__in=ids).values_list("pk", flat=True))
    waiting = waiting_items(now).filter(session=session)
    blind = set(waiting.values_list("memory_id", flat=True))
    relevance = _relevance(comparison)
    return SessionRecord(
        session=session,
        judgement=judgement,
        comparison=comparison,
        before=_before(comparison),
        memories={
            i: _inspect(
                memories[i],
                candidates.get(i),
                labels.get(i),
                relevance,
                is_shown=i in shown,
                is_blind=i in blind,
            )
            for i in ids
            if i in memories
        },
        trainings=list(
            Training.objects.filter(trained_session_ids__contains=[session.pk]).defer(
                "trained_session_ids"
            )
        ),
        is_canary=getattr(session, "canary", None) is not None,
        withheld=_why_withheld([memories.get(i) for i in ids], blind),
    )


def _inspect(
    memory: Memory,
    candidate: SessionCandidate | None,
    label: Label | None,
    relevance: Mapping[UUID, float],
    *,
    is_shown: bool,
    is_blind: bool,
) -> InspectedMemory:
    judged = relevance.get(memory.pk) if label is None else label.relevance
    return InspectedMemory(
        memory=memory,
        content=memory.content if is_shown else None,
        candidate=candidate,
        label=None if is_blind else label,
        relevance=None if is_blind else judged,
        is_blind=is_blind,
    )


def _relevance(comparison: Comparison | None) -> dict[UUID, float]:
    return {UUID(i): value for i, value in (comparison.relevance if comparison else {}).items()}


def _before(comparison: Comparison | None) -> Comparison | None:
    """Return the previous comparison, whose evidence is the state before this one."""
    if comparison is None:
        return None
    earlier = Comparison.objects.filter(created_at__lt=comparison.created_at)
    return earlier.order_by("-created_at", "-id").first()


def _why_withheld(memories: Collection[Memory | None], blind: Collection[UUID]) -> str:
    """Return why the judge's topics and reasoning, which may quote memories, are not shown.

    None in `memories` is an erased memory.
    """
    if None in memories:
        return WITHHELD_ERASED
    if any(memory is not None and memory.forgotten_at is not None for memory in memories):
        return WITHHELD_FORGOTTEN
    return WITHHELD_CALIBRATION if blind else ""
