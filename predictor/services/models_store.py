"""Model versions and their weights in the database: read, added, let go, brought in and out."""

from __future__ import annotations

import hashlib
from datetime import datetime

from django.db.models import Max, Q

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError
from engram.kernel.tenancy import in_workspace
from memories.models import MemoryVector
from predictor.core.checkpoint import CheckpointError
from predictor.core.scorer import Scorer
from predictor.core.types import FEATURE_VERSION
from predictor.models import ModelVersion, PredictorState
from predictor.services.state import governor_of, locked_state, state_of, store_governor

TRAINED, IMPORTED, BASE = "trained", "imported", "base"
KEPT = 5  # promoted versions whose weights are kept


def fitting(number: int | None, model: str) -> tuple[ModelVersion, Scorer] | None:
    """Return a version and its model; None when it cannot be used with vectors of `model`.

    It is gone, corrupt, made for other features or for the vectors of another embedding model: all
    of that is a cold start, not an error.
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
    bases = ModelVersion.objects.filter(origin=BASE, embedding_model=model)
    number = bases.exclude(checkpoint=None).values_list("number", flat=True).first()
    return fitting(number, model)


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
    store_governor(state, governor.trained() if is_compared else governor.replaced(), now)
    promoted = ModelVersion.objects.exclude(promoted_at=None).order_by("-number")
    kept = list(promoted.values_list("number", flat=True)[:KEPT])
    is_old = ~Q(origin=BASE) & ~Q(number__in=kept)
    let_go(is_old | Q(erased_at__isnull=False), served=version.number)


def let_go(which: Q, *, served: int | None) -> None:
    """Drop the weights of versions; the one that is served keeps its own."""
    found = ModelVersion.objects.filter(which, checkpoint__isnull=False)
    found.exclude(number=served or 0).update(checkpoint=None)


def exported(workspace: Workspace, number: int | None = None) -> tuple[ModelVersion, bytes]:
    """Return a version (the served one by default) and its weights.

    Raises
    ------
    MissingError
        When there is no such version, or its weights are gone, are corrupt or may hold what was
        erased.
    """
    with in_workspace(workspace):
        number = state_of().served if number is None else number
        if number is None:
            raise MissingError(_why_none_serves())
        version = ModelVersion.objects.filter(number=number).first()
        if version is None:
            raise MissingError(f"There is no model_v{number}.")
        if version.erased_at is not None:
            raise MissingError(f"{version} may hold what was erased: it cannot be exported.")
        try:
            return version, intact_bytes(version)
        except CheckpointError as error:
            raise MissingError(f"It cannot be exported: {error}.") from None


def _why_none_serves() -> str:
    kept = ModelVersion.objects.exclude(checkpoint=None).order_by("-number")
    numbers = ", ".join(str(number) for number in kept.values_list("number", flat=True))
    if not numbers:
        return "No model is served, and none is kept."
    return f"No model is served. Name one that is kept with --number: {numbers}."


def import_checkpoint(
    workspace: Workspace,
    raw: bytes,
    *,
    is_base: bool = False,
    is_learned_here: bool = True,
    actor: Actor,
    now: datetime,
) -> ModelVersion:
    """Store a checkpoint, and serve it from the next session on; base weights only begin trainings.

    A model that serves has to earn its influence from nothing. Nothing is changed when the bytes
    are no checkpoint, one for vectors of another width, or weights that an erasing took away.
    `is_learned_here` is False when the caller vouches that they were learned elsewhere, so that
    nothing that is erased here is in them.

    Raises
    ------
    InvalidError
        Saying what is wrong with the bytes.
    """
    try:
        scorer = Scorer.from_bytes(raw)
    except CheckpointError as error:
        raise InvalidError("file", f"This is no usable checkpoint: {error}.") from None
    if not scorer.is_trained:
        raise InvalidError("file", "This model has learned nothing yet.")
    scorer = scorer.as_base() if is_base else scorer
    with in_workspace(workspace):
        _demand_width(scorer, workspace.embedding_model)
        state = locked_state(now)
        _demand_unerased(raw, is_learned_here=is_learned_here)
        origin = BASE if is_base else IMPORTED
        version = add(
            state,
            scorer,
            origin=origin,
            model=workspace.embedding_model,
            now=now,
            is_learned_here=is_learned_here,
        )
        if is_base:
            state.updated_at = now
            state.save(update_fields=["last_version", "updated_at"])
        else:
            serve(state, version, now, is_compared=False)
        record(
            "predictor.imported",
            of=("predictor", workspace.pk),
            actor=actor,
            now=now,
            data={"version": version.number, "origin": origin, "sha256": version.sha256},
        )
    return version


def _demand_unerased(raw: bytes, *, is_learned_here: bool) -> None:
    same = ModelVersion.objects.filter(sha256=hashlib.sha256(raw).hexdigest())
    gone = same.exclude(erased_at=None)
    if not is_learned_here:  # what was learned in this workspace is known to be
        gone = gone.filter(origin=TRAINED)
    if (version := gone.first()) is not None:
        raise InvalidError("file", f"It is {version}, which may hold something erased since.")


def _demand_width(scorer: Scorer, model: str) -> None:
    vectors = MemoryVector.objects.filter(model=model).values_list("embedding", flat=True)
    width = len(next(iter(vectors[:1]), ()))
    if width and width != scorer.embedding_width:
        said = f"It reads vectors of width {scorer.embedding_width}, those of {model} have {width}."
        raise InvalidError("file", said)
