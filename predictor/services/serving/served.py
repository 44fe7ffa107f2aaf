"""Cache of served models: the promoted version of each workspace that this process serves.

The number of the served version is read from the state for every session, so that a promotion is
seen by the next session of every process. A version never changes, so cached ones are never stale.

The first session of a version in a process loads it within the time left for scoring: it reads the
row in its own transaction and decodes it in a thread. A load that is late continues in the
background, so that a later session finds the version in the cache.
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
from engram.kernel.planning import statement_timeout
from engram.kernel.tenancy import current_workspace_id, in_workspace
from predictor.core.checkpoint import CheckpointError, is_of_another_release
from predictor.core.scorer import Scorer
from predictor.core.types import FEATURE_VERSION
from predictor.models import ModelVersion
from predictor.services.models.store import intact_bytes
from predictor.services.serving.deadline import Deadline, TooSlowError

CACHE_SIZE = 16  # about 4.4 MB each
LOADING_AT_ONCE = 2
BACKGROUND_SECONDS = 30.0

# In the order of the model's fields. Read by a binary cursor: weights as text are twice as long.
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
    """Raised when a version was not loaded in time."""

    def __init__(self, number: int):
        super().__init__(f"model_v{number}")
        self.number = number


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A loaded version; `scorer` is None for features or a format of another release."""

    number: int
    embedding_model: str
    width: int
    scorer: Scorer | None


class ModelCache:
    """Least-recently-used cache of versions by workspace and number."""

    def __init__(self, size: int = CACHE_SIZE):
        self._size = size
        self._models: OrderedDict[tuple[UUID, int], ServedModel] = OrderedDict()
        self._lock = Lock()

    def get(self, workspace_id: UUID, number: int) -> ServedModel | None:
        """Return a cached version, or None."""
        with self._lock:
            model = self._models.get((workspace_id, number))
            if model is not None:
                self._models.move_to_end((workspace_id, number))
            return model

    def put(self, workspace_id: UUID, model: ServedModel) -> None:
        """Add a version; evict the least recently used beyond the size."""
        with self._lock:
            self._models[workspace_id, model.number] = model
            self._models.move_to_end((workspace_id, model.number))
            while len(self._models) > self._size:
                self._models.popitem(last=False)

    def evict(self, workspace_id: UUID, *, served: int | None) -> None:
        """Evict the workspace's versions older than `served`, or all of them."""
        with self._lock:
            for key in [key for key in self._models if key[0] == workspace_id]:
                if served is None or key[1] < served:
                    del self._models[key]


cache = ModelCache()
_loading: Deadline[ServedModel] = Deadline(LOADING_AT_ONCE, name="loading")


def load(number: int, seconds: float) -> ServedModel:
    """Return a version of the current workspace, from the cache or the database.

    Raises
    ------
    CheckpointError
        When it is missing or corrupt.
    LoadingError
        When loading takes longer than `seconds`.
    """
    workspace_id = current_workspace_id()
    if (model := cache.get(workspace_id, number)) is not None:
        return model
    ends = perf_counter() + seconds
    try:
        version = _read(number, ends)
        return _loading.run(lambda: _decode(workspace_id, version), ends - perf_counter())
    except TooSlowError:
        raise LoadingError(number) from None


def load_in_background(workspace_id: UUID, number: int) -> None:
    """Load a version in a background thread, unless all loading threads are busy."""
    if cache.get(workspace_id, number) is None:
        _loading.begin(lambda: _load_alone(workspace_id, number))


def _load_alone(workspace_id: UUID, number: int) -> None:
    try:
        with in_workspace(workspace_id):
            version = _read(number, perf_counter() + BACKGROUND_SECONDS)
        _decode(workspace_id, version)
    except Exception as error:  # noqa: BLE001  the next session tries again, and counts it
        log.warning("model_v%d was not loaded: %s", number, type(error).__name__)
    finally:
        connection.close()


def _read(number: int, ends: float) -> ModelVersion:
    """Read a version by one statement, limited to the remaining time."""
    workspace_id = current_workspace_id()
    try:
        with in_workspace(workspace_id):
            if (left := ends - perf_counter()) <= 0:
                raise TooSlowError
            with statement_timeout(left), binary_cursor() as cursor:
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
    """Decode a version and cache it, unless another session did so meanwhile."""
    if (model := cache.get(workspace_id, version.number)) is None:
        model = _model_of(version)
        cache.put(workspace_id, model)
    return model


def _model_of(version: ModelVersion) -> ServedModel:
    if version.feature_version != FEATURE_VERSION:
        return ServedModel(version.number, version.embedding_model, 0, None)
    raw = intact_bytes(version)
    if is_of_another_release(raw):
        return ServedModel(version.number, version.embedding_model, 0, None)
    scorer = Scorer.from_bytes(raw)
    return ServedModel(version.number, version.embedding_model, scorer.embedding_width, scorer)
