"""Load training data: judged sessions with their labels and the features of their start.

A memory is represented by its current vector if its text is unchanged since it was offered. If it
was reworded, or has no vector of the workspace's model, the words of its former text are used, and
the signal `is_embedded` is 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet
from numpy.typing import NDArray

from engram.kernel.middleware import zone_of
from engram.kernel.models import Workspace
from engram.kernel.planning import without_nested_loops
from memories.core.baseline import BaselineScore, score_for_context
from memories.models import Memory, MemoryVector, Revision, Session, SessionCandidate
from predictor.core.features import clock_of, clock_signals, token_buckets
from predictor.core.labels import MIN_CONFIDENCE
from predictor.core.types import CLOCK_COLUMNS, SIGNALS, LabelledSession
from predictor.models import Judgement, JudgeStatus, Label
from predictor.services.session_features import candidates_of, context_of

SESSIONS_MAX = 500  # the newest; trained in a few seconds
MEMORIES_MAX = 4_000  # the newest; for the mean and the principal directions
_IS_EMBEDDED = SIGNALS.index("is_embedded")


@dataclass(frozen=True, slots=True)
class JudgedSession:
    """A session that may be learned from, or measured on.

    `relevance` (n,) is the judge's own word on the candidates, NaN where it had none.
    """

    id: UUID
    started_at: datetime
    overall: float
    memory_ids: tuple[UUID, ...]
    learned: LabelledSession
    relevance: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Judged sessions, oldest first, and how wide the vectors are that they are read with."""

    sessions: Sequence[JudgedSession]
    width: int
    skipped: int  # sessions of which nothing could be read


@dataclass(frozen=True, slots=True)
class KnownMemories:
    """The memories that may be recalled now: vectors (n, width) and the words of each."""

    embeddings: NDArray[np.float32]
    words: Sequence[NDArray[np.int64]]


class _Offer(NamedTuple):
    """One labelled candidate with the features it was offered with."""

    session_id: UUID
    memory_id: UUID
    revision: int
    signals: list[float]
    baseline_score: float
    effectiveness: float | None
    cosine: float | None
    was_injected: bool
    label: float
    relevance: float | None
    chance: float | None


@dataclass(frozen=True, slots=True)
class _Memories:
    """Texts of the offered memories, and their vectors (width,) of the workspace's model."""

    width: int
    present: dict[UUID, tuple[int, str]]  # revision and wording
    former: dict[tuple[UUID, int], str]
    vectors: dict[UUID, NDArray[np.float32]]

    def wording(self, offer: _Offer) -> str | None:
        """Return the memory's text when it was offered; None when it is not kept."""
        revision, wording = self.present.get(offer.memory_id, (None, None))
        if revision == offer.revision:
            return wording
        return self.former.get((offer.memory_id, offer.revision))

    def vector(self, offer: _Offer) -> NDArray[np.float32] | None:
        """Return the memory's vector if its text is unchanged since it was offered."""
        _revision, wording = self.present[offer.memory_id]
        return self.vectors.get(offer.memory_id) if wording == self.wording(offer) else None


def gather(
    workspace: Workspace,
    *,
    limit: int = SESSIONS_MAX,
    min_confidence: float = MIN_CONFIDENCE,
) -> Dataset:
    """Load the newest usable judged sessions; called inside the workspace.

    The number of queries is constant.
    """
    usable = (
        usable_judgements(min_confidence)
        .select_related("session")
        .defer("raw", "missing_topics", "session__transcript", "session__context")
    )
    judgements = list(usable[:limit])[::-1]
    offers = _offers([judgement.session_id for judgement in judgements])
    memories = _memories({offer.memory_id for offer in offers}, workspace.embedding_model)
    by_session: dict[UUID, list[_Offer]] = defaultdict(list)
    for offer in offers:
        if memories.wording(offer) is not None:
            by_session[offer.session_id].append(offer)
    sessions = [
        _session(judgement, by_session[judgement.session_id], memories, workspace)
        for judgement in judgements
        if by_session[judgement.session_id] and memories.width
    ]
    return Dataset(sessions, memories.width, len(judgements) - len(sessions))


def usable_judgements(min_confidence: float = MIN_CONFIDENCE) -> QuerySet[Judgement]:
    """Return the judgements that sessions can be trained on, newest sessions first."""
    return Judgement.objects.filter(
        status=JudgeStatus.DONE, void_reason="", is_flat=False, confidence__gte=min_confidence
    ).order_by("-session__started_at", "-session_id")


def known_memories(workspace: Workspace, *, width: int, now: datetime) -> KnownMemories:
    """Return the recallable memories, the newest first; called inside the workspace."""
    rows = list(
        MemoryVector.objects.filter(
            memory__in=Memory.objects.recallable(now),
            model=workspace.embedding_model,
            position=0,
        )
        .order_by("-memory__created_at", "-memory_id")
        .values_list("embedding", "memory__content")[:MEMORIES_MAX]
    )
    kept = [(vector, content) for vector, content in rows if len(vector) == width]
    embeddings = np.zeros((len(kept), width), dtype=np.float32)
    for row, (vector, _content) in enumerate(kept):
        embeddings[row] = vector
    return KnownMemories(embeddings, [token_buckets(content) for _vector, content in kept])


