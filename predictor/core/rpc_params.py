"""Validate the parameters of `predictor_rpc` frames and convert them into arrays.

Fields are validated in the order of declaration: later ones read the number and width of the
candidates from earlier ones (`info.data`).
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainValidator, ValidationInfo

from predictor.core.features import LEAST_EFFECTIVENESS, project_slot, token_buckets
from predictor.core.rpc_values import Params, WrongValueError, number, numbers_of, shown_as, whole
from predictor.core.types import PROJECT_SLOTS, SIGNALS, Candidates, Context, LabelledSession

Vector = NDArray[np.float32]

MAX_CANDIDATES = 100_000
MAX_WIDTH = 16_384
MAX_EPOCHS = 1_000
MAX_NUMBERS = 1 << 27  # of all embeddings of a frame: a null takes as many as the others
# Largest component of an embedding: embeddings are unit vectors, and sums of squares of this value
# stay far below the range of a float.
EMBEDDING_MAX = 1e6
NATIVE = 384  # width when neither a frame's vectors nor a model determine it


def _require_list(value: Any) -> list[Any]:
    """Check that a value is a list of at most `MAX_CANDIDATES` entries, and return it."""
    if not isinstance(value, list):
        raise WrongValueError("must be a list")
    if len(value) > MAX_CANDIDATES:
        raise WrongValueError(f"has {len(value)} entries, must not have more than {MAX_CANDIDATES}")
    return value


def _count(info: ValidationInfo) -> int:
    """Return the number of candidates; 0 when that field is wrong, which is reported first."""
    return len(info.data.get("candidate_embeddings", ((), ()))[1])


def _slot(project: Any) -> int | None:
    """Return the slot of a project's name; a slot number is accepted too."""
    if project is None:
        return None
    if isinstance(project, str):
        return project_slot(project)
    if type(project) is int and 0 <= project < PROJECT_SLOTS:
        return project
    raise WrongValueError("must be a name, a slot from 0 to 31, or null")


def _vector(value: Any, width: int, at: str = "") -> Vector:
    return numbers_of(value, length=width, low=-EMBEDDING_MAX, high=EMBEDDING_MAX, at=at)


def _width(first: Any, at: str = "") -> int:
    """Return the length of the first vector, which all others must have."""
    if isinstance(first, list) and 1 <= len(first) <= MAX_WIDTH:
        return len(first)
    raise WrongValueError(f"must be a list of 1 to {MAX_WIDTH} numbers", at)


def _check_context(value: Any, info: ValidationInfo) -> Vector | None:
    return None if value is None else _vector(value, info.context or _width(value))


def _embeddings(value: Any, info: ValidationInfo) -> tuple[Vector, NDArray[np.bool_]]:
    """Return the embeddings (n, width), zero rows for null, and which candidates have one (n,)."""
    rows, context = _require_list(value), info.data.get("context_embedding")
    is_embedded = np.array([row is not None for row in rows], dtype=bool)
    width = info.context or (len(context) if context is not None else None)
    if width is None:
        first = next(iter(np.flatnonzero(is_embedded)), None)
        width = NATIVE if first is None else _width(rows[first], f"[{first}]")
    if len(rows) * width > MAX_NUMBERS:
        raise WrongValueError(f"{len(rows)} of width {width} are too many")
    embeddings = np.zeros((len(rows), width), dtype=np.float32)
    for i in np.flatnonzero(is_embedded):
        embeddings[i] = _vector(rows[i], width, f"[{i}]")
    return embeddings, is_embedded


def _ids(value: Any, info: ValidationInfo) -> list[str]:
    """Return one distinct id per candidate."""
    ids, n = _require_list(value), _count(info)
    if len(ids) != n:
        raise WrongValueError(f"has {len(ids)} ids, must have one for each of {n} candidates")
    seen: set[str] = set()
    for place, one in enumerate(ids):
        if not isinstance(one, str):
            raise WrongValueError(f"must hold strings; [{place}] is {shown_as(one)}")
        if one in seen:
            raise WrongValueError(f"must hold each id once; [{place}] is {shown_as(one)} again")
        seen.add(one)
    return ids


def _texts(value: Any, info: ValidationInfo) -> list[str]:
    """Return one text per candidate; sent for all, or only for those without an embedding."""
    n = _count(info)
    if value is None:
        return [""] * n
    if not isinstance(value, list):
        raise WrongValueError("must be a list")
    if not all(text is None or isinstance(text, str) for text in value):
        raise WrongValueError("must hold strings and nulls")
    if len(value) == n:
        return [text or "" for text in value]
    without = np.flatnonzero(~info.data["candidate_embeddings"][1]) if n else np.empty(0, int)
    if len(value) != len(without):
        those = f"one for each of the {len(without)} without embedding, or of all {n} candidates"
        raise WrongValueError(f"has {len(value)} texts, must have {those}")
    texts = [""] * n
    for i, text in zip(without, value, strict=True):
        texts[i] = text or ""
    return texts


