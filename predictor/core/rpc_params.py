"""What the frames of `predictor_rpc` carry, checked field by field and made into arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.core.features import LEAST_EFFECTIVENESS, project_slot, token_buckets
from predictor.core.rpc_values import check_names, number, numbers_of, read_list, told_as, wrong
from predictor.core.types import PROJECT_SLOTS, SIGNALS, Candidates, Context, LabelledSession

MAX_WIDTH = 16_384
MAX_EPOCHS = 1_000
MAX_NUMBERS = 1 << 27  # of all embeddings of a frame: a null takes as many as the others
# What a component of an embedding may be: theirs are of length one, and sums of squares of the
# largest stay far within what a float holds.
EMBEDDING_MAX = 1e6
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


def read_frame(
    params: Mapping[str, Any], *, width: int | None, path: str = ""
) -> tuple[Context, Candidates]:
    """Return the session and candidates of a frame.

    Parameters
    ----------
    width : of the model's embeddings; None when there is no model yet.
    path : what stands before the names of fields in messages, such as ``sessions[3].``.
    """
    rows = read_list(params, "candidate_embeddings", path)
    context = params.get("context_embedding")
    width = width or _width_of(context, rows, path)
    embedding = None if context is None else _vector(context, f"{path}context_embedding", width)
    is_embedded = np.array([row is not None for row in rows], dtype=bool)
    if len(rows) * width > MAX_NUMBERS:
        raise wrong(f"{path}candidate_embeddings", f"{len(rows)} of width {width} are too many")
    embeddings = np.zeros((len(rows), width), dtype=np.float32)
    for i in np.flatnonzero(is_embedded):
        embeddings[i] = _vector(rows[i], f"{path}candidate_embeddings[{i}]", width)
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


def read_labelled_session(params: Any, *, width: int | None, path: str) -> LabelledSession:
    """Return a session of a `train` frame."""
    if not isinstance(params, dict):
        raise wrong(path, "must be an object")
    path += "."
    check_names(params, SHARED, path)
    context, candidates = read_frame(params, width=width, path=path)
    n = len(candidates)
    if params.get("candidate_ids") is not None:
        identifiers(params, n, path)
    labels, confidence = _labels(params, n, path), _confidence(params, path)
    return LabelledSession(context, candidates, labels, confidence)


def check_labels(params: Mapping[str, Any], n: int) -> None:
    """Refuse wrong labels where they may be sent along but are not read."""
    if params.get("labels") is not None:
        _labels(params, n, "")
    if params.get("confidence") is not None:
        _confidence(params, "")


def identifiers(params: Mapping[str, Any], n: int, path: str = "") -> list[str]:
    """Return the n candidate ids, each once."""
    ids, field = read_list(params, "candidate_ids", path), f"{path}candidate_ids"
    if len(ids) != n:
        raise wrong(field, f"has {len(ids)} ids, must have one for each of {n} candidates")
    seen: set[str] = set()
    for place, one in enumerate(ids):
        if not isinstance(one, str):
            raise wrong(field, f"must hold strings; [{place}] is {told_as(one)}")
        if one in seen:
            raise wrong(field, f"must hold each id once; [{place}] is {told_as(one)} again")
        seen.add(one)
    return ids


def _vector(value: Any, field: str, width: int) -> NDArray[np.float32]:
    return numbers_of(value, field, length=width, low=-EMBEDDING_MAX, high=EMBEDDING_MAX)


def _width_of(context: Any, rows: Sequence[Any], path: str) -> int:
    """Return how long the first vector is; the others are held against it."""
    first = next((v for v in (context, *rows) if v is not None), None)
    if first is None:
        return NATIVE
    if isinstance(first, list) and 1 <= len(first) <= MAX_WIDTH:
        return len(first)
    field = f"candidate_embeddings[{rows.index(first)}]" if context is None else "context_embedding"
    raise wrong(f"{path}{field}", f"must be a list of 1 to {MAX_WIDTH} numbers")


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
        raise wrong(field, "must hold strings and nulls")
    if len(sent) == n:
        return [text or "" for text in sent]
    if len(sent) != without:
        those = f"one for each of the {without} without embedding, or of all {n} candidates"
        raise wrong(field, f"has {len(sent)} texts, must have {those}")
    texts = [""] * n
    for i, text in zip(np.flatnonzero(~is_embedded), sent, strict=True):
        texts[i] = text or ""
    return texts


def _features(params: Mapping[str, Any], n: int, path: str) -> NDArray[np.float32]:
    rows = read_list(params, "candidate_features", path)
    if len(rows) != n:
        said = f"has {len(rows)} rows, must have one for each of {n} candidates"
        raise wrong(f"{path}candidate_features", said)
    features = np.empty((n, len(SIGNALS)), dtype=np.float32)
    for i, row in enumerate(rows):
        features[i] = numbers_of(row, f"{path}candidate_features[{i}]", length=len(SIGNALS))
    return features


def _labels(params: Mapping[str, Any], n: int, path: str) -> NDArray[np.float32]:
    return numbers_of(params.get("labels"), f"{path}labels", length=n, low=-1, high=1)


def _confidence(params: Mapping[str, Any], path: str) -> float:
    return number(params, "confidence", path=path, low=0, high=1)


def _effectiveness(params: Mapping[str, Any], n: int, path: str) -> NDArray[np.float32]:
    """Return what was sent, or that of a memory of which nothing is known, the same for all."""
    sent = params.get("log_effectiveness")
    if sent is None:
        return np.full(n, np.log(LEAST_EFFECTIVENESS), dtype=np.float32)
    return numbers_of(sent, f"{path}log_effectiveness", length=n)


def _injected(params: Mapping[str, Any], n: int, path: str) -> NDArray[np.bool_] | None:
    sent = params.get("injected")
    if sent is None:
        return None
    is_sound = isinstance(sent, list) and len(sent) == n
    if not is_sound or not all(type(v) in {bool, int} and v in (0, 1) for v in sent):
        raise wrong(f"{path}injected", f"must be a list of {n} times true or false")
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
