"""Export and import models; an import that fails changes nothing."""

from __future__ import annotations

import hashlib
from datetime import datetime

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError
from engram.kernel.tenancy import in_workspace
from memories.models import MemoryVector
from predictor.core import checkpoint
from predictor.core.checkpoint import CheckpointError
from predictor.core.scorer import Scorer
from predictor.models import ModelVersion
from predictor.services.models.store import BASE, IMPORTED, TRAINED, add, intact_bytes, serve
from predictor.services.state import lock_state, state_of


def export_checkpoint(
    workspace: Workspace, number: int | None = None
) -> tuple[ModelVersion, bytes]:
    """Return a version (the served one by default) and its weights.

    Raises
    ------
    MissingError
        When there is no such version, or its weights were dropped, are corrupt or may hold
        something erased.
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
    """Store a checkpoint and serve it from the next session on, or use it as base of trainings.

    An imported model starts without influence. `is_learned_here` is False when the caller declares
    that it was trained elsewhere, so that it contains nothing of this workspace.

    Raises
    ------
    InvalidError
        When the bytes are no checkpoint, are for vectors of another width, or are weights that were
        dropped because of an erasure; nothing is changed.
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
        state = lock_state(now)
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
    """Refuse weights that were dropped because of an erasure, whatever their flags."""
    digests = [hashlib.sha256(one).hexdigest() for one in checkpoint.under_any_flags(raw)]
    gone = ModelVersion.objects.filter(sha256__in=digests).exclude(erased_at=None)
    if not is_learned_here:  # versions that were trained here are still refused
        gone = gone.filter(origin=TRAINED)
    if (version := gone.first()) is not None:
        raise InvalidError("file", f"It is {version}, which may hold something erased since.")


def _demand_width(scorer: Scorer, model: str) -> None:
    vectors = MemoryVector.objects.filter(model=model).values_list("embedding", flat=True)
    width = len(next(iter(vectors[:1]), ()))
    if width and width != scorer.embedding_width:
        raise InvalidError(
            "file",
            f"It reads vectors of width {scorer.embedding_width}, those of {model} have {width}.",
        )
