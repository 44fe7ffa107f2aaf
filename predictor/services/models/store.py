"""Model versions and their weights in the database: read, added, served, let go."""

from __future__ import annotations

import hashlib
from datetime import datetime

from django.db.models import BinaryField, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Substr

from predictor.core.checkpoint import (
    HEAD_BYTES,
    OWN_BEGINNING,
    CheckpointError,
    is_of_another_release,
)
from predictor.core.scorer import Scorer
from predictor.core.types import FEATURE_VERSION
from predictor.models import ModelVersion, PredictorState
from predictor.services.state import governor_of, store_governor

TRAINED, IMPORTED, BASE = "trained", "imported", "base"
KEPT = 5  # promoted versions whose weights are kept


def fitting(number: int | None, model: str) -> tuple[ModelVersion, Scorer] | None:
    """Return a version and its model; None when it cannot be used with vectors of `model`.

    It is gone, corrupt, of another release or made for the vectors of another embedding model: none
    of that is an error.
    """
    if number is None:
        return None
    version = ModelVersion.objects.filter(number=number, embedding_model=model).first()
    if version is None or version.feature_version != FEATURE_VERSION:
        return None
    try:
        return version, Scorer.from_bytes(intact_bytes(version))
    except CheckpointError:
        return None


def is_readable(version: ModelVersion) -> bool:
    """Tell whether this release reads a version's features and format; one query."""
    if version.feature_version != FEATURE_VERSION:
        return False
    head = Substr("checkpoint", 1, HEAD_BYTES, output_field=BinaryField())
    stored = ModelVersion.objects.filter(pk=version.pk)
    return not is_of_another_release(bytes(stored.values_list(head, flat=True).get() or b""))


def likely_readable(model: OuterRef | str) -> QuerySet[ModelVersion]:
    """Return the versions for the vectors of `model` that look like this release's own.

    Weights that begin otherwise are of another release, or damaged: `is_readable` tells which.
    """
    beginning = Substr("checkpoint", 1, len(OWN_BEGINNING), output_field=BinaryField())
    return ModelVersion.objects.annotate(beginning=beginning).filter(
        Q(checkpoint=None) | Q(beginning=OWN_BEGINNING),
        feature_version=FEATURE_VERSION,
        embedding_model=model,
    )


def intact_bytes(version: ModelVersion) -> bytes:
    """Return a version's weights as they were stored.

    Raises
    ------
    CheckpointError
        When they are gone, or are not what was stored.
    """
    if version.checkpoint is None:
        why = "" if version.erased_at is None else ": they may have held what was erased"
        raise CheckpointError(f"the weights of {version} are gone{why}")
    raw = bytes(version.checkpoint)
    if hashlib.sha256(raw).hexdigest() != version.sha256:
        raise CheckpointError(f"the weights of {version} are not those that were stored")
    return raw


def base_of(model: str) -> tuple[ModelVersion, Scorer] | None:
    """Return the base weights that models for vectors of `model` start from, if there are any."""
    base = _newest_base(model)
    return None if base is None else fitting(base.number, model)


def unread_base(model: str) -> str:
    """Say that trainings leave the base weights out, where another release wrote them; else ""."""
    base = _newest_base(model)
    if base is None or is_readable(base):
        return ""
    return f"The base weights {base} are of another release: trainings begin without them."


def _newest_base(model: str) -> ModelVersion | None:
    bases = ModelVersion.objects.filter(origin=BASE, embedding_model=model)
    return bases.exclude(checkpoint=None).defer("checkpoint").first()


def add(
    state: PredictorState,
    scorer: Scorer,
    *,
    origin: str,
    model: str,
    now: datetime,
    is_learned_here: bool = True,
) -> ModelVersion:
    """Store a model under the next number; the caller holds the state's lock and saves it."""
    raw = scorer.to_bytes()
    stored = ModelVersion.objects.aggregate(last=Max("number"))["last"] or 0
    state.last_version = max(state.last_version, stored) + 1
    return ModelVersion.objects.create(
        number=state.last_version,
        origin=origin,
        checkpoint=raw,
        sha256=hashlib.sha256(raw).hexdigest(),
        embedding_model=model,
        feature_version=FEATURE_VERSION,
        parameter_count=scorer.parameter_count,
        created_at=now,
        is_learned_here=is_learned_here,
    )


def serve(
    state: PredictorState, version: ModelVersion, now: datetime, *, is_compared: bool
) -> None:
    """Let a version serve from the next session on; the caller holds the state's lock.

    Influence that was earned stays only where the version was compared with the one that earned
    it. Old weights are let go, but for those of the last five and the base; of these, too, what may
    hold something that was erased.
    """
    governor = governor_of(state)
    version.promoted_at = now
    version.save(update_fields=["promoted_at"])
    state.served = version.number
    if not is_compared:  # sessions that another ranked may still be settled: no evidence for it
        state.last_dropped = version.number - 1
    store_governor(
        state, governor.after_training() if is_compared else governor.after_replacement(), now
    )
    promoted = ModelVersion.objects.exclude(promoted_at=None).order_by("-number")
    kept = list(promoted.values_list("number", flat=True)[:KEPT])
    is_old = ~Q(origin=BASE) & ~Q(number__in=kept)
    let_go(is_old | Q(erased_at__isnull=False), served=version.number)


def let_go(which: Q, *, served: int | None) -> None:
    """Drop the weights of versions; the one that is served keeps its own."""
    found = ModelVersion.objects.filter(which, checkpoint__isnull=False)
    found.exclude(number=served or 0).update(checkpoint=None)
