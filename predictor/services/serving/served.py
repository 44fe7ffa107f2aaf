"""The models that this process holds in memory: the promoted version of each workspace it serves.

Which version is served stands in the workspace's state and is read for every session, so that a
promotion by a worker is seen by the next session of every process. A version never changes, so
that what is held of it is never out of date.

The first session of a version in a process reads it within the time that is left for scoring: in
its own transaction, which sees what it wrote itself, then decoded in a thread. What is late goes on
behind it, so that a session soon after finds the version in memory.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from uuid import UUID

from django.db import OperationalError, connection
from psycopg.errors import QueryCanceled

from engram.kernel.binary import binary_cursor
from engram.kernel.planning import no_longer_than
from engram.kernel.tenancy import current_workspace_id, in_workspace
from predictor.core.checkpoint import CheckpointError, is_of_another_release
from predictor.core.scorer import Scorer
from predictor.core.types import FEATURE_VERSION
from predictor.models import ModelVersion
from predictor.services.models.store import intact_bytes
from predictor.services.serving.deadline import Deadline, TooSlowError

HELD = 16  # about 4.4 MB each
LOADING_AT_ONCE = 2
BEHIND_SECONDS = 30.0

# In the order of the model's fields. Weights come as bytes: in text they are twice as long.
_FIELDS = (
    "id",
    "workspace_id",
    "number",
    "checkpoint",
    "sha256",
    "embedding_model",
    "feature_version",
    "erased_at",
)
_READ = (
    f"SELECT {', '.join(_FIELDS)} FROM predictor_modelversion"  # noqa: S608  names only
    " WHERE workspace_id = %s AND number = %s"
)

log = logging.getLogger(__name__)


class LoadingError(Exception):
    """A version is not in memory in time."""

    def __init__(self, number: int):
        super().__init__(f"model_v{number}")
        self.number = number


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A version in memory; `scorer` is None when it has features or a format of another release."""

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

    def let_go(self, workspace_id: UUID, *, served: int | None) -> None:
        """Let go of what the workspace serves no more: all versions before that one, or all."""
        with self._lock:
            for key in [key for key in self._models if key[0] == workspace_id]:
                if served is None or key[1] < served:
                    del self._models[key]


held = ModelCache()
_loading: Deadline[ServedModel] = Deadline(LOADING_AT_ONCE, name="loading")


def load(number: int, seconds: float) -> ServedModel:
    """Return a version of the current workspace, from memory or in time from the database.

    Raises
    ------
    CheckpointError
        When it is gone, or not what was stored.
    LoadingError
        When it takes longer.
    """
    workspace_id = current_workspace_id()
    if (model := held.get(workspace_id, number)) is not None:
        return model
    ends = perf_counter() + seconds
    try:
        version = _read(number, ends)
        return _loading.run(lambda: _decode(workspace_id, version), ends - perf_counter())
    except TooSlowError:
        raise LoadingError(number) from None


def load_behind(workspace_id: UUID, number: int) -> None:
    """Go on with what was late, in a thread that nobody waits for; not when enough others do."""
    if held.get(workspace_id, number) is None:
        _loading.begin(lambda: _load_alone(workspace_id, number))


def _load_alone(workspace_id: UUID, number: int) -> None:
    try:
        with in_workspace(workspace_id):
            version = _read(number, perf_counter() + BEHIND_SECONDS)
        _decode(workspace_id, version)
    except Exception as error:  # noqa: BLE001  the next session tries again, and counts it
        log.warning("model_v%d was not loaded: %s", number, type(error).__name__)
    finally:
        connection.close()


def _read(number: int, ends: float) -> ModelVersion:
    """Read a version by one statement, which has all the time that is left."""
    workspace_id = current_workspace_id()
    try:
        with in_workspace(workspace_id):
            if (left := ends - perf_counter()) <= 0:
                raise TooSlowError
            with no_longer_than(left), binary_cursor() as cursor:
                cursor.execute(_READ, [workspace_id, number])
                row = cursor.fetchone()
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooSlowError from None
        raise
    if row is None:
        raise CheckpointError(f"there is no model_v{number}")
    return ModelVersion.from_db(connection.alias, _FIELDS, row)


def _decode(workspace_id: UUID, version: ModelVersion) -> ServedModel:
    """Decode a version and hold it, unless another session did while this one waited."""
    if (model := held.get(workspace_id, version.number)) is None:
        model = _model_of(version)
        held.put(workspace_id, model)
    return model


def _model_of(version: ModelVersion) -> ServedModel:
    if version.feature_version != FEATURE_VERSION:
        return ServedModel(version.number, version.embedding_model, 0, None)
    raw = intact_bytes(version)
    if is_of_another_release(raw):
        return ServedModel(version.number, version.embedding_model, 0, None)
    scorer = Scorer.from_bytes(raw)
    return ServedModel(version.number, version.embedding_model, scorer.embedding_width, scorer)
