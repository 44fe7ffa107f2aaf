"""What the frames of `predictor_rpc` carry, checked field by field and made into arrays.

Lists of numbers are checked by type before numpy reads them: it would take "1" and true for 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.core.features import LEAST_EFFECTIVENESS, project_slot, token_buckets
from predictor.core.rpc_frames import INVALID_PARAMS, FrameError
from predictor.core.types import PROJECT_SLOTS, SIGNALS, Candidates, Context, LabelledSession

MAX_CANDIDATES = 100_000
MAX_WIDTH = 16_384
MAX_EPOCHS = 1_000
NATIVE = 384  # where no vector of a frame tells the width, and there is no model yet

# What describes a session and its candidates, in `score` as in `train`.
SHARED = frozenset(
    {
        "context_embedding",
        "candidate_ids",
        "candidate_embeddings",
        "candidate_texts",
        "candidate_features",
        "log_effectiveness",
        "injected",
        "signals",
        "labels",
        "confidence",
    }
)
CLOCK = {"hour": 24.0, "weekday": 7.0, "month": 12.0}


def wrong(field: str, message: str) -> FrameError:
    """Return the error that names a field."""
    return FrameError(INVALID_PARAMS, f"{field}: {message}")


def check_names(params: Mapping[str, Any], known: frozenset[str], path: str = "") -> None:
    """Refuse names that nothing reads: a typo is no default."""
    if unknown := sorted(set(params) - known):
        raise wrong(f"{path}{unknown[0][:60]}", "there is no such field")


def described(
    params: Mapping[str, Any], *, width: int | None, path: str = ""
) -> tuple[Context, Candidates]:
    """Return the session and candidates of a frame.

    Parameters
    ----------
    width : of the model's embeddings; None when there is no model yet.
    path : what stands before the names of fields in messages, such as ``sessions[3].``.
    """
    rows = _listed(params, "candidate_embeddings", path)
    context = params.get("context_embedding")
    width = width or _width_of(context, rows, path)
    embedding = (
        None if context is None else _numbers(context, f"{path}context_embedding", length=width)
    )
    is_embedded = np.array([row is not None for row in rows], dtype=bool)
    embeddings = np.zeros((len(rows), width), dtype=np.float32)
    for i in np.flatnonzero(is_embedded):
        embeddings[i] = _numbers(rows[i], f"{path}candidate_embeddings[{i}]", length=width)
    return (
        _context(params.get("signals"), embedding, path),
        Candidates(
            embeddings=embeddings,
            is_embedded=is_embedded,
            token_buckets=[token_buckets(text) for text in _texts(params, is_embedded, path)],
            signals=_features(params, len(rows), path),
            log_effectiveness=_effectiveness(params, len(rows), path),
            is_injected=_injected(params, len(rows), path),
        ),
    )


def labelled(params: Any, *, width: int | None, path: str) -> LabelledSession:
    """Return a session of a `train` frame."""
    if not isinstance(params, dict):
        raise wrong(path, "must be an object")
    path += "."
    check_names(params, SHARED, path)
    context, candidates = described(params, width=width, path=path)
    labels = _numbers(params.get("labels"), f"{path}labels", length=len(candidates), within=(-1, 1))
    confidence = number(params, "confidence", path=path, low=0, high=1)
    return LabelledSession(context, candidates, labels, confidence)


def identifiers(params: Mapping[str, Any], n: int) -> list[str]:
    """Return the n candidate ids, each once."""
    ids = _listed(params, "candidate_ids", "")
    if len(ids) != n:
        raise wrong("candidate_ids", f"{len(ids)} ids of {n} candidate_embeddings")
    if not all(isinstance(i, str) for i in ids):
        raise wrong("candidate_ids", "must hold strings")
    if len(set(ids)) != n:
        raise wrong("candidate_ids", "names one twice")
    return ids


def number(
    params: Mapping[str, Any], name: str, *, path: str = "", low: float, high: float
) -> float:
    """Return a number within bounds."""
    value = params.get(name)
    if type(value) not in {int, float} or not low <= value <= high:  # type: ignore[operator]
        raise wrong(f"{path}{name}", f"must be a number from {low:g} to {high:g}")
    return float(value)  # type: ignore[arg-type]


def whole(params: Mapping[str, Any], name: str, *, low: int, high: int) -> int | None:
    """Return a whole number within bounds, None when it was not sent."""
    value = params.get(name)
    if value is not None and (type(value) is not int or not low <= value <= high):
        raise wrong(name, f"must be a whole number from {low} to {high}")
    return value


def _listed(params: Mapping[str, Any], name: str, path: str) -> list[Any]:
    value = params.get(name)
    if not isinstance(value, list):
        raise wrong(f"{path}{name}", "must be a list")
    if len(value) > MAX_CANDIDATES:
        raise wrong(f"{path}{name}", f"must not hold more than {MAX_CANDIDATES}")
    return value


def _numbers(
    value: Any, field: str, *, length: int, within: tuple[float, float] | None = None
) -> NDArray[np.float32]:
    """Return a list of numbers as (length,) float32."""
    if not isinstance(value, list):
        raise wrong(field, "must be a list of numbers")
    if len(value) != length:
        raise wrong(field, f"has {len(value)} numbers instead of {length}")
    if set(map(type, value)) - {int, float}:
        raise wrong(field, "must hold numbers only")
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(value, dtype=np.float64).astype(np.float32)
    except OverflowError:
        raise wrong(field, "holds a number that is too large") from None
    if not np.isfinite(numbers).all():
        raise wrong(field, "holds a number that is too large")
    if within is not None and numbers.size:
        low, high = within
        if numbers.min() < low or numbers.max() > high:
            raise wrong(field, f"holds a number that is not in {low:g}..{high:g}")
    return numbers


def _width_of(context: Any, rows: Sequence[Any], path: str) -> int:
    """Return how long the first vector is; the others are held against it."""
    first = next((v for v in (context, *rows) if v is not None), None)
    if first is None:
        return NATIVE
    field = f"{path}{'candidate_embeddings' if context is None else 'context_embedding'}"
    if not isinstance(first, list) or not 1 <= len(first) <= MAX_WIDTH:
        raise wrong(field, f"must hold lists of 1 to {MAX_WIDTH} numbers")
    return len(first)


def _texts(params: Mapping[str, Any], is_embedded: NDArray[np.bool_], path: str) -> list[str]:
    """Return a text a candidate; they are sent for all, or for those without embedding alone."""
    sent = params.get("candidate_texts")
    n, without = len(is_embedded), int((~is_embedded).sum())
    if sent is None:
        return [""] * n
    field = f"{path}candidate_texts"
    if not isinstance(sent, list):
        raise wrong(field, "must be a list")
    if not all(text is None or isinstance(text, str) for text in sent):
        raise wrong(field, "must hold strings")
    if len(sent) == n:
        return [text or "" for text in sent]
    if len(sent) != without:
        raise wrong(field, f"{len(sent)} texts of {n} candidates, {without} without embedding")
    texts = [""] * n
    for i, text in zip(np.flatnonzero(~is_embedded), sent, strict=True):
        texts[i] = text or ""
    return texts


def _features(params: Mapping[str, Any], n: int, path: str) -> NDArray[np.float32]:
    rows = _listed(params, "candidate_features", path)
    if len(rows) != n:
        raise wrong(f"{path}candidate_features", f"{len(rows)} rows of {n} candidate_embeddings")
    features = np.empty((n, len(SIGNALS)), dtype=np.float32)
    for i, row in enumerate(rows):
        features[i] = _numbers(row, f"{path}candidate_features[{i}]", length=len(SIGNALS))
    return features


def _effectiveness(params: Mapping[str, Any], n: int, path: str) -> NDArray[np.float32]:
    """Return what was sent, or that of a memory of which nothing is known, the same for all."""
    sent = params.get("log_effectiveness")
    if sent is None:
        return np.full(n, np.log(LEAST_EFFECTIVENESS), dtype=np.float32)
    return _numbers(sent, f"{path}log_effectiveness", length=n)


def _injected(params: Mapping[str, Any], n: int, path: str) -> NDArray[np.bool_] | None:
    sent = params.get("injected")
    if sent is None:
        return None
    if not isinstance(sent, list) or len(sent) != n:
        raise wrong(f"{path}injected", f"must be a list of {n}")
    if not all(value in (0, 1) and type(value) in {bool, int} for value in sent):
        raise wrong(f"{path}injected", "must hold true and false")
    return np.array(sent, dtype=bool)


def _context(sent: Any, embedding: NDArray[np.float32] | None, path: str) -> Context:
    path += "signals"
    if not isinstance(sent, dict):
        raise wrong(path, "must be an object")
    path += "."
    check_names(sent, frozenset({*CLOCK, "session_gap_hours", "project"}), path)
    clock = {
        name: number(sent, name, path=path, low=0, high=period) for name, period in CLOCK.items()
    }
    gap = 0.0
    if sent.get("session_gap_hours") is not None:
        gap = number(sent, "session_gap_hours", path=path, low=0, high=1e9)
    return Context(embedding, _slot(sent.get("project"), path), **clock, gap_hours=gap)


def _slot(project: Any, path: str) -> int | None:
    """Return the slot of a project's name; the slot itself is taken as well."""
    if project is None:
        return None
    if isinstance(project, str):
        return project_slot(project)
    if type(project) is int and 0 <= project < PROJECT_SLOTS:
        return project
    raise wrong(f"{path}project", "must be a name, a slot from 0 to 31, or null")
