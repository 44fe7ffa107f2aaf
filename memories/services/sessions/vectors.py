"""Read the vectors of a session's candidates, and compare them with its context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from engram.kernel.binary import PackedArray, binary_cursor
from engram.kernel.tenancy import current_workspace_id
from memories.core.relevance import CALIBRATIONS, MAX_TERMS, Evidence
from memories.core.text import tokens

_VECTORS = """
    SELECT memory_id, embedding FROM memories_memoryvector
    WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(ids)s::uuid[]) AND model = %(model)s
    ORDER BY memory_id, position
"""
_HEADER_BYTES = 4  # of a binary vector: dimension, and two unused bytes


def read_windows(
    ids: PackedArray, model: str, vector: NDArray[np.float32] | None
) -> dict[UUID, list[NDArray[np.float32]]]:
    """Return the window vectors of memories, of one dimension: the context's, if it has a vector.

    Vectors of another dimension or with NaN are ignored.
    """
    parameters: dict[str, Any] = {"workspace": current_workspace_id(), "ids": ids, "model": model}
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(_VECTORS, parameters)
        written = cursor.fetchall()
    if not written:
        return {}
    width = (len(written[0][1]) - _HEADER_BYTES) // 4 if vector is None else len(vector)
    fitting = [(i, row) for i, row in written if len(row) == _HEADER_BYTES + 4 * width]
    joined = b"".join([row[_HEADER_BYTES:] for _, row in fitting])
    rows = np.frombuffer(joined, ">f4").reshape(len(fitting), width).astype(np.float32)
    found: dict[UUID, list[NDArray[np.float32]]] = {}
    for place in np.flatnonzero(np.isfinite(rows).all(axis=1)).tolist():
        found.setdefault(fitting[place][0], []).append(rows[place])
    return found


def cosine_of(
    rows: Sequence[NDArray[np.float32]], vector: NDArray[np.float32] | None
) -> float | None:
    """Return the largest cosine of a memory's windows with the context; None without vectors."""
    if vector is None or not rows:
        return None
    return max(float(row @ vector) for row in rows)


def relevances_of(
    cosines: Sequence[float | None], *, memories: int, context: str
) -> list[float | None]:
    """Return the calibrated relevance of each candidate for the context; None without a cosine."""
    calibration = CALIBRATIONS[Evidence.CONTEXT]
    words = _count_terms(context)
    return [
        None
        if cosine is None
        else calibration.relevance(max(0.0, cosine), memories=memories, terms=words)
        for cosine in cosines
    ]


def _count_terms(context: str) -> int:
    """Return the number of distinct index terms, at most `MAX_TERMS`; more do not matter."""
    found: set[str] = set()
    for term in tokens(context):
        found.add(term)
        if len(found) == MAX_TERMS:
            break
    return len(found)
