"""The models that this process holds in memory: the promoted version of each workspace it serves.

Which version is served stands in the workspace's state and is read for every session, so that a
promotion by a worker is seen by the next session of every process. A version never changes, so
that what is held of it is never out of date.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

from engram.kernel.tenancy import current_workspace_id
from predictor.core.checkpoint import CheckpointError
from predictor.core.scorer import Scorer
from predictor.core.types import FEATURE_VERSION
from predictor.models import ModelVersion
from predictor.services.models_store import intact_bytes

HELD = 16  # about 4.4 MB each


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A version in memory; `scorer` is None when this release reads its features otherwise."""

    number: int
    embedding_model: str
    width: int
    scorer: Scorer | None


class ModelCache:
    """The versions used last, by workspace and number."""

    def __init__(self, size: int = HELD):
        self._size = size
        self._models: OrderedDict[tuple[UUID, int], ServedModel] = OrderedDict()
        self._lock = Lock()

    def get(self, workspace_id: UUID, number: int) -> ServedModel | None:
        """Return a version that is held."""
        with self._lock:
            model = self._models.get((workspace_id, number))
            if model is not None:
                self._models.move_to_end((workspace_id, number))
            return model

    def put(self, workspace_id: UUID, model: ServedModel) -> None:
        """Hold a version, and let go of the one unused for longest."""
        with self._lock:
            self._models[workspace_id, model.number] = model
            self._models.move_to_end((workspace_id, model.number))
            while len(self._models) > self._size:
                self._models.popitem(last=False)


held = ModelCache()


def load(number: int) -> ServedModel:
    """Return a version of the current workspace, from memory or from the database.

    Raises
    ------
    CheckpointError
        When it is gone, or not what was stored.
    """
    workspace_id = current_workspace_id()
    model = held.get(workspace_id, number)
    if model is None:
        model = _read(number)
        held.put(workspace_id, model)
    return model


def _read(number: int) -> ServedModel:
    version = ModelVersion.objects.filter(number=number).first()
    if version is None:
        raise CheckpointError(f"there is no model_v{number}")
    if version.feature_version != FEATURE_VERSION:
        return ServedModel(number, version.embedding_model, 0, None)
    scorer = Scorer.from_bytes(intact_bytes(version))
    return ServedModel(number, version.embedding_model, scorer.embedding_width, scorer)
