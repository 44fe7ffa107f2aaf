"""Model versions and their weights in the database: read, add, serve, drop."""

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


def load_usable(number: int | None, model: str) -> tuple[ModelVersion, Scorer] | None:
    """Return a version and its model; None when it cannot be used with vectors of `model`.

    That is no error: it may be dropped, corrupt, of another release or of another embedding model.
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
    """Return whether this release reads a version's features and format, by one query."""
    if version.feature_version != FEATURE_VERSION:
        return False
    head = Substr("checkpoint", 1, HEAD_BYTES, output_field=BinaryField())
    stored = ModelVersion.objects.filter(pk=version.pk)
    return not is_of_another_release(bytes(stored.values_list(head, flat=True).get() or b""))


def likely_readable(model: OuterRef | str) -> QuerySet[ModelVersion]:
    """Return the versions for the vectors of `model` that look like this release's own.

    Weights that begin otherwise are of another release, or damaged; `is_readable` decides.
    """
    beginning = Substr("checkpoint", 1, len(OWN_BEGINNING), output_field=BinaryField())
    return ModelVersion.objects.annotate(beginning=beginning).filter(
        Q(checkpoint=None) | Q(beginning=OWN_BEGINNING),
        feature_version=FEATURE_VERSION,
        embedding_model=model,
    )


def intact_bytes(version: ModelVersion) -> bytes:
    """Return a version's weights, verified by their checksum.

    Raises
    ------
    CheckpointError
        When they were dropped, or the checksum differs.
    """
    if version.checkpoint is None:
        why = "" if version.erased_at is None else ": they may have held what was erased"
        raise CheckpointError(f"the weights of {version} are gone{why}")
    raw = bytes(version.checkpoint)
    if hashlib.sha256(raw).hexdigest() != version.sha256:
        raise CheckpointError(f"the weights of {version} are not those that were stored")
    return raw


def base_of(model: str) -> tuple[ModelVersion, Scorer] | None:
    """Return the newest usable base weights for vectors of `model`; None without any."""
    base = _newest_base(model)
    return None if base is None else load_usable(base.number, model)


def describe_unreadable_base(model: str) -> str:
    """Return a note when another release wrote the base weights, so they are unused; else ""."""
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
    """Serve a version from the next session on; the caller holds the state's lock.

    Influence is kept only when the version was compared with the served one. Weights are dropped
    except those of the last `KEPT` promoted versions and base weights; weights that may hold
    something erased are always dropped.
    """
    governor = governor_of(state)
    version.promoted_at = now
    version.save(update_fields=["promoted_at"])
    state.served = version.number
    if not is_compared:  # sessions ranked by another model are no evidence for this one
        state.last_dropped = version.number - 1
    store_governor(
        state, governor.after_training() if is_compared else governor.after_replacement(), now
    )
    promoted = ModelVersion.objects.exclude(promoted_at=None).order_by("-number")
    kept = list(promoted.values_list("number", flat=True)[:KEPT])
    is_old = ~Q(origin=BASE) & ~Q(number__in=kept)
    drop_weights(is_old | Q(erased_at__isnull=False), served=version.number)


def drop_weights(which: Q, *, served: int | None) -> None:
    """Drop the weights of the selected versions, except the served one."""
    found = ModelVersion.objects.filter(which, checkpoint__isnull=False)
    found.exclude(number=served or 0).update(checkpoint=None)