def _features(value: Any, info: ValidationInfo) -> Vector:
    rows, n = _require_list(value), _count(info)
    if len(rows) != n:
        raise WrongValueError(f"has {len(rows)} rows, must have one for each of {n} candidates")
    features = np.empty((n, len(SIGNALS)), dtype=np.float32)
    for i, row in enumerate(rows):
        features[i] = numbers_of(row, length=len(SIGNALS), at=f"[{i}]")
    return features


def _effectiveness(value: Any, info: ValidationInfo) -> Vector:
    """Return the sent values, or the least effectiveness for all candidates."""
    if value is None:
        return np.full(_count(info), np.log(LEAST_EFFECTIVENESS), dtype=np.float32)
    return numbers_of(value, length=_count(info))


def _baseline(value: Any, info: ValidationInfo) -> Vector:
    return numbers_of(value, length=_count(info), low=0, high=1)


def _check_injected(value: Any, info: ValidationInfo) -> NDArray[np.bool_] | None:
    if value is None:
        return None
    is_sound = isinstance(value, list) and len(value) == _count(info)
    if not is_sound or not all(type(v) in {bool, int} and v in (0, 1) for v in value):
        raise WrongValueError(f"must be a list of {_count(info)} times true or false")
    return np.array(value, dtype=bool)


def _labels(value: Any, info: ValidationInfo) -> Vector:
    return numbers_of(value, length=_count(info), low=-1, high=1)


def _or_null(validate: Any) -> PlainValidator:
    return PlainValidator(lambda value, info: None if value is None else validate(value, info))


class SignalsParams(Params):
    """When and where a session takes place."""

    hour: Annotated[float, number(0, 24)] = None  # type: ignore[assignment]  # null is refused
    weekday: Annotated[float, number(0, 7)] = None  # type: ignore[assignment]
    month: Annotated[float, number(0, 12)] = None  # type: ignore[assignment]
    session_gap_hours: Annotated[float | None, number(0, 1e9, is_optional=True)] = None
    project: Annotated[int | None, PlainValidator(_slot)] = None


class SessionParams(Params):
    """A session and its candidates, in `score` as in `train`."""

    context_embedding: Annotated[Vector | None, PlainValidator(_check_context)] = None
    candidate_embeddings: Annotated[Any, PlainValidator(_embeddings)] = None
    candidate_ids: Annotated[list[str] | None, _or_null(_ids)] = None
    candidate_texts: Annotated[Any, PlainValidator(_texts)] = None
    candidate_features: Annotated[Any, PlainValidator(_features)] = None
    log_effectiveness: Annotated[Any, PlainValidator(_effectiveness)] = None
    baseline: Annotated[Vector | None, _or_null(_baseline)] = None
    injected: Annotated[Any, PlainValidator(_check_injected)] = None
    signals: Annotated[Any, PlainValidator(lambda v: SignalsParams.read(v, path="signals."))] = None
    labels: Annotated[Vector | None, _or_null(_labels)] = None
    confidence: Annotated[float | None, number(0, 1, is_optional=True)] = None

    @property
    def context(self) -> Context:
        """Return the session."""
        at: SignalsParams = self.signals
        gap = at.session_gap_hours or 0.0
        return Context(self.context_embedding, at.project, at.hour, at.weekday, at.month, gap)

    @property
    def candidates(self) -> Candidates:
        """Return what is ranked in it."""
        embeddings, is_embedded = self.candidate_embeddings
        return Candidates(
            embeddings=embeddings,
            is_embedded=is_embedded,
            token_buckets=[token_buckets(text) for text in self.candidate_texts],
            signals=self.candidate_features,
            log_effectiveness=self.log_effectiveness,
            is_injected=self.injected,
            baseline=self.baseline,
        )


class ScoreParams(SessionParams):
    """What `score` reads; labels and confidence may be sent along."""

    candidate_ids: Annotated[Any, PlainValidator(_ids)] = None


class LabelledParams(SessionParams):
    """A session of `train`."""

    labels: Annotated[Any, PlainValidator(_labels)] = None
    confidence: Annotated[Any, number(0, 1)] = None

    @property
    def session(self) -> LabelledSession:
        """Return the session with its labels."""
        return LabelledSession(self.context, self.candidates, self.labels, self.confidence)


def _sessions(value: Any) -> list[Any]:
    """Return sessions that are not parsed yet: each needs the width of the one before."""
    if not isinstance(value, list) or not value:
        raise WrongValueError("must be a list of at least one session")
    return value


class TrainParams(Params):
    """What `train` reads."""

    sessions: Annotated[Any, PlainValidator(_sessions)] = None
    epochs: Annotated[int | None, whole(1, MAX_EPOCHS)] = None