def _offers(session_ids: Collection[UUID]) -> list[_Offer]:
    """Return the labelled candidates of sessions, each session's in the order of its ranks."""
    kept = Label.objects.filter(session__in=session_ids, is_sampled=True, final__isnull=False)
    values = kept.values_list("session_id", "memory_id", "final", "relevance", "chance")
    labels = {(session, memory): told for session, memory, *told in values}
    # What a prompt alone brought up was no candidate: there is no account of it.
    candidates = SessionCandidate.objects.filter(
        Exists(kept.filter(session=OuterRef("session"), memory=OuterRef("memory"))),
        session__in=session_ids,
        baseline_score__isnull=False,
        signals__len=len(SIGNALS),
    ).order_by("session", "rank", "pk")
    rows = candidates.values_list(
        "session_id",
        "memory_id",
        "revision",
        "signals",
        "baseline_score",
        "effectiveness",
        "cosine",
        "was_injected",
    )
    # Nested loops, chosen on statistics from before a large import, took over 20 s.
    with without_nested_loops():
        return [_Offer(*row, *labels[row[0], row[1]]) for row in rows]  # type: ignore[arg-type]


def _memories(ids: Collection[UUID], model: str) -> _Memories:
    """Load the memories in any state: hidden ones keep their labels."""
    rows = Memory.objects.filter(pk__in=ids).values_list("pk", "revision", "content")
    vectors = MemoryVector.objects.filter(memory__in=ids, model=model, position=0)
    former = Revision.objects.filter(memory__in=ids).values_list("memory_id", "number", "content")
    found = {
        memory_id: np.asarray(vector, dtype=np.float32)
        for memory_id, vector in vectors.values_list("memory_id", "embedding")
    }
    any_vector = MemoryVector.objects.filter(model=model).values_list("embedding", flat=True)
    width = len(next(iter(any_vector[:1]), ()))
    return _Memories(
        width,
        {pk: (revision, content) for pk, revision, content in rows},
        {(memory_id, number): content for memory_id, number, content in former},
        {memory_id: vector for memory_id, vector in found.items() if len(vector) == width},
    )


def _session(
    judgement: Judgement, offers: Sequence[_Offer], memories: _Memories, workspace: Workspace
) -> JudgedSession:
    """Return a judged session, with its clock in the time zone that the workspace has now."""
    session, zone = judgement.session, zone_of(workspace)
    vectors = [memories.vector(offer) for offer in offers]
    scores = [_scored(offer, has_context=session.context_embedding is not None) for offer in offers]
    signals = np.array([offer.signals for offer in offers], dtype=np.float64)
    signals[:, _IS_EMBEDDED] = [vector is not None for vector in vectors]
    signals[:, CLOCK_COLUMNS] = clock_signals(*clock_of(session.started_at, zone))
    return JudgedSession(
        id=session.pk,
        started_at=session.started_at,
        overall=judgement.overall or 0.0,
        memory_ids=tuple(offer.memory_id for offer in offers),
        learned=LabelledSession(
            context=context_of(
                embedding=_context_vector(session, workspace.embedding_model, memories.width),
                project=session.project,
                at=session.started_at,
                zone=zone,
                gap_hours=session.gap_hours,
            ),
            candidates=candidates_of(
                vectors=vectors,
                contents=[memories.wording(offer) or "" for offer in offers],
                signal_rows=signals,
                effectiveness=[score.effectiveness for score in scores],
                baseline_scores=[score.total for score in scores],
                width=memories.width,
                is_injected=[offer.was_injected for offer in offers],
            ),
            labels=np.array([offer.label for offer in offers], dtype=np.float64),
            confidence=judgement.confidence or 0.0,
            weights=np.array([1.0 / (offer.chance or 1.0) for offer in offers]),
        ),
        relevance=np.array(
            [np.nan if offer.relevance is None else offer.relevance for offer in offers]
        ),
    )


def _scored(offer: _Offer, *, has_context: bool) -> BaselineScore:
    """Return the baseline's score of an offer.

    In a session of an earlier release, whose baseline was the effectiveness, the cosine stands for
    recall.
    """
    if offer.effectiveness is not None:
        return BaselineScore(offer.baseline_score, None, offer.effectiveness)
    recall = max(0.0, offer.cosine or 0.0) if has_context else None
    return score_for_context(recall, offer.baseline_score)


def _context_vector(session: Session, model: str, width: int) -> NDArray[np.float32] | None:
    """Return the context's vector, if it was made by the model that is compared now."""
    vector = session.context_embedding
    if vector is None or session.embedding_model != model or len(vector) != width:
        return None
    return np.asarray(vector, dtype=np.float32)
